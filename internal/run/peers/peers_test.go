package peers

import (
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
)

func parse(t *testing.T, text string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("s.yaml", []byte("name: s\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCheck(t *testing.T) {
	if err := Check(parse(t, "load: {rate: 1k/s}")); err != nil {
		t.Error(err)
	}
	if err := Check(parse(t, "load: {rate: max}")); err != nil {
		t.Error(err)
	}
	err := Check(parse(t, `
load: {rate: 1k/s, arrival: poisson, record: {size: {uniform: [64B, 1KiB]}, keys: {distribution: uniform, count: 10}}}
backpressure: {controller: hysteresis, max_lag: 100}
`))
	want := `scenario s: load.arrival is poisson, and kafka-producer-perf-test has a constant rate or none; use constant
scenario s: load.record.size is uniform, and kafka-producer-perf-test has one size; give one, as in 512B
scenario s: load.record.keys is uniform, and kafka-producer-perf-test sends no keys; use none
scenario s: backpressure is hysteresis, and kafka-producer-perf-test has none; use off`
	if err == nil || err.Error() != want {
		t.Errorf("%v, want\n%s", err, want)
	}
}

func TestProducerArgs(t *testing.T) {
	s := parse(t, `
load: {rate: 2k/s, record: {size: 300B}, acks: all, compression: zstd, level: 3, linger: 1500us, batch: 32KiB, idempotent: true, in_flight: 5}
phases: {warmup: 2s, measure: 10s}
`)
	warmup, all := records(s, 1)
	got := strings.Join(producerArgs(s, "t", warmup, all), " ")
	want := "--topic t --num-records 24000 --record-size 300 --throughput 2000 --reporting-interval 1000 --warmup-records 4000" +
		" --command-property acks=all enable.idempotence=true compression.type=zstd linger.ms=2 batch.size=32768" +
		" max.in.flight.requests.per.connection=5 compression.zstd.level=3"
	if got != want {
		t.Errorf("%s, want\n%s", got, want)
	}
	if !slices.Contains(Differences(s), "linger 1.5ms is rounded up to whole milliseconds for kafka-producer-perf-test") {
		t.Errorf("differences %q", Differences(s))
	}
}

func TestClosedLoop(t *testing.T) {
	s := parse(t, "load: {rate: max}\nphases: {warmup: 0s, measure: 4s}")
	warmup, all := records(s, 1234.6)
	if warmup != 0 || all != 4938 {
		t.Errorf("%d and %d records, want 0 and 4938", warmup, all)
	}
	got := strings.Join(producerArgs(s, "t", warmup, all), " ")
	if !strings.Contains(got, "--throughput -1 ") || strings.Contains(got, "--warmup-records") {
		t.Errorf("arguments %s", got)
	}
	s.Load.MaxRate = parse(t, "load: {rate: 500/s}").Load.Rate
	if got := strings.Join(producerArgs(s, "t", warmup, all), " "); !strings.Contains(got, "--throughput 500 ") {
		t.Errorf("with a bound of the rate: arguments %s", got)
	}
}

func TestHead(t *testing.T) {
	h := &head{limit: 5}
	for _, text := range []string{"abc", "def", "ghi"} {
		if n, err := h.Write([]byte(text)); n != 3 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if string(h.kept) != "abcde" {
		t.Errorf("kept %q", h.kept)
	}
}
