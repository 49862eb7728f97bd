package answers

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func TestLeastAdded(t *testing.T) {
	const name = "e2e_response_time_p50"
	low, wide, high := []float64{10, 11, 12, 13, 14}, []float64{9, 10.5, 12.5, 14.5, 15}, []float64{20, 21, 22, 23, 24}
	for _, c := range []struct {
		name       string
		base, with []float64
		want       string
	}{
		{"it adds", low, high, "plain"},
		{"it adds nothing to plain at its own, higher load", high, high, noneBest},
		{"not told apart", low, wide, noneBest},
		{"shorter than that of plain", high, low, noneBest},
		{"one run of it", low, high[:1], "plain, with too few runs (1 to 5) to tell markers from it"},
	} {
		d := &analysis.Study{By: analysis.FigureCalled(name), Cells: []analysis.Cell{
			{Name: "plain", Figures: map[string]analysis.Repeated{name: analysis.FromValues(low)}},
			{Name: "markers", Figures: map[string]analysis.Repeated{name: analysis.FromValues(c.with)}},
		}}
		bases := []analysis.Repeated{analysis.FromValues(low), analysis.FromValues(c.base)}
		if got := leastAdded(d, bases); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
