package scenario

import (
	"fmt"
	"io/fs"
	"math"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestPresetsAreAsDocumented(t *testing.T) {
	text, err := os.ReadFile("../../../docs/SCENARIOS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range presetNames {
		row := regexp.MustCompile("(?m)^\\| `" + name + "` .* \\| ([^|]*) \\|$").FindSubmatch(text)
		if row == nil {
			t.Errorf("%s is not in the table", name)
			continue
		}
		s, err := ReadSuite(name, Options{})
		if err != nil {
			t.Fatal(err)
		}
		said, runs := string(row[1]), s.Repeat*len(s.Cells)
		if want := fmt.Sprintf(", %d times", runs); (runs > 1 || strings.Contains(said, "times")) && !strings.HasSuffix(said, want) {
			t.Errorf("%s: %q, and it is %d runs", name, said, runs)
		}
		phases, in := regexp.MustCompile(`^(\d+) s, (\d+) s, (\d+) s`), s.Cells[0].Scenario.Phases
		if p := phases.FindString(said); p != "" && p != fmt.Sprintf("%.0f s, %.0f s, %.0f s", seconds(in.Warmup), seconds(in.Measure), seconds(in.Drain)) {
			t.Errorf("%s: %q, and its phases are %v, %v and %v", name, said, in.Warmup, in.Measure, in.Drain)
		}
	}
}

func seconds(d unit.Duration) float64 { return time.Duration(d).Seconds() }

func TestThroughputSuites(t *testing.T) {
	first, last := slices.Index(presetNames, "throughput-producer"), slices.Index(presetNames, "broker-failover")
	for _, name := range presetNames[first : last+1] {
		for _, quick := range []bool{false, true} {
			s, err := ReadSuite(name, Options{Quick: quick})
			if err != nil {
				t.Fatal(err)
			}
			drifts := name != "broker-failover"
			if s.Question == "" || strings.Contains(s.Question, "_") || s.Answer == "" || !s.HasQuick {
				t.Errorf("%s has the question %q and the answer %q", name, s.Question, s.Answer)
			}
			if drifts && (s.Order != Interleaved || s.Seed == 0 && len(s.Cells) > 1) {
				t.Errorf("%s is %s with the seed %d", s.Name, s.Order, s.Seed)
			}
			for _, cell := range s.Cells {
				c := cell.Scenario
				sized := c.Load.Record.Size.Values[0] == 100 || name == "throughput-record-size"
				brokers := c.Cluster.Brokers == 3 || name == "consumer-brokers" || name == "latency-partitions"
				if !brokers || !sized || c.Load.Compression != "none" || c.Driver != "franz" && name != "drivers" {
					t.Errorf("%s: %+v", cell.Name, c)
				}
				if c.Topic.Replication == 3 && c.Topic.Config["min.insync.replicas"] != "2" {
					t.Errorf("%s has %v", cell.Name, c.Topic.Config)
				}
				if drifts && c.Cluster.Warmup == 0 {
					t.Errorf("%s begins on cold brokers", cell.Name)
				}
			}
		}
	}
}

// Every number of clients has the same records in flight in total, and every record size the same bytes.
func TestBuffersAreNotVaried(t *testing.T) {
	for name, inFlight := range map[string]func(Load) int64{
		"clients": func(l Load) int64 { return int64(l.MaxBuffered) * int64(l.Clients) },
		"throughput-record-size": func(l Load) int64 {
			return int64(l.MaxBuffered) * int64(max(l.Record.Size.Values[0], 50)) // clients count a record of 10 B as 50 B
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

func preset(t *testing.T, name string) Scenario {
	t.Helper()
	s, err := Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
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
		if len(s.Axes) > 0 && s.Question == "" {
			t.Errorf("%s asks nothing", name)
		}
		for _, cell := range s.Cells {
			checkWarnings(t, cell)
		}
	}
	s := preset(t, "overload")
	if least, most := s.Duration(); least != 43*time.Second || most != 103*time.Second {
		t.Errorf("overload takes %s to %s", least, most)
	}
	if _, err := PresetText("overlode"); err == nil || !strings.Contains(err.Error(), "kafka-bench list") {
		t.Errorf("an unknown preset: %v", err)
	}
}

// Patterns are of path.Match; the first match counts.
var expectedWarnings = []struct {
	cells    string
	warnings []string
}{
	{"produce-only", []string{"closed loop", "nobody consumes"}},
	{"sweep-acks-0", []string{"acks 0"}},
	{"backpressure-baseline-credit-1s", []string{"give at least 11,550 records"}},
	{"throughput-producer-*-leader", []string{"closed loop", "acks 1", "nobody consumes"}},
	{"throughput-stored-data-with-reader", []string{"closed loop"}},
	{"throughput-consumer-together", []string{"closed loop", "acks 1"}},
	{"throughput-record-size-10B", []string{"stamp", "closed loop", "nobody consumes"}},
	{"throughput-[prs]*", []string{"closed loop", "nobody consumes"}},
	{"agents-producer-*", []string{"closed loop", "nobody consumes"}},
	{"latency-e2e-rf3-leader", []string{"acks 1"}},
	{"partitions-*-closed", []string{"closed loop"}},
	{"drivers-*-produce", []string{"closed loop", "nobody consumes"}},
	{"broker-failover-leader-kill", []string{"acks 1"}},
	{"kmq-online-*-leader-markers", []string{"closed loop", "acks 1", "a marker may be lost with its leader"}},
	{"kmq-online-*-leader-*", []string{"closed loop", "acks 1"}},
	{"kmq-online-*", []string{"closed loop"}},
	{"kmq-scale-*", []string{"closed loop"}},
	{"kmq-study-online-*", []string{"closed loop"}},
}

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
				if !strings.Contains(strings.Join(cell.Values, " "), q.Engine) {
					t.Errorf("%s is of the engine %s", cell.Name, q.Engine)
				}
			}
			if !quick && (!engines["markers"] || !engines["offsetmap"] || !engines["share"] && name != "kmq-scale") {
				t.Errorf("%s has the engines %v", name, engines)
			}
		}
	}
}

func TestConsumeOnlyAsksForATopic(t *testing.T) {
	s, err := Read("consume-only")
	if err != nil || s.Topic.Existing != YourTopic {
		t.Errorf("topic.existing is %q, %v; want %q", s.Topic.Existing, err, YourTopic)
	}
}
