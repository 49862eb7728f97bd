package figure

import (
	"math"
	"slices"
	"strings"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestBounds(t *testing.T) {
	undrained := func(p50, p99 int64) *result.Run {
		r := run()
		r.Delivery.Copies = 0
		r.Time["e2e_response_time"] = result.Time{
			Count: 700, NotEnded: 300, MinNs: 1e6, MeanNs: 2e6, StddevNs: 3e6, P50Ns: p50, P90Ns: 4e6, P99Ns: p99, AtLeast: []string{"p99_ns", "max_ns"},
		}
		return r
	}
	r := undrained(5e6, 19.5e9)
	for name, want := range map[string]struct {
		text, missing string
		ranked        float64
	}{
		"e2e_response_time_p50":    {"5.00 ms", "", 5e6},
		"e2e_response_time_p99":    {"> 19.5 s", "", math.Inf(1)},
		"e2e_response_time_max":    {"–", "", math.Inf(1)},
		"e2e_response_time_min":    {"1.00 ms", "", 1e6},
		"e2e_response_time_mean":   {missing: "300 of 1,000 records had not ended"},
		"e2e_response_time_stddev": {missing: "300 of 1,000 records had not ended"},
		"e2e_response_time_p99_9":  {missing: "1,000 records are too few for p99.9"},
	} {
		f, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if missing := f.Missing(r); missing != want.missing {
			t.Errorf("%s: %q is missing, want %q", name, missing, want.missing)
		}
		if ranked, known := f.Ranked(r); known != (want.missing == "") || ranked != want.ranked {
			t.Errorf("%s has the rank of %v (known: %t), want %v", name, ranked, known, want.ranked)
		}
		if v, known := f.Value(r); known != (want.missing == "" && !math.IsInf(want.ranked, 1)) || known && v != want.ranked {
			t.Errorf("%s is %v (known: %t)", name, v, known)
		}
		if text, known := f.Text(r); known && text != want.text {
			t.Errorf("%s is printed %q, want %q", name, text, want.text)
		}
	}
	const more = "e2e_response_time_p99 is more than 19.5 s, for too many records had not ended; expected "
	for expected, outcome := range map[string]string{
		"e2e_response_time_p99 <= 1h": Undecided, "e2e_response_time_p99 >= 1ms": Met, "e2e_response_time_p99 < 1s": Failed,
	} {
		e, err := ParseExpectation(expected)
		if err != nil {
			t.Fatal(err)
		}
		text := more + strings.TrimPrefix(expected, "e2e_response_time_p99 ")
		if got := e.Check(r, nil); got.Outcome != outcome || got.Text != text || got.Value != nil {
			t.Errorf("%s: %+v, want %s, %q", expected, got, outcome, text)
		}
	}
	p99, err := Named("e2e_response_time_p99")
	if err != nil {
		t.Fatal(err)
	}
	drained := run()
	drained.Time["e2e_response_time"] = result.Time{Count: 1000, P99Ns: 8e6}
	all := p99.Over([]*result.Run{drained, undrained(0, 20e9), undrained(0, 30e9)})
	if text := all.Format(p99, func(values []float64) float64 { return slices.Sorted(slices.Values(values))[1] }); text != "> 20.0 s" {
		t.Errorf("the median of 8 ms and of two bounds is %s", text)
	}
}
