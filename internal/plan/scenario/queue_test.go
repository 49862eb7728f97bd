package scenario

import (
	"math"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func TestQueueDefaults(t *testing.T) {
	for text, want := range map[string]Queue{
		"consume: {queue: plain}":                                                        {Engine: "plain", Threads: 1, Batch: 10, InFlight: 1000, Order: "none"},
		"consume: {queue: share}":                                                        {Engine: "share", Threads: 1, Batch: 10, InFlight: 1000, Order: "none"},
		"consume: {queue: {engine: offsetmap, drop: {share: 1%}}}":                       {Engine: "offsetmap", Threads: 1, Batch: 10, InFlight: 1000, Order: "none", Visibility: unit.Duration(30 * time.Second), Acks: "all", Drop: Drop{0.01, "silent"}},
		"consume: {queue: {engine: markers, max_deliveries: 4}}":                         {Engine: "markers", Threads: 1, Batch: 10, InFlight: 1000, Order: "none", Visibility: unit.Duration(30 * time.Second), Acks: "all", Tracker: "in-process", MaxDeliveries: 4, DeadLetter: true},
		"consume: {queue: {threads: 3}}\nvariants: [{name: a, consume: {queue: plain}}]": {Engine: "plain", Threads: 1, Batch: 10, InFlight: 1000, Order: "none"},
		"consume: {queue: markers}\nvariants: [{name: a, consume: {queue: null}}]":       {},
	} {
		suite, err := suiteOf(Options{}, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := suite.Cells[0].Scenario.Consume.Queue; got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestQueueRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"consume: {queue: {engine: plain, drop: {share: 10%, how: nack}}}":                               "plain can't deliver a record again",
		"consume: {queue: {engine: plain, visibility: 5s}}":                                              "so it has no visibility",
		"consume: {queue: {engine: plain, max_deliveries: 5}}":                                           "plain does not count deliveries",
		"consume: {queue: {engine: offsetmap, tracker: in-process}}":                                     "offsetmap redelivers by itself",
		"consume: {queue: {engine: markers, drop: {share: 100%}}}":                                       "100% is out of range",
		"consume: {queue: {engine: markers, drop: {share: half}}}":                                       "not a share",
		"consume: {queue: {engine: markers, drop: {share: 0.5}}}":                                        "not a share",
		"consume: {queue: {engine: markers, drop: {how: nack}}}":                                         "nothing is dropped",
		"consume: {queue: {engine: markers, drop: {share: 1%}, order: key}}":                             "none can be dropped in silence",
		"consume: {queue: {engine: markers, backoff: {min: 1s}}}":                                        "nothing is given back",
		"consume: {queue: {engine: markers, drop: {share: 1%, how: nack}, backoff: {min: 2s, max: 1s}}}": "2s is more than max",
		"consume: {queue: {engine: markers, threads: 0}}":                                                "must be above 0",
		"consume: {queue: {engine: markers, visibility: 1ms}}":                                           "1ms is too low",
		"consume: {queue: {threads: 5}}":                                                                 "it is required",
		"consume: {queue: marker}":                                                                       "did you mean markers?",
		"consume: {queue: markers, consumers: 2, processes: 2}":                                          "in the tool's own process",
		"consume: {queue: markers, commit: 2m}":                                                          "once a minute",
		"consume: {queue: markers, session_timeout: 500ms}":                                              "at least a second",
		"consume: {queue: {engine: share, order: key}}":                                                  "no order is kept",
		"consume: {queue: markers, hold: 5s}":                                                            "can't be held",
		"consume: {queue: markers, groups: 2}":                                                           "has one group",
		"consume: {queue: markers, assignment: manual}":                                                  "shared by a group",
		"consume: {queue: markers, commit: batch}":                                                       "at an interval",
		"consume: {queue: markers}\ntopic: {existing: orders}":                                           "can't use an existing one",
		"consume: {queue: markers}\ntopic: {fill: 1MB}":                                                  "begins with the first record",
		"consume: {queue: markers}\ntopic: {fill_records: 1000}":                                         "leave topic.fill_records out",
		"consume: {queue: markers}\nbackpressure: {controller: credit, max_lag: 5}":                      "lag of a queue's group",
		"consume: {queue: markers, consumers: 0}":                                                        "there are no consumers",
		"consume: {work: {median: 5ms}}":                                                                 "give both",
		"consume: {work: {p50: 5ms, p99: 1ms}}":                                                          "p99 above the p50",
		"consume: {work: {p50: 1ms, p99: 1h}}":                                                           "times the p50",
		"consume: {work: {p50: 1ms, p99: 2ms, time: 3ms}}":                                               "given in two ways",
		"consume: {work: {p50: 1ms, p99: 2ms, distribution: uniform}}":                                   "only lognormal work",
	} {
		_, err := suiteOf(Options{}, text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", text, err, want)
		}
	}
}

func TestExpectedDeliveries(t *testing.T) {
	for _, c := range []struct {
		share float64
		most  int
		want  float64
	}{{0.5, 0, 2}, {0.5, 4, 1.875}, {0.5, 5, 1.9375}, {0, 0, 1}, {0, 3, 1}, {0.1, 0, 1 / 0.9}, {1, 3, 3}} {
		q := Queue{Drop: Drop{Share: unit.Share(c.share)}, MaxDeliveries: c.most}
		if got := q.ExpectedDeliveries(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%v dropped, %d deliveries at the most: %v, want %v", c.share, c.most, got, c.want)
		}
	}
}

func TestBackoffDelay(t *testing.T) {
	b := Backoff{Min: unit.Duration(time.Second), Max: unit.Duration(5 * time.Second)}
	for attempt, want := range []time.Duration{1, 1, 2, 4, 5, 5} {
		if got := b.Delay(attempt); got != want*time.Second {
			t.Errorf("after delivery %d: %v, want %v", attempt, got, want*time.Second)
		}
	}
	if got := (Backoff{}).Delay(1000); got != 0 {
		t.Errorf("without a backoff: %v", got)
	}
}

func TestLognormalMoments(t *testing.T) {
	mean, deviation := Work{Median: unit.Duration(time.Millisecond), Sigma: 1, Distribution: "lognormal"}.Moments()
	ratio := deviation.Seconds() / mean.Seconds()
	sigma := math.Sqrt(math.Log(1 + ratio*ratio))
	median := mean.Seconds() / math.Exp(sigma*sigma/2)
	if math.Abs(sigma-1) > 1e-4 || math.Abs(median-0.001) > 1e-7 {
		t.Errorf("a median of %v s and a sigma of %v", median, sigma)
	}
	byMedian := Work{Median: unit.Duration(5 * time.Millisecond), Sigma: math.Log(20) / z99, Distribution: "lognormal"}
	byPercentiles := Work{P50: unit.Duration(5 * time.Millisecond), P99: unit.Duration(100 * time.Millisecond), Distribution: "lognormal"}
	if a, b := byMedian.Mean(), byPercentiles.Mean(); (a - b).Abs() > time.Microsecond {
		t.Errorf("%v by median and sigma, %v by percentiles", a, b)
	}
}

func TestQueueWarnings(t *testing.T) {
	for text, want := range map[string]string{
		"load: {rate: 1k/s}\nconsume: {queue: {engine: markers, visibility: 15s, drop: {share: 50%}}}":                                         "each receive at most",
		"load: {rate: 1k/s}\nconsume: {queue: {engine: markers, visibility: 15s, drop: {share: 50%}, in_flight: 50000}}\nphases: {drain: 10m}": "",
		"consume: {queue: {engine: markers, visibility: 15s, drop: {share: 50%}}}":                                                             "the drain ends after 30s",
		"consume: {queue: {engine: markers, visibility: 1s}, work: 100ms}":                                                                     "the visibility of a record is 1s",
		"consume: {queue: {engine: markers, acks: leader}}\ntopic: {replication: 3}":                                                           "lost with its leader",
	} {
		suite, err := suiteOf(Options{}, text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := strings.Join(suite.Cells[0].Scenario.queueWarnings(), "\n")
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
