package scenario

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestOverrides(t *testing.T) {
	cases := []struct {
		set  []string
		got  func(Scenario) any
		want any
	}{
		{[]string{"load.rate=20k/s"}, func(s Scenario) any { return s.Load.Rate }, unit.Rate{Records: 20_000, Per: time.Second}},
		{[]string{"load.rate=20k/s", "load.rate=max", "backpressure=off"}, func(s Scenario) any { return s.Load.Rate }, unit.MaxRate},
		{[]string{"load.acks=all"}, func(s Scenario) any { return s.Load.Acks }, "all"},
		{[]string{"load.record.size=1KiB"}, func(s Scenario) any { return s.Load.Record.Size }, FixedSize(1024)},
		{[]string{"load.record.size.uniform=[64B, 1KiB]"}, func(s Scenario) any { return s.Load.Record.Size }, Size{"uniform", []unit.Size{64, 1024}}},
		{[]string{"load.record={payload: text, seed: 7}"}, func(s Scenario) any {
			return []any{s.Load.Record.Payload.Class, s.Load.Record.Seed, s.Load.Record.Size}
		}, []any{"text", uint64(7), FixedSize(512)}},
		{[]string{"consume.work.time=2ms"}, func(s Scenario) any { return s.Consume.Work }, Work{Time: 2e6, Jitter: 1e6, Distribution: "uniform"}},
		{[]string{"consume.work=2ms"}, func(s Scenario) any { return s.Consume.Work }, Work{Time: 2e6, Distribution: "fixed"}},
		{[]string{"consume.changes=[{at: 10s, work: 0s}]"}, func(s Scenario) any { return s.Consume.Changes }, []WorkChange{{1e10, Work{Distribution: "fixed"}}}},
		{[]string{"topic.config.max.message.bytes=2097152", "topic.config.retention.ms=5"}, func(s Scenario) any { return s.Topic.Config },
			map[string]string{"max.message.bytes": "2097152", "retention.ms": "5"}},
		{[]string{"cluster.config={num.io.threads: 2}"}, func(s Scenario) any { return s.Cluster.Config }, map[string]string{"num.io.threads": "2"}},
		{[]string{"consume.client.fetch.queue.backoff.ms=10"}, func(s Scenario) any { return s.Consume.Client }, map[string]string{"fetch.queue.backoff.ms": "10"}},
		{[]string{"cluster.jvm=[-Xss512k]"}, func(s Scenario) any { return s.Cluster.JVM }, []string{"-Xss512k"}},
		{[]string{"backpressure=off"}, func(s Scenario) any { return s.Backpressure }, Defaults().Backpressure},
		{[]string{"backpressure.max_lag=100000"}, func(s Scenario) any { return s.Backpressure.ResumeLag }, int64(1000)},
		{[]string{"topic.replication=3"}, func(s Scenario) any { return s.Cluster.Brokers }, 3},
		{[]string{"description=a=b"}, func(s Scenario) any { return s.Description }, "a=b"},
	}
	for _, c := range cases {
		s, err := Read("overload-tight", c.set...)
		if err != nil {
			t.Errorf("%q: %v", c.set, err)
		} else if got := c.got(s); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q gives %v, want %v", c.set, got, c.want)
		}
	}
}

func TestOverrideMistakes(t *testing.T) {
	for _, c := range [][2]string{
		{"load.rate", "--set load.rate: there is no = in it; write --set load.rate=20k/s"},
		{"load.rate=20x", `--set load.rate=20x: rate "20x": unknown multiplier "x"; write 20/s, 20k/s (thousands) or 20M/s (millions)`},
		{"load.rate=", "--set load.rate=: it has no value; give it one, or leave the key out"},
		{"load.rate=# nothing", "--set load.rate=# nothing: it has no value; give it one, or leave the key out"},
		{"load.rate=0/s", "--set load.rate=0/s: it must be above 0; give a rate, as in 20k/s, or max for as fast as it goes; kafka-bench search finds the highest rate that holds"},
		{"load={rate: 0/s}", "--set load={rate: 0/s}: load.rate: it must be above 0; give a rate, as in 20k/s, or max for as fast as it goes; kafka-bench search finds the highest rate that holds"},
		{"load.rate=[1", "--set load.rate=[1: the value is not YAML: while parsing a flow sequence: did not find expected ',' or ']'"},
		{"load.acks=1\n---\n0", "--set load.acks=1\n---\n0: the value is several YAML documents; give one value"},
		{"load.client={sasl.password: s3cret}", "--set load.client=…: load.client.sasl.password: it says how brokers are reached or who logs in, and would be in the result; give it in the file of --command-config, and addresses with --brokers"},
		{"load.rate.k=1", "--set load.rate.k=1: load.rate: it is a mapping, not a single value"},
		{"load.lingre=1s", "--set load.lingre=1s: unknown key; did you mean linger?"},
		{"topic.config={a: 1, a: 2}", "--set topic.config={a: 1, a: 2}: topic.config.a: it is given twice; keep one of them"},
		{"load.rate=[1k/s, 2k/s]", "--set load.rate=[1k/s, 2k/s]: it is a list, not a single value; to run with each of them write --set matrix.load.rate=[1k/s, 2k/s]"},
		{"matrix.load.rate=[1k/s]", "--set matrix.load.rate=[1k/s]: matrix: it makes a suite of this scenario, and one scenario is wanted here; give it to the run command, or leave it out (--set matrix=null)"},
		{"backpressure.max_lag=900", "preset overload-tight:29:15: backpressure.resume_lag: 1000 is not below max_lag, 900; give less, or leave it out for half of max_lag"},
	} {
		_, err := Read("overload-tight", c[0])
		if err == nil {
			t.Errorf("%q is accepted", c[0])
			continue
		}
		if err.Error() != c[1] {
			t.Errorf("%q:\n got %v\nwant %s", c[0], err, c[1])
		}
	}
}

func TestOverrideReplacesPlaces(t *testing.T) {
	text := "load:\n  arrival: {process: burst, peak: 5k/s, length: 1s, period: 2s}\n"
	got := mistakes(t, text, "load.arrival=spike", "load.arrival.length=3s")
	want := []string{"--set load.arrival=spike: load.arrival.peak: it is required; give a rate, as in 20k/s"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
