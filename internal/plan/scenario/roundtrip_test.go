package scenario

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		if err := s.Validate(); err != nil {
			t.Fatalf("the generator made an invalid scenario: %v", err)
		}
		same(t, s, s.Marshal)
		same(t, s, func() ([]byte, error) { return json.Marshal(s) })
	})
}

func TestRoundTripOfVariables(t *testing.T) {
	s := Defaults()
	s.Description, s.Cluster.JVM, s.Topic.Config = "${HOME} $${", []string{"-${A"}, map[string]string{"${KEY}": "${env:X}"}
	same(t, s, s.Marshal)
	same(t, s, s.MarshalJSON)
}

func same(t interface{ Fatalf(string, ...any) }, s Scenario, print func() ([]byte, error)) {
	text, err := print()
	if err != nil {
		t.Fatalf("%+v cannot be printed: %v", s, err)
	}
	back, err := Parse("printed", text)
	if err != nil {
		t.Fatalf("what was printed cannot be read: %v\n%s", err, text)
	}
	if !reflect.DeepEqual(back, s) {
		t.Fatalf("printed\n%s\nand read back %+v\nwant %+v", text, back, s)
	}
}

func TestResolveTwiceIsResolveOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := anyScenario(t)
		if again := s.Resolve(); !reflect.DeepEqual(again, s) {
			t.Fatalf("resolved again: %+v\nwant %+v", again, s)
		}
	})
}

func TestResolveLeavesItsInput(t *testing.T) {
	s := Defaults()
	s.Load.Arrival = Arrival{Process: "steps", Steps: []Step{{Rate: perSecond(5)}}}
	s.Consume.Changes = []WorkChange{{Work: Work{Jitter: 5}}}
	s.Resolve()
	if s.Load.Arrival.Steps[0].For != 0 || s.Consume.Changes[0].Work.Distribution != "" {
		t.Errorf("Resolve changed its input: %+v", s)
	}
}

func anyScenario(t *rapid.T) Scenario {
	s := Defaults()
	s.Name = rapid.StringMatching(`[A-Za-z0-9][A-Za-z0-9._-]{0,63}`).Draw(t, "name")
	s.Description = rapid.StringOf(rapid.RuneFrom([]rune(`ab 12:#-'"\{}[]&*!|>%@,?=~.é中$	`+"\n"))).Draw(t, "description")
	s.Driver = rapid.SampledFrom([]string{"franz", "sarama", "another one"}).Draw(t, "driver")
	s.Cluster.Metrics = pick(t, brokerMetrics)
	s.Cluster.Warmup = duration(t, 0, 60)
	s.Sampling.Brokers, s.Sampling.Replicas = duration(t, 1, 60), duration(t, 1, 60)
	s.Topic.Replication = rapid.IntRange(1, 3).Draw(t, "replication")
	s.Cluster.Brokers = rapid.IntRange(3, 9).Draw(t, "brokers")
	s.Cluster.JVM = options(t)
	s.Cluster.Version = pick(t, []string{"", "4.2", "4.3"})
	s.Topic.Config = config(t)
	s.Phases = Phases{duration(t, 0, 60), duration(t, 60, 600), duration(t, 0, 60)}
	anyLoad(t, &s.Load, s.Phases.Measure)
	anyConsume(t, &s.Consume, s.Phases.Measure)
	anyReading(t, &s)
	if rapid.Bool().Draw(t, "controlled") && !s.Load.Rate.IsMax() && s.Consume.Consumers > 0 && s.Load.Producers > 0 && s.Consume.Assignment == "group" {
		s.Backpressure = anyBackpressure(t, s.Load.Processes)
	}
	anyQueue(t, &s)
	anyMistakes(t, &s)
	s.Repeat = rapid.IntRange(1, 100).Draw(t, "repeat")
	return s.Resolve()
}

func anyBackpressure(t *rapid.T, processes int) Backpressure {
	b := Defaults().Backpressure
	b.Controller = pick(t, controllers[1:])
	b.MaxLag = rapid.Int64Range(max(2, int64(processes)), 1e9).Draw(t, "max lag")
	switch b.Controller {
	case "hysteresis":
		b.ResumeLag = rapid.Int64Range(1, b.MaxLag-1).Draw(t, "resume lag")
	case "latency", "aimd":
		b.Target = duration(t, 1, 10)
	}
	b.Poll, b.Grace = duration(t, 1, 10), duration(t, 10, 60)
	b.Signal, b.Excess, b.Blind = pick(t, signals), pick(t, excesses), pick(t, blindnesses)
	if b.Excess == "degrade" {
		b.Keep = rapid.Int64Range(1, maxKeep).Draw(t, "keep")
	}
	b.MaxDeferred = rapid.Int64Range(1, 1e9).Draw(t, "max deferred")
	return b
}

func anyMistakes(t *rapid.T, s *Scenario) {
	parties := []*party{newBrokers(s.Cluster.Brokers)}
	if s.Consume.Consumers > 0 && s.Consume.Assignment == "group" && s.Consume.Groups == 1 {
		parties = append(parties, newCrew(s.Consume.Consumers))
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "faults") {
		f := ScheduledFault{At: unit.Duration(i/2) * s.Phases.Measure / 4}
		if rapid.IntRange(0, 9).Draw(t, "unnamed") == 0 {
			s.Faults = append(s.Faults, anyUnnamed(t, f, s.Topic.Partitions))
			continue
		}
		p := rapid.SampledFrom(parties).Draw(t, "whom")
		p.until(f.At)
		f = anyFate(t, f, p)
		p.set(f.Target().Number, f)
		s.Faults = append(s.Faults, f)
	}
}

func anyUnnamed(t *rapid.T, f ScheduledFault, partitions int) ScheduledFault {
	if rapid.Bool().Draw(t, "every") {
		f.Restart = Target{Kind: EveryBroker}
		return f
	}
	f.Kill, f.For = Target{LeaderTarget, rapid.IntRange(0, partitions-1).Draw(t, "partition")}, duration(t, 0, 5)
	return f
}

func anyFate(t *rapid.T, f ScheduledFault, p *party) ScheduledFault {
	last := p.next() - 1
	if p.kind == ConsumerTarget {
		last++ // the next that may join
	}
	who := Target{p.kind, rapid.IntRange(p.first, last).Draw(t, "who")}
	switch is, known := p.is(who.Number); {
	case !known || is == gone:
		f.Start = who
	case is == paused:
		f.Resume = who
	default:
		*rapid.SampledFrom([]*Target{&f.Kill, &f.Stop, &f.Pause, &f.Restart}).Draw(t, "act") = who
		if f.Restart == (Target{}) {
			f.For = duration(t, 0, 100)
		}
	}
	return f
}

func anyLoad(t *rapid.T, l *Load, measure unit.Duration) {
	l.Arrival = anyArrival(t, measure)
	switch {
	case l.Arrival.Process == "steps":
		l.Rate = l.Arrival.Steps[0].Rate
	case l.Arrival.Process == "constant" && rapid.Bool().Draw(t, "closed loop"):
		l.Rate = unit.MaxRate
	default:
		l.Rate = rate(t)
	}
	l.Producers = rapid.IntRange(1, 64).Draw(t, "producers")
	l.Clients = rapid.IntRange(0, l.Producers).Draw(t, "clients")
	most := l.Producers
	if l.Clients > 0 {
		most = l.Clients
	}
	l.Processes = rapid.IntRange(1, most).Draw(t, "processes")
	l.Pacer = pick(t, pacers)
	l.Record = Record{anySize(t), anyPayload(t), pick(t, stamps), rapid.Uint64().Draw(t, "seed"), anyKeys(t)}
	if l.Record.Payload.File != "" {
		l.Record.Stamp, l.Record.Size = HeaderStamp, Size{fileSizes, []unit.Size{1, 20, 300}}
	}
	if l.Record.Keys.Distribution != "none" {
		l.Partitioning = pick(t, partitionings)
	}
	l.Compression = pick(t, codecs)
	l.Level = rapid.IntRange(0, codecLevels[l.Compression]).Draw(t, "level")
	l.Acks = pick(t, ackLevels)
	l.Idempotent = l.Acks == "all" && rapid.Bool().Draw(t, "idempotent")
	l.Linger = duration(t, 0, 29)
	switch amount := rapid.Int64Range(0, 1<<29).Draw(t, "amount"); rapid.IntRange(0, 2).Draw(t, "of") {
	case 0:
		l.Volume = unit.Size(amount << 21)
	case 1:
		l.Records = amount
	case 2:
		l.RecordsEach = amount
	}
	if l.Rate.IsMax() {
		l.Round = rapid.IntRange(0, 5).Draw(t, "round")
	}
}

func anyArrival(t *rapid.T, measure unit.Duration) Arrival {
	a := Arrival{Process: pick(t, processes)}
	switch a.Process {
	case "burst":
		a.Peak, a.Length, a.Period = rate(t), duration(t, 1, 29), duration(t, 30, 60)
	case "ramp":
		a.To, a.Over = rate(t), measure/2
	case "spike":
		a.Peak, a.At, a.Length = rate(t), duration(t, 0, 30), duration(t, 1, 30)
	case "steps":
		a.Steps = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Step { return Step{rate(t), duration(t, 1, 10)} }), 1, 6).Draw(t, "steps")
	}
	return a
}

func anyPayload(t *rapid.T) Payload {
	if rapid.Bool().Draw(t, "a file") {
		return Payload{File: "/" + pick(t, payloads), Format: pick(t, payload.Formats), SHA256: "00ff"}
	}
	return Payload{Class: pick(t, payloads)}
}

func anySize(t *rapid.T) Size {
	size := func(least, most int64) unit.Size { return unit.Size(rapid.Int64Range(least, most).Draw(t, "size")) }
	switch d := pick(t, sizings); d {
	case "fixed":
		return FixedSize(size(1, 60_000))
	case "list":
		return Size{d, []unit.Size{size(1, 60_000), size(1, 60_000), size(1, 60_000)}}
	default:
		return Size{d, []unit.Size{size(1, 5_000), size(5_000, 10_000)}}
	}
}

func anyKeys(t *rapid.T) Keys {
	k := Keys{Distribution: pick(t, keyings)}
	if k.counted() {
		k.Count = rapid.IntRange(1, 1e6).Draw(t, "keys")
	}
	if k.Distribution == "zipf" {
		k.Skew = rapid.Float64Range(1.0000001, 100).Draw(t, "skew")
	}
	return k
}

func anyConsume(t *rapid.T, c *Consume, measure unit.Duration) {
	c.Consumers = rapid.IntRange(0, 20).Draw(t, "consumers")
	c.Groups, c.Assignment = rapid.SampledFrom([]int{1, 1, 2, 100}).Draw(t, "groups"), pick(t, assignments)
	if c.Consumers > 0 {
		c.Processes = rapid.IntRange(1, c.Consumers).Draw(t, "processes")
		c.CPU = rapid.SampledFrom([]float64{0, minCPU, 0.5, 2}).Draw(t, "cores")
		c.Memory = unit.Size(rapid.SampledFrom([]int64{0, 32 << 20, 1e9}).Draw(t, "memory"))
		c.Hold = rapid.SampledFrom([]Hold{{}, {Until: 1}, {Until: measure / 3}}).Draw(t, "hold")
	}
	if c.Protocol = pick(t, protocols); c.Protocol == "classic" && c.Assignment == "group" {
		c.SessionTimeout = duration(t, 1, 60)
		c.Assignor = pick(t, append([]string{""}, assignors...))
	}
	c.Parallel, c.Work = pick(t, parallels), anyWork(t)
	for i := range rapid.IntRange(0, 3).Draw(t, "changes") {
		c.Changes = append(c.Changes, WorkChange{unit.Duration(i) * measure / 4, anyWork(t)})
	}
	c.Commit = rapid.SampledFrom([]Commit{{EachBatch: true}, {Interval: duration(t, 1, 60)}}).Draw(t, "commit")
	c.PollTimeout = duration(t, 0, 60)
	c.Client = rapid.SampledFrom([]map[string]string{nil, {"a.b": "1", "C": "x"}}).Draw(t, "client")
	c.Fetch.MinBytes = unit.Size(rapid.Int64Range(0, 1e6).Draw(t, "min bytes"))
}

func anyReading(t *rapid.T, s *Scenario) {
	if !rapid.Bool().Draw(t, "existing") {
		anyFill(t, s)
		return
	}
	s.Topic.Existing, s.Topic.Config, s.Consume.From = "orders", nil, pick(t, beginnings)
	if s.Consume.Consumers > 0 && rapid.Bool().Draw(t, "only reads") {
		s.Load.Producers, s.Load.Processes, s.Consume.Hold = 0, 1, Hold{}
		s.Load.Volume, s.Load.Records, s.Load.RecordsEach = 0, 0, 0
	}
}

func anyFill(t *rapid.T, s *Scenario) {
	fill := rapid.SampledFrom([]int64{0, 1e6, 5e8}).Draw(t, "fill")
	if fill == 0 {
		return
	}
	switch rapid.IntRange(0, 2).Draw(t, "of") {
	case 0:
		s.Topic.Fill = unit.Size(fill)
	case 1:
		s.Topic.FillRecords = fill
	case 2:
		s.Topic.FillRecordsEach = fill
	}
	s.Topic.FillProducers = rapid.IntRange(0, 9).Draw(t, "fillers")
	s.Consume.From = "start"
	if s.Consume.Consumers > 0 && rapid.Bool().Draw(t, "only reads") {
		s.Load.Producers, s.Load.Processes, s.Consume.Hold = 0, 1, Hold{}
		s.Load.Volume, s.Load.Records, s.Load.RecordsEach = 0, 0, 0
	}
}

func anyQueue(t *rapid.T, s *Scenario) {
	if s.Consume.Consumers == 0 || s.Topic.Existing != "" || s.Backpressure.Controller != "off" || !rapid.Bool().Draw(t, "queue") {
		return
	}
	g := &s.Consume
	g.Groups, g.Processes, g.CPU, g.Memory, g.Assignment, g.Parallel = 1, 1, 0, 0, "group", "consumer"
	g.Assignor, g.PollTimeout, g.Client = "", 0, nil
	g.Hold, g.Protocol, g.Commit, g.SessionTimeout = Hold{}, "classic", Commit{Interval: duration(t, 1, 60)}, 0
	q := Queue{Engine: pick(t, engines), Batch: rapid.IntRange(0, maxReceive).Draw(t, "batch"), Threads: rapid.IntRange(0, maxThreads).Draw(t, "threads"), Order: pick(t, orders)}
	if q.Engine != "plain" {
		q.Visibility, q.MaxDeliveries = duration(t, 1, 60), rapid.IntRange(0, 5).Draw(t, "deliveries")
		q.Drop.Share = unit.Share(rapid.SampledFrom([]float64{0, 0.001, 0.5}).Draw(t, "dropped"))
		if q.Drop.Share > 0 {
			q.Drop.How = "nack"
			q.Backoff.Min = duration(t, 0, 3)
		}
	}
	if q.Engine == "share" {
		q.Order = "none"
	}
	if q.Engine == "markers" {
		q.Tracker, q.Acks = pick(t, trackers), pick(t, queueAcks)
	}
	g.Queue = q
}

func anyWork(t *rapid.T) Work {
	switch rapid.IntRange(0, 5).Draw(t, "tail") {
	case 0:
		return Work{Median: duration(t, 1, 10), Sigma: rapid.Float64Range(0.1, 2).Draw(t, "sigma"), Distribution: "lognormal"}
	case 1:
		return Work{P50: duration(t, 1, 10), P99: duration(t, 11, 100), Distribution: "lognormal"}
	}
	w := Work{Time: duration(t, 1, 10), Distribution: pick(t, workings)}
	if w.Distribution == "uniform" || w.Distribution == "lognormal" {
		w.Jitter = duration(t, 0, 10)
	}
	return w
}

func pick(t *rapid.T, choices []string) string { return rapid.SampledFrom(choices).Draw(t, "choice") }

// least and most are in seconds.
func duration(t *rapid.T, least, most int64) unit.Duration {
	return unit.Duration(rapid.Int64Range(least*int64(time.Second), most*int64(time.Second)).Draw(t, "duration"))
}

func rate(t *rapid.T) unit.Rate { return perSecond(rapid.Int64Range(1, 1e8).Draw(t, "rate")) }

func perSecond(records int64) unit.Rate { return unit.Rate{Records: records, Per: time.Second} }

func options(t *rapid.T) []string {
	accepted := func(option string) bool {
		problem, _ := native.JVMFault(option)
		return problem == ""
	}
	list := rapid.SliceOfN(rapid.StringMatching(`-[A-Za-z0-9:=+ #,]{1,10}`).Filter(accepted), 0, 3).Draw(t, "jvm")
	if len(list) == 0 {
		return nil
	}
	return list
}

func config(t *rapid.T) map[string]string {
	settings := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,5}(\.[a-z]{1,5})?`), rapid.StringMatching(`[a-z0-9 :,#~*]{0,8}`), 0, 3).Draw(t, "config")
	if len(settings) == 0 {
		return nil
	}
	return settings
}

// The loader never panics; its result is a valid scenario that reads back, or Mistakes with places.
func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		text, err := PresetText(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "load.rate=20k/s")
	}
	for _, file := range []string{"faults.yaml", "everything.yaml", "everything.golden.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", file))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, "load.arrival={process: burst, peak: 5k/s}")
	}
	f.Add([]byte("a: &a [*a]\n? {}\n: <<"), "topic.config.a.b=[")
	f.Add([]byte(family), "variants=[tight, {name: x, faults: [{at: 1s, kill: consumer 0}]}]")
	f.Add([]byte(family+"matrix: {load.acks: [0, 1], exclude: [{variant: off}]}"), "backpressure.max_lag=5")
	f.Add([]byte(sweep), "matrix.load.record=[{size: 1B}, {size: '${N}'}, null]")
	f.Add([]byte("description: ${YAML}${NONE:-}$${\nmatrix: {load: [{acks: 0}, {acks: 1}]}"), "matrix.exclude=[{load: '{acks: 0}'}]")
	f.Fuzz(func(t *testing.T, text []byte, override string) {
		parseAny(t, text)
		parseAny(t, text, override)
	})
}

func parseAny(t *testing.T, text []byte, overrides ...string) {
	suite, err := suiteOf(Options{Set: overrides, Env: env}, string(text), "{}", string(text))
	var list Mistakes
	if err != nil && (!errors.As(err, &list) || len(list) == 0) {
		t.Fatalf("the error is not Faults: %v", err)
	}
	for _, mistake := range list {
		if mistake.Problem == "" || mistake.File == "" || mistake.Line < 1 || mistake.Column < 1 {
			t.Fatalf("a fault without a problem or a place: %#v", mistake)
		}
	}
	if err == nil && (len(suite.Cells) == 0 || len(suite.Cells) > maxCells) {
		t.Fatalf("a suite of %d cells", len(suite.Cells))
	}
	seen := make(map[string]bool)
	for _, cell := range suite.Cells[:min(len(suite.Cells), 10)] {
		same(t, cell.Scenario, cell.Scenario.Marshal)
		cell.Scenario.Warnings(48)
		cell.Scenario.Expected()
		if seen[cell.Name] || !plainName(cell.Name) || len(cell.Name) > maxNameLength || cell.Name != cell.Scenario.Name {
			t.Fatalf("the cell %q of the scenario %q", cell.Name, cell.Scenario.Name)
		}
		seen[cell.Name] = true
	}
}
