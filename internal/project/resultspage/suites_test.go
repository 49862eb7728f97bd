package main

import (
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestSuitesArePresets(t *testing.T) {
	variants := map[string]bool{}
	for _, name := range suites {
		suite, err := scenario.ReadSuite(name, scenario.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if suite.Question == "" || suite.Answer == "" {
			t.Errorf("%s has the question %q and the answer %q", name, suite.Question, suite.Answer)
		}
		for _, c := range suite.Cells {
			variants[name+" "+valueOf(result.Cell{Values: c.Values})] = true
		}
	}
	all, err := priorSuites()
	if err != nil || len(all) == 0 {
		t.Fatal(err, len(all))
	}
	for _, p := range all {
		if !variants[p.Suite+" "+p.Variant] {
			t.Errorf("%s has no variant %s", p.Suite, p.Variant)
		}
		if p.reported() == absent {
			t.Errorf("%s, %s: nothing was reported", p.Suite, p.Variant)
		}
	}
}

func TestPageOfAQuickSuite(t *testing.T) {
	out := t.TempDir()
	saveStudy(t, out, "throughput-consumer-quick", []variantOf{{"one", []float64{900e3}, nil}, {"three", []float64{1.8e6}, nil}}, nil)
	text := strings.Join(strings.Fields(pageOf(t, out)), " ")
	for _, want := range []string{"`throughput-consumer` was shortened: made in its quick form, 1 run of each instead of 5", "900,000/s"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestPageOfASuite(t *testing.T) {
	out := t.TempDir()
	saveStudy(t, out, "throughput-consumer", []variantOf{
		{"one", []float64{900e3, 905e3, 910e3}, nil},
		{"three", []float64{1.8e6, 1.81e6, 1.82e6}, nil},
		{"together", []float64{400e3, 401e3, 402e3}, nil},
	}, nil)
	text := strings.Join(strings.Fields(pageOf(t, out)), " ")
	for _, want := range []string{
		"### `throughput-consumer`", "reported, on another machine |", "905,000/s [900,000/s, 910,000/s]", "| 940,521/s delivered |", "| 2,615,968/s delivered |", "| 795,064/s acked |",
		"1 of 14 suites were made; 9 of their 9 runs are valid", "left out: `throughput-producer`, `throughput-record-size`",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, never := range []string{"<no value>", "NaN", "### `consumer-limit`", "The six-machine study reported end-to-end times"} {
		if strings.Contains(text, never) {
			t.Errorf("the page says %q", never)
		}
	}
}

// Figures of a librdkafka consumer that did not read all records are withdrawn if method 1 measured
// them. Since method 2, the page names the cause.
func TestPageOfWhatWasNotRead(t *testing.T) {
	const withdrawn = "| `one` (withdrawn: not read out) | – |"
	for _, test := range []struct {
		driver        string
		method        int
		pending       int64
		want, wantNot string
	}{
		{"librdkafka", 1, 5, withdrawn, "111,318/s"},
		{"librdkafka", 2, 5, "| `one` (client default: `fetch.queue.backoff.ms`) | – | 111,318/s |", "withdrawn"},
		{"franz", 1, 5, "| `one` (not read out) | – | 111,318/s |", "withdrawn"},
		{"librdkafka", 1, 0, "| `one` | – | 111,318/s |", "withdrawn"},
	} {
		out := t.TempDir()
		variants := []variantOf{{"one", []float64{111_318}, nil}, {"three", []float64{9e5}, nil}}
		saveStudy(t, out, "throughput-consumer", variants, func(r *result.Run) {
			r.Run.MethodVersion = test.method
			if r.Delivery.DeliveredPerS == 9e5 {
				return
			}
			r.Run.Driver.Name = test.driver
			r.Load.Scheduled, r.Fill, r.Delivery.Pending = 0, &result.Fill{Records: 10}, test.pending
		})
		_, section, _ := strings.Cut(pageOf(t, out), "### `throughput-consumer`")
		_, row, _ := strings.Cut(section, "| `one`")
		row, _, _ = strings.Cut("| `one`"+row, "\n")
		const prior = "| 940,521/s delivered |"
		if !strings.HasPrefix(row, test.want) || !strings.HasSuffix(row, prior) || strings.Contains(section, test.wantNot) {
			t.Errorf("%s, method %d, %d pending: the row is %q, want %q and %q, and nowhere %q",
				test.driver, test.method, test.pending, row, test.want, prior, test.wantNot)
		}
	}
}
