package peers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func parse(t *testing.T, text string) scenario.Scenario {
	t.Helper()
	s, err := scenario.Parse("s.yaml", []byte("name: s\n"+text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCheck wants every fault at once, each with what would be right.
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

// TestClosedLoop sends what our own run reached, and is not throttled.
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
}

// TestTable shows medians, and a dash for what a run does not tell, though its
// field holds a number.
func TestTable(t *testing.T) {
	ours := func(perSecond float64, p50 int64) result.Run {
		return result.Run{
			Run:  result.Info{FinishedAt: time.Unix(1, 0)},
			Load: result.Load{Scheduled: 1, Acked: 1, AckedPerS: perSecond}, Consumer: result.Consumer{Members: 1},
			Delivery: result.Delivery{Delivered: 1, DeliveredPerS: perSecond},
			Time:     map[string]result.Time{"send_service_time": {Count: 999, P50Ns: p50, P95Ns: 2 * p50, P99Ns: 3 * p50}},
		}
	}
	theirs := ours(900, 3e6)
	theirs.Run.Imported = &result.Imported{CannotSay: []string{"delivery", "time.send_service_time.p95_ns"}}
	var b strings.Builder
	err := Table(&b, []Column{{"ours", []result.Run{ours(1000, 1e6), ours(3000, 9e6), ours(1500, 2e6)}}, {"theirs", []result.Run{theirs, theirs}}})
	if err != nil {
		t.Fatal(err)
	}
	lines := make(map[string]bool)
	for line := range strings.Lines(b.String()) {
		lines[strings.Join(strings.Fields(line), " ")] = true
	}
	for _, want := range []string{
		"runs 3 2", "acked 1,500/s 900/s", "delivered 1,500/s –",
		"send service time p50 2.00 ms 3.00 ms", "send service time p95 4.00 ms –",
		"send service time p99 – –", // 999 records do not support it
		"e2e response time p50 – –",
	} {
		if !lines[want] {
			t.Errorf("the table has no line %q:\n%s", want, b.String())
		}
	}
}

// TestHead keeps the beginning and takes the rest without an error, which would
// end the tool.
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
