package main

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

func TestQueuesArePresets(t *testing.T) {
	of := map[string]bool{}
	for _, name := range queues {
		of[name] = true
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if suite.Question == "" || suite.Answer == "" {
			t.Errorf("%s has the question %q and the answer %q", name, suite.Question, suite.Answer)
		}
	}
	for _, name := range scenario.Names() {
		if strings.HasPrefix(name, "kmq-") && !of[name] {
			t.Errorf("the page has no %s", name)
		}
	}
}

// saveQueue uses perS as each run's acknowledged records per second, and as its end-to-end median
// in tenths of a microsecond.
func saveQueue(t *testing.T, out, name string, variants []variantOf) {
	t.Helper()
	saveStudy(t, out, name, variants, func(r *result.Run) {
		engine := r.Run.Name[strings.LastIndex(r.Run.Name, "-")+1:]
		if strings.HasPrefix(strings.TrimPrefix(r.Run.Name, name+"-"), "plain") {
			engine = "plain"
		}
		if strings.HasSuffix(engine, "50") {
			engine = strings.TrimSuffix(strings.TrimPrefix(r.Run.Name, name+"-"), "-50")
		}
		resulttest.Set(&r.Scenario, "load", map[string]any{"rate": "6k/s"})
		resulttest.Set(&r.Scenario, "backpressure", nil)
		resulttest.Set(&r.Scenario, "consume", map[string]any{"consumers": 2, "queue": map[string]any{"engine": engine}})
		if name == "kmq-latency" { // runs of another method do not take its figures
			r.Run.MethodVersion = 1
		}
		r.Queue = &result.Queue{Engine: engine, AckedPerS: r.Delivery.DeliveredPerS}
		e2e, roundTrip := r.Time["e2e_response_time"], 0.9
		e2e.P50Ns = int64(r.Delivery.DeliveredPerS * 100)
		r.Time["e2e_response_time"] = e2e
		r.Clients = &result.Clients{Produce: &result.ClientRequests{Count: 1, MeanMs: &roundTrip}}
	})
}

// The goals of the queues are ratios to plain and differences from it. The page names the suites
// that were not made.
func TestPageOfQueues(t *testing.T) {
	out := t.TempDir()
	saveQueue(t, out, "kmq-drain", []variantOf{
		{"plain", []float64{100e3, 102e3, 101e3}, nil}, {"markers", []float64{80e3, 70e3, 81e3}, nil}, {"offsetmap", []float64{99e3, 100e3, 98e3}, nil},
	})
	saveQueue(t, out, "kmq-latency", []variantOf{
		{"markers-50", []float64{30e3, 31e3, 32e3}, nil}, {"plain-as-markers", []float64{20e3, 24e3, 22e3}, nil},
		{"plain-50", []float64{40e3, 41e3, 42e3}, nil},
	})
	text := strings.Join(strings.Fields(pageOf(t, out)), " ")
	for _, want := range []string{
		"2 of 10 suites were made; 18 of their 18 runs are valid", "left out: `kmq-study`, `kmq-online`, `kmq-scale`, `kmq-drops-silent`",
		"| drain throughput ÷ `plain`, `markers` | 0.53 | – | 0.79 [0.69, 0.80] | – |",
		"| the same, `offsetmap` | – | ≥ 0.95 | 0.98 [0.97, 0.99] | 3 of 3 runs |",
		"| the same, `markers` | 0 ns to 83.0 ms | – | 900 µs [800 µs, 1.00 ms] | – |",
		"| added e2e response time p50 at half of the highest rate, `offsetmap` | 0 ns to 83.0 ms | ≤ 200 µs | not measured | – |",
		"### Which engine for which work", "| a backlog |", "| kmq-drain | 101,000/s (plain) | 80,000/s, 0.79 × plain (markers) | 99,000/s, 0.98 × plain (offsetmap) | not measured |",
		"| a steady stream | not measured |", "| no delay | plain, with too few runs (3) to tell markers from it |", "### `kmq-drain`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, never := range []string{"<no value>", "NaN", "### `kmq-online`"} {
		if strings.Contains(text, never) {
			t.Errorf("the page says %q", never)
		}
	}
	if t.Failed() {
		t.Log(text[strings.Index(text, "## A queue with"):strings.Index(text, "## Codecs")])
	}
}

func TestPageWithoutQueues(t *testing.T) {
	text := strings.Join(strings.Fields(pageOf(t, t.TempDir())), " ")
	if !strings.Contains(text, "what each experiment is. The runs have not been made.") || strings.Contains(text, "Which engine for which work") || strings.Contains(text, "the article on the first implementation") {
		t.Error("a page without runs of queues decides something of them")
	}
}
