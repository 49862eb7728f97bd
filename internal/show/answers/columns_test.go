package answers

import (
	"math"
	"testing"

	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func TestQuotient(t *testing.T) {
	for _, c := range []struct {
		name     string
		of, base []float64
		text     string
	}{
		{"far apart", []float64{118_576, 141_280, 161_219, 196_329, 203_583},
			[]float64{1_672_728, 1_805_861, 1_973_116, 1_973_636, 2_341_083}, "0.084 (0.060..0.11)"},
		{"one run of each", []float64{50}, []float64{100}, "0.50"},
		{"too few for an interval", []float64{40, 50, 60}, []float64{100, 100, 100}, "0.50"},
		{"a value of 0", []float64{0, 2, 4, 4, 6}, []float64{1, 2, 2, 2, 3}, "2.00"},
		{"a base of 0", []float64{1, 2, 2, 2, 3}, []float64{0, 0, 0, 0, 0}, "–"},
		{"a lower bound", []float64{2, 2, 4, 5, math.Inf(1)}, []float64{1, 2, 2, 2, 3}, "2.00"},
	} {
		if got := quotient(analysis.FromValues(c.of), analysis.FromValues(c.base)); got != c.text {
			t.Errorf("%s: %s, want %s", c.name, got, c.text)
		}
	}
}

func TestTimesThat(t *testing.T) {
	for _, c := range []struct {
		of, base []float64
		text     string
	}{
		{[]float64{20, 21, 22, 23}, []float64{10, 10.1, 10.2, 10.3}, "has 2.12 (1.94..2.30) times"},
		{[]float64{20}, []float64{10}, "has 2.00 times"},
		{[]float64{20, 21, 22}, []float64{10, 10.1, 10.2}, "has too few runs (3) to be told from"},
		{[]float64{20, 21, 22, 23, 24}, []float64{10}, "has too few runs (5 and 1) to be told from"},
		{[]float64{20}, []float64{10, 11, 12, 13, 14}, "has too few runs (1 and 5) to be told from"},
		{[]float64{20, 21, 22, 23}, []float64{19, 21.5, 22.5, 24}, "shows no difference from"},
	} {
		if got := timesThat(analysis.FromValues(c.of), analysis.FromValues(c.base)); got != c.text {
			t.Errorf("%v of %v: %s, want %s", c.of, c.base, got, c.text)
		}
	}
}

// Two sites whose clocks may be off by 1 ms each show no difference of 0.8 ms.
func TestClocksMayExplainADifference(t *testing.T) {
	at := func(ms float64) analysis.Repeated {
		r := analysis.FromValues([]float64{ms * 1e6, ms*1e6 + 1, ms*1e6 + 2, ms*1e6 + 3, ms*1e6 + 4})
		r.ClockError = 1e6
		return r
	}
	for _, c := range []struct {
		ms    float64
		shown bool
	}{{5.8, false}, {7.5, true}} {
		if got := ifUnshown(at(c.ms), at(5)); (got == "") != c.shown {
			t.Errorf("%g ms against 5 ms, each ± 1 ms: %q", c.ms, got)
		}
		if got := timesThat(at(c.ms), at(5)); (got != "shows no difference from") != c.shown {
			t.Errorf("%g ms against 5 ms, each ± 1 ms: %q", c.ms, got)
		}
	}
}
