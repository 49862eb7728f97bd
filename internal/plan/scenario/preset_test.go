package scenario

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// What the presets repeat is an earlier tool's set of runs; a figure that moved
// here would compare with nothing. Each line is one of that set's table.
func TestPresetFigures(t *testing.T) {
	cases := []struct {
		name, load, payload, phases string
		producers, consumers        int
		work, backpressure          string
	}{
		{"quick", "5k/s", "mixed", "2s 5s 10s", 4, 2, "none", "off"},
		{"baseline", "10k/s", "mixed", "5s 30s 30s", 8, 4, "none", "off"},
		{"slow-consumer", "8k/s", "json", "3s 30s 30s", 8, 2, "500µs+200µs", "off"},
		{"overload", "10k/s", "json", "3s 40s 1m", 8, 2, "4ms+1ms", "off"},
		{"overload-loose", "10k/s", "json", "3s 40s 1m", 8, 2, "4ms+1ms", "20000 5000 200ms shed"},
		{"overload-tight", "10k/s", "json", "3s 40s 1m", 8, 2, "4ms+1ms", "5000 1000 100ms shed"},
		{"recovery", "8k/s", "json", "3s 1m 30s", 8, 4, "800µs, none from 30s", "off"},
		{"recovery-aggressive", "10k/s", "json", "3s 1m20s 30s", 8, 4, "3ms, none from 30s", "off"},
		{"bursty-light", "5k/s, 15k/s for 3s of 12s", "json", "3s 1m 30s", 8, 4, "none", "off"},
		{"bursty-heavy", "5k/s, 30k/s for 3s of 12s", "json", "3s 1m 30s", 8, 4, "none", "off"},
		{"bursty-overload", "5k/s, 30k/s for 3s of 12s", "json", "3s 1m 30s", 8, 2, "800µs", "off"},
	}
	for _, c := range cases {
		s := preset(t, c.name)
		l, g := s.Load, s.Consume
		got := []any{offered(l), l.Record.Payload, phasesOf(s), l.Producers, g.Consumers, workOf(g), pressureOf(s.Backpressure)}
		want := []any{c.load, c.payload, c.phases, c.producers, c.consumers, c.work, c.backpressure}
		if !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", c.name, got, want)
		}
		if l.Acks != "1" || l.Compression != "snappy" || l.Linger.String() != "5ms" || l.Batch.String() != "64KiB" ||
			l.Record.Size.Values[0] != 512 || s.Topic.Partitions != 12 || l.Record.Seed != 42 || g.Parallel != "partition" {
			t.Errorf("%s differs in what all of them share: %+v", c.name, s)
		}
	}
}

// The sweeps of the same set: what is the same for all configurations, what each
// varies, and by which values.
func TestSweepFigures(t *testing.T) {
	cases := []struct {
		name, load, payload, phases, compression, size string
		path                                           string
		values                                         []string
	}{
		{"sweep-compression", "10k/s", "mixed", "3s 20s 30s", "", "512B",
			"load.compression", []string{"none", "snappy", "lz4", "zstd", "gzip"}},
		{"sweep-acks", "10k/s", "mixed", "3s 20s 30s", "snappy", "512B",
			"load.acks", []string{"0", "1", "all"}},
		{"sweep-payload", "8k/s", "", "2s 15s 30s", "zstd", "512B",
			"load.record.payload", []string{"random", "zeros", "text", "json", "logline", "mixed"}},
		{"sweep-record-size", "8k/s", "mixed", "2s 15s 30s", "snappy", "",
			"load.record.size", []string{"64B", "256B", "1KiB", "4KiB", "16KiB"}},
	}
	for _, c := range cases {
		suite, err := ReadSuite(c.name, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		if len(suite.Axes) != 1 || suite.Axes[0].Path != c.path || !slices.Equal(suite.Axes[0].Values, c.values) {
			t.Errorf("%s varies %v, want %s over %v", c.name, suite.Axes, c.path, c.values)
		}
		if len(suite.Cells) != len(c.values) || suite.Order != Interleaved || suite.Question == "" || suite.Repeat != 1 {
			t.Errorf("%s: %+v", c.name, suite)
		}
		for _, cell := range suite.Cells {
			s, l := cell.Scenario, cell.Scenario.Load
			got := []any{offered(l), phasesOf(s), l.Producers, s.Consume.Consumers, s.Topic.Partitions, workOf(s.Consume), l.Linger.String()}
			want := []any{c.load, c.phases, 8, 4, 12, "none", "5ms"}
			if !slices.Equal(got, want) || c.payload != "" && l.Record.Payload != c.payload ||
				c.compression != "" && l.Compression != c.compression || c.size != "" && l.Record.Size.Values[0].String() != c.size ||
				c.name != "sweep-acks" && l.Acks != "1" {
				t.Errorf("%s is %v %+v, want %v", cell.Name, got, l, want)
			}
		}
	}
}

// The experiments on backpressure are the runs of the two sets under controllers that
// those did not have: their variants, in their order, and what each sets.
func TestBackpressureFigures(t *testing.T) {
	cases := []struct {
		name, load, phases string
		repeat             int
		variants           []string
	}{
		{"backpressure-study", "10k/s", "8s 30s 10s", 5, []string{
			"off: off 1s", "hysteresis-loose: hysteresis 20000 5000 200ms 1s", "hysteresis-tight: hysteresis 5000 1000 100ms 1s",
			"credit: credit 5000 1s", "credit-tight: credit 1000 100ms", "latency: latency 250ms 100ms", "latency-1s: latency 250ms 1s",
			"aimd: aimd 250ms 100ms", "gradient: gradient 100ms"}},
		{"backpressure-short", "10k/s", "4s 15s 8s", 1, []string{
			"off: off 1s", "hysteresis-tight: hysteresis 5000 1000 100ms 1s", "credit: credit 5000 1s", "latency: latency 250ms 100ms"}},
		{"backpressure-recovery", "15k/s", "5s 45s 10s", 5, []string{
			"off: off 100ms", "hysteresis-tight: hysteresis 5000 1000 100ms 100ms", "credit: credit 5000 100ms", "latency: latency 250ms 100ms",
			"aimd: aimd 250ms 100ms", "gradient: gradient 100ms"}},
		{"backpressure-bursty", "5k/s, 30k/s for 3s of 12s", "3s 1m 15s", 5, []string{
			"off: off 100ms", "credit: credit 5000 100ms", "latency: latency 250ms 100ms"}},
		{"backpressure-faults", "10k/s", "5s 30s 10s", 5, []string{
			"off-kill: off 100ms, kill consumer 1 at 8s, start consumer 1 at 16s",
			"credit-kill: credit 5000 100ms, kill consumer 1 at 8s, start consumer 1 at 16s",
			"latency-kill: latency 250ms 100ms, kill consumer 1 at 8s, start consumer 1 at 16s",
			"off-rebalance: off 100ms, start consumer 2 at 8s, stop consumer 2 at 16s",
			"credit-rebalance: credit 5000 100ms, start consumer 2 at 8s, stop consumer 2 at 16s",
			"latency-rebalance: latency 250ms 100ms, start consumer 2 at 8s, stop consumer 2 at 16s"}},
		{"backpressure-processes", "10k/s", "5s 30s 10s", 5, []string{
			"off: off 1s, 3 producers in 3", "static: credit 5000 1s, 3 producers in 3", "demand: credit 5000 demand 1s, 3 producers in 3",
			"static-uneven: credit 3200 1s, 4 producers in 3", "demand-uneven: credit 3200 demand 1s, 4 producers in 3"}},
		{"backpressure-baseline", "10k/s", "5s 30s 10s", 5, []string{
			"off: off 1s", "credit-100ms: credit 5000 100ms", "credit-1s: credit 5000 1s"}},
	}
	for _, c := range cases {
		suite, err := ReadSuite(c.name, Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		var variants []string
		for _, cell := range suite.Cells {
			variants = append(variants, strings.Join(cell.Values, " ")+": "+variantOf(cell.Scenario))
			if cell.Name != c.name+"-"+cell.Values[0] {
				t.Errorf("a cell of %s is called %s", c.name, cell.Name)
			}
		}
		first := suite.Cells[0].Scenario
		if !slices.Equal(variants, c.variants) || offered(first.Load) != c.load || phasesOf(first) != c.phases {
			t.Errorf("%s offers %s in %s:\n%s", c.name, offered(first.Load), phasesOf(first), strings.Join(variants, "\n"))
		}
		if suite.Repeat != c.repeat || suite.Order != Interleaved || suite.Question == "" || len(suite.Axes) != 1 || suite.Axes[0].Path != VariantAxis {
			t.Errorf("%s is run %d times, %s: %+v", c.name, suite.Repeat, suite.Order, suite.Axes)
		}
	}
}

// variantOf is what the experiments on backpressure vary, in short.
func variantOf(s Scenario) string {
	b := s.Backpressure
	text := b.Controller
	if b.MaxLag > 0 {
		text += fmt.Sprintf(" %d", b.MaxLag)
	}
	if b.ResumeLag > 0 {
		text += fmt.Sprintf(" %d %s", b.ResumeLag, b.Poll)
	}
	if b.Target > 0 {
		text += " " + b.Target.String()
	}
	if b.Share == "demand" {
		text += " demand"
	}
	text += " " + s.Consume.Commit.String()
	for _, f := range s.Faults {
		text += fmt.Sprintf(", %s at %s", f, f.At)
	}
	if s.Load.Processes > 1 {
		text += fmt.Sprintf(", %d producers in %d", s.Load.Producers, s.Load.Processes)
	}
	return text
}

// The experiments on throughput and scale are those of two studies: what each cell is.
func TestThroughputFigures(t *testing.T) {
	for suite, want := range map[string][]string{
		"throughput-producer": {"one-rf1: 6 × 1, 1 of 1 acks 1", "one-rf3-leader: 6 × 3, 1 of 1 acks 1", "one-rf3-all: 6 × 3, 1 of 1 acks all", "three-rf3-leader: 6 × 3, 3 of 3 acks 1"},
		"throughput-consumer": {"one: 6 × 1, fill 2GB, 1 in 1", "three: 6 × 1, fill 2GB, 3 in 3", "together: 6 × 3, 1 of 1 acks 1, 1 in 1"},
		"latency-e2e":         {"rf1-leader: 1 × 1, 1 of 1 acks 1, 1 in 1", "rf1-all: 1 × 1, 1 of 1 acks all, 1 in 1", "rf3-leader: 1 × 3, 1 of 1 acks 1, 1 in 1", "rf3-all: 1 × 3, 1 of 1 acks all, 1 in 1"},
		"consumer-limit": {"1-1: 1 × 1, fill 1GB, 1 in 1", "2-2: 2 × 1, fill 1GB, 2 in 1", "4-4: 4 × 1, fill 1GB, 4 in 1", "8-8: 8 × 1, fill 1GB, 8 in 1",
			"4-4-half-core: 4 × 1, fill 1GB, 4 in 1 of 0.5", "4-4-one-core: 4 × 1, fill 1GB, 4 in 1 of 1"},
		"consumer-cpu": {"0.25: 4 × 1, fill 600MB, 1 in 1 of 0.25", "0.5: 4 × 1, fill 600MB, 1 in 1 of 0.5", "1: 4 × 1, fill 600MB, 1 in 1 of 1", "2: 4 × 1, fill 600MB, 1 in 1 of 2"},
		"broker-failover": {"all-kill: 6 × 3, 2 of 1 acks all, 2 in 1, kill leader of partition 0", "leader-kill: 6 × 3, 2 of 1 acks 1, 2 in 1, kill leader of partition 0",
			"all-restart: 6 × 3, 2 of 1 acks all, 2 in 1, restart leader of partition 0", "all-rolling: 6 × 3, 2 of 1 acks all, 2 in 1, restart every broker"},
	} {
		s, err := ReadSuite(suite, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, cell := range s.Cells {
			got = append(got, strings.Join(cell.Values, " ")+": "+scaleOf(cell.Scenario))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is\n%s", suite, strings.Join(got, "\n"))
		}
	}
}

// Each experiment on throughput and scale names the sentence that answers it, and what
// is the same in all of them: 100 B on three brokers, with nothing compressed.
func TestThroughputSuites(t *testing.T) {
	first, last := slices.Index(presetNames, "throughput-producer"), slices.Index(presetNames, "broker-failover")
	for _, name := range presetNames[first : last+1] {
		for _, quick := range []bool{false, true} {
			s, err := ReadSuite(name, Options{Quick: quick})
			if err != nil {
				t.Fatal(err)
			}
			if s.Question == "" || s.Answer == "" || !s.HasQuick {
				t.Errorf("%s has the question %q and the answer %q", name, s.Question, s.Answer)
			}
			for _, cell := range s.Cells {
				c := cell.Scenario
				sized := c.Load.Record.Size.Values[0] == 100 || name == "throughput-record-size"
				if c.Cluster.Brokers != 3 || !sized || c.Load.Compression != "none" || c.Driver != "franz" && name != "drivers" {
					t.Errorf("%s: %+v", cell.Name, c)
				}
				if c.Topic.Replication == 3 && c.Topic.Config["min.insync.replicas"] != "2" {
					t.Errorf("%s has %v", cell.Name, c.Topic.Config)
				}
			}
		}
	}
}

// Brokers that were just started become faster for a while, and whatever drifts must not
// line up with what is varied: all but the failover, which breaks its brokers anyway, are
// warmed up and shuffled, in their quick forms as well.
func TestNothingDriftsWithTheAxis(t *testing.T) {
	first, last := slices.Index(presetNames, "throughput-producer"), slices.Index(presetNames, "drivers")
	for _, name := range presetNames[first : last+1] {
		for _, quick := range []bool{false, true} {
			s, err := ReadSuite(name, Options{Quick: quick})
			if err != nil {
				t.Fatal(err)
			}
			if s.Order != Interleaved || s.Seed == 0 && len(s.Cells) > 1 {
				t.Errorf("%s is %s with the seed %d", s.Name, s.Order, s.Seed)
			}
			for _, cell := range s.Cells {
				if cell.Scenario.Cluster.Warmup == 0 {
					t.Errorf("%s begins on cold brokers", cell.Name)
				}
			}
		}
	}
}

// What a suite does not vary is the same in all of its cells: the bytes in flight of all
// sizes that fit, and the records in flight of all clients together.
func TestBuffersAreNotVaried(t *testing.T) {
	for name, inFlight := range map[string]func(Load) int64{
		"clients": func(l Load) int64 { return int64(l.MaxBuffered) * int64(l.Clients) },
		"throughput-record-size": func(l Load) int64 {
			return int64(l.MaxBuffered) * int64(max(l.Record.Size.Values[0], 50)) // a record of 10 B is one of 50 B to a client
		},
	} {
		s, err := ReadSuite(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := inFlight(s.Cells[0].Scenario.Load)
		for _, cell := range s.Cells {
			if l := cell.Scenario.Load; inFlight(l) != first || first < 50*int64(l.Batch) && name != "clients" {
				t.Errorf("%s has %d in flight, and the first cell %d", cell.Name, inFlight(l), first)
			}
		}
	}
}

// A question is written as people speak; the figure that it is about is a key of its own.
func TestQuestionsAreInWords(t *testing.T) {
	first, last := slices.Index(presetNames, "throughput-producer"), slices.Index(presetNames, "broker-failover")
	for _, name := range presetNames[first : last+1] {
		if s, err := ReadSuite(name, Options{}); err != nil || strings.Contains(s.Question, "_") {
			t.Errorf("%s asks %q, %v", name, s.Question, err)
		}
	}
}

// scaleOf is how much of everything a scenario has, in short.
func scaleOf(s Scenario) string {
	text := fmt.Sprintf("%d × %d", s.Topic.Partitions, s.Topic.Replication)
	if s.Topic.Fill > 0 {
		text += ", fill " + s.Topic.Fill.String()
	}
	if s.Load.Producers > 0 {
		text += fmt.Sprintf(", %d of %d acks %s", s.Load.Producers, s.Load.Processes, s.Load.Acks)
	}
	if s.Consume.Consumers > 0 {
		text += fmt.Sprintf(", %d in %d", s.Consume.Consumers, s.Consume.Processes)
	}
	if s.Consume.CPU > 0 {
		text += fmt.Sprintf(" of %v", s.Consume.CPU)
	}
	for _, f := range s.Faults {
		text += ", " + f.String()
	}
	return text
}

// The parts of a pipeline: what each leaves out or adds.
func TestPartsOfAPipeline(t *testing.T) {
	if s := preset(t, "produce-only"); s.Consume.Consumers != 0 || !s.Load.Rate.IsMax() || s.Load.Volume != 2*unit.GB {
		t.Errorf("produce-only: %+v", s)
	}
	if s := preset(t, "consume-only"); s.Load.Producers != 0 || s.Topic.Existing == "" || s.Consume.From != "start" || s.Phases.Warmup != 0 {
		t.Errorf("consume-only: %+v", s)
	}
	if s := preset(t, "fan-out"); s.Consume.Groups != 3 || s.Consume.Consumers != 2 {
		t.Errorf("fan-out: %+v", s)
	}
	s := preset(t, "backlog")
	if build := float64(s.Load.Volume) / 1024 / s.Load.Rate.PerSecond(); !s.Consume.Hold.Drain || s.Load.Volume != unit.GB || build > time.Duration(s.Phases.Measure).Seconds() {
		t.Errorf("backlog takes %v s to build: %+v", build, s)
	}
}

// The second set is another tool's: one producer, partition and consumer, and
// the settings of Kafka's own producer.
func TestPlainPipelineFigures(t *testing.T) {
	loads := map[string]string{
		"e2e":       "1k/s",
		"e2e-steps": "1k/s 10s 2k/s 10s 5k/s 10s 10k/s 10s 20k/s 10s 50k/s 10s",
		"e2e-spike": "1k/s, 50k/s for 5s at 25s",
		"e2e-ramp":  "1k/s to 50k/s over 1m",
	}
	for name, load := range loads {
		s := preset(t, name)
		l := s.Load
		if got := offered(l); got != load {
			t.Errorf("%s offers %s, want %s", name, got, load)
		}
		got := []any{l.Producers, s.Topic.Partitions, s.Consume.Consumers, l.Record.Size.Values[0], l.Acks, l.Compression, l.Linger.String(), l.Batch.String()}
		want := []any{1, 1, 1, unit.KiB, "1", "none", "0s", "16KiB"}
		if !slices.Equal(got, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

// A capacity that a comment or a page promises is arithmetic on the preset.
func TestWhatTheConsumersCanTake(t *testing.T) {
	for name, want := range map[string]float64{
		"slow-consumer": 20_000, "overload": 2_667, "overload-loose": 2_667, "overload-tight": 2_667,
		"recovery": 15_000, "recovery-aggressive": 4_000, "bursty-overload": 15_000,
	} {
		s := preset(t, name)
		w := s.Consume.Work
		mean := time.Duration(w.Time + w.Jitter/2).Seconds()
		if got := math.Round(float64(s.Topic.Partitions) / mean); got != want {
			t.Errorf("%s can take %v/s, want %v/s", name, got, want)
		}
	}
}

// preset reads a preset that is one scenario.
func preset(t *testing.T, name string) Scenario {
	t.Helper()
	s, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// offered is what comes due, in short.
func offered(l Load) string {
	a := l.Arrival
	switch a.Process {
	case "burst":
		return fmt.Sprintf("%s, %s for %s of %s", l.Rate, a.Peak, a.Length, a.Period)
	case "spike":
		return fmt.Sprintf("%s, %s for %s at %s", l.Rate, a.Peak, a.Length, a.At)
	case "ramp":
		return fmt.Sprintf("%s to %s over %s", l.Rate, a.To, a.Over)
	case "steps":
		var steps []string
		for _, step := range a.Steps {
			steps = append(steps, step.Rate.String(), step.For.String())
		}
		return strings.Join(steps, " ")
	}
	return l.Rate.String()
}

func phasesOf(s Scenario) string {
	return fmt.Sprintf("%s %s %s", s.Phases.Warmup, s.Phases.Measure, s.Phases.Drain)
}

// workOf is the work for a record and how it changes, in short.
func workOf(g Consume) string {
	one := func(w Work) string {
		switch {
		case w.Time == 0:
			return "none"
		case w.Jitter > 0:
			return w.Time.String() + "+" + w.Jitter.String()
		}
		return w.Time.String()
	}
	text := one(g.Work)
	for _, change := range g.Changes {
		text += fmt.Sprintf(", %s from %s", one(change.Work), change.At)
	}
	return text
}

func pressureOf(b Backpressure) string {
	if b.Controller != "hysteresis" {
		return b.Controller
	}
	return fmt.Sprintf("%d %d %s %s", b.MaxLag, b.ResumeLag, b.Poll, b.Excess)
}

func TestPresetsDescribeThemselves(t *testing.T) {
	files, err := fs.Glob(presetFiles, "presets/*.yaml")
	if err != nil || len(files) != len(Names()) {
		t.Errorf("the files %v (%v) are not the names %v", files, err, Names())
	}
	for _, name := range Names() {
		text, err := PresetText(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s does not begin with a comment that teaches", name)
		}
		s, err := ReadSuite(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Name != name || s.Description == "" || len(s.Description) > 80 || strings.Contains(s.Description, "\n") {
			t.Errorf("preset %s: name %q, description %q", name, s.Name, s.Description)
		}
		for _, cell := range s.Cells {
			checkWarnings(t, cell)
		}
	}
	s := preset(t, "overload")
	if least, most := s.Duration(); least != 43*time.Second || most != 103*time.Second {
		t.Errorf("overload takes %s to %s", least, most)
	}
	if _, err := PresetText("overlode"); err == nil || !strings.Contains(err.Error(), "choose one of quick,") {
		t.Errorf("an unknown preset: %v", err)
	}
}

// expectedWarnings are what a preset, or a configuration of one, does on purpose,
// and what its runs say of it; all others are free of warnings.
// The names are patterns of path.Match; the first that fits counts.
var expectedWarnings = []struct {
	cells    string
	warnings []string
}{
	{"produce-only", []string{"closed loop", "nobody consumes"}},
	{"sweep-acks-0", []string{"acks 0"}},
	{"backpressure-baseline-credit-1s", []string{"give at least 11,550 records"}},
	{"throughput-producer-*-leader", []string{"closed loop", "acks 1", "nobody consumes"}},
	{"throughput-consumer-together", []string{"closed loop", "acks 1"}},
	{"throughput-record-size-10B", []string{"stamp", "closed loop", "nobody consumes"}},
	{"throughput-[prs]*", []string{"closed loop", "nobody consumes"}},
	{"latency-e2e-rf3-leader", []string{"acks 1"}},
	{"partitions-*-closed", []string{"closed loop"}},
	{"drivers-*-produce", []string{"closed loop", "nobody consumes"}},
	{"broker-failover-leader-kill", []string{"acks 1"}},
	{"kmq-online-*-leader-markers", []string{"closed loop", "acks 1", "a marker may be lost with its leader"}},
	{"kmq-online-*-leader-*", []string{"closed loop", "acks 1"}},
	{"kmq-online-*", []string{"closed loop"}},
	{"kmq-study-online-*", []string{"closed loop"}},
}

// expected are the warnings of a configuration.
func expected(cell string) []string {
	for _, e := range expectedWarnings {
		if fits, _ := path.Match(e.cells, cell); fits {
			return e.warnings
		}
	}
	return nil
}

func checkWarnings(t *testing.T, c Cell) {
	t.Helper()
	got, want := c.Scenario.Warnings(44), expected(c.Name)
	if len(got) != len(want) {
		t.Errorf("preset %s warns: %q, want %q", c.Name, got, want)
		return
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("preset %s warns: %q, want %q", c.Name, got[i], want[i])
		}
	}
}

// queueOf is what the experiments on queues vary, in short.
func queueOf(s Scenario) string {
	q := s.Consume.Queue
	text := fmt.Sprintf("%s %d × %d", q.Engine, s.Consume.Consumers, q.Threads)
	if s.Topic.Fill > 0 {
		text += ", fill " + s.Topic.Fill.String()
	} else {
		text += fmt.Sprintf(", %s acks %s", offered(s.Load), s.Load.Acks)
	}
	if q.Drop.Share > 0 {
		text += fmt.Sprintf(", %s %s", q.Drop.Share, q.Drop.How)
	}
	if q.MaxDeliveries > 0 {
		text += fmt.Sprintf(" of %d", q.MaxDeliveries)
	}
	if q.Order != "none" {
		text += ", by " + q.Order
	}
	for _, f := range s.Faults {
		text += ", " + f.String()
	}
	return text
}

// The experiments on queues: what some of the cells are, and by how much each delivers by
// the arithmetic.
func TestQueueFigures(t *testing.T) {
	for name, want := range map[string]map[string]string{
		"kmq-online": {
			"1x1-all-plain": "plain 1 × 1, max acks all", "2x5-all-markers": "markers 2 × 5, max acks all", "4x25-leader-offsetmap": "offsetmap 4 × 25, max acks 1", "4x25-all-share": "share 4 × 25, max acks all",
		},
		"kmq-drain":        {"plain": "plain 2 × 5, fill 500MB", "share": "share 2 × 5, fill 500MB"},
		"kmq-latency":      {"plain-50": "plain 2 × 5, 0.1M/s acks all", "markers-50": "markers 2 × 5, 90k/s acks all", "plain-as-markers": "plain 2 × 5, 90k/s acks all"},
		"kmq-drops-silent": {"50-2s-markers": "markers 2 × 5, 1k/s acks all, 50% silent", "50-cap5-15s-share": "share 2 × 5, 1k/s acks all, 50% silent of 5", "0-2s-offsetmap": "offsetmap 2 × 5, 1k/s acks all"},
		"kmq-drops-nack":   {"1-share": "share 2 × 5, 2k/s acks all, 1% nack", "50-cap4-offsetmap": "offsetmap 2 × 5, 2k/s acks all, 50% nack of 4"},
		"kmq-kill":         {"plain": "plain 3 × 5, 3k/s acks all, kill consumer 0, start consumer 0"},
		"kmq-heavy-tail":   {"none-share": "share 2 × 20, 500/s acks all", "partition-plain": "plain 2 × 20, 500/s acks all, by partition"},
		"kmq-rolling":      {"share": "share 2 × 5, 2k/s acks all, restart every broker"},
		"kmq-study":        {"in-order-markers": "markers 2 × 20, 500/s acks all, by partition", "silent-share": "share 2 × 5, 1k/s acks all, 50% silent of 4", "online-plain": "plain 2 × 5, max acks all"},
	} {
		s, err := ReadSuite(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, cell := range s.Cells {
			got[cell.Values[0]] = queueOf(cell.Scenario)
			q := cell.Scenario.Consume.Queue
			expected := map[string]float64{"50": 2, "50 of 4": 1.875, "50 of 5": 1.9375, "10": 1 / 0.9, "1": 1 / 0.99, "0": 1}
			key := fmt.Sprintf("%g", 100*float64(q.Drop.Share))
			if q.MaxDeliveries > 0 {
				key += fmt.Sprintf(" of %d", q.MaxDeliveries)
			}
			if e, known := expected[key]; !known || math.Abs(q.ExpectedDeliveries()-e) > 1e-9 {
				t.Errorf("%s is delivered %v times by the arithmetic, and is to be %v", cell.Name, q.ExpectedDeliveries(), e)
			}
		}
		for variant, text := range want {
			if got[variant] != text {
				t.Errorf("%s of %s is %q, want %q", variant, name, got[variant], text)
			}
		}
	}
}

// What all experiments on queues share, in their quick forms as well: three brokers of which
// two have to be in sync, records of 100 B, one sender for each thread where the loop is
// closed, and every engine that can do the work in the same scenario.
func TestQueueSuites(t *testing.T) {
	first, last := slices.Index(presetNames, "kmq-study"), slices.Index(presetNames, "kmq-rolling")
	for _, name := range presetNames[first : last+1] {
		for _, quick := range []bool{false, true} {
			s, err := ReadSuite(name, Options{Quick: quick})
			if err != nil {
				t.Fatal(err)
			}
			if repeat := map[bool]int{false: 5, true: 1}[quick]; s.Repeat != repeat || s.Order != Interleaved || s.Question == "" || strings.Contains(s.Question, "_") || s.Answer == "" {
				t.Errorf("%s: %d runs of each, %s, the question %q, the answer %q", name, s.Repeat, s.Order, s.Question, s.Answer)
			}
			engines := map[string]bool{}
			for _, cell := range s.Cells {
				c := cell.Scenario
				q := c.Consume.Queue
				engines[q.Engine] = true
				if c.Cluster.Brokers != 3 || c.Topic.Replication != 3 || c.Topic.Config["min.insync.replicas"] != "2" || c.Load.Record.Size.Values[0] != 100 || c.Load.Compression != "none" {
					t.Errorf("%s: %+v", cell.Name, c)
				}
				if c.Load.Rate.IsMax() && c.Topic.Fill == 0 && (c.Load.Producers != c.Consume.Consumers*q.Threads || c.Load.MaxBuffered != 10 || q.Batch != 10) {
					t.Errorf("%s has %d senders with %d under way each, for %d × %d threads", cell.Name, c.Load.Producers, c.Load.MaxBuffered, c.Consume.Consumers, q.Threads)
				}
				if !strings.Contains(cell.Values[0], q.Engine) {
					t.Errorf("%s is of the engine %s", cell.Name, q.Engine)
				}
			}
			if !quick && (!engines["markers"] || !engines["offsetmap"] || !engines["share"]) {
				t.Errorf("%s has the engines %v", name, engines)
			}
		}
	}
}
