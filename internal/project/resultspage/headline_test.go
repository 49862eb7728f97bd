package main

import (
	"fmt"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// The headline of an earlier tool: without and with backpressure. Five recorded runs of each decide it.
func TestHeadlineOfTheEarlierTool(t *testing.T) {
	var sets []analysis.Set
	for _, name := range []string{"20261125T082330Z-overload-tcqaq5", "20261125T094656Z-overload-tight-ncyenw"} {
		c, err := result.ReadCampaign("../../../results/" + name)
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, analysis.CellSet(c, 0))
	}
	found, err := analysis.Compare(sets, analysis.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]analysis.ComparedFigure{}
	for _, f := range found.Against[0].Figures {
		if f.A.N != 5 || f.B.N != 5 {
			t.Errorf("%s is of %d and %d runs, want 5 and 5", f.Figure, f.A.N, f.B.N)
		}
		words[f.Figure] = f
	}
	for figure, want := range map[string]string{
		"e2e_response_time_p99": analysis.WordBetter, "lag_peak": analysis.WordBetter,
		"delivered_to_acked_ratio": analysis.WordBetter, "delivered_per_s": analysis.WordWorse,
		"delivery_ratio": analysis.WordExploratory, "acked_per_s": analysis.WordExploratory,
	} {
		if got := words[figure].Word; got != want {
			t.Errorf("%s is %q, want %q", figure, got, want)
		}
	}
	if found.FiguresTested != 4 {
		t.Errorf("%d figures were tested, want 4", found.FiguresTested)
	}
	ratio := words["delivered_to_acked_ratio"]
	got := fmt.Sprintf("%.1f %.1f (%.1f to %.1f)", 100**ratio.A.Median, 100**ratio.B.Median, 100**ratio.B.Min, 100**ratio.B.Max)
	if want := "26.7 100.5 (98.4 to 100.9)"; got != want {
		t.Errorf("delivered ÷ acked is %s, want %s", got, want)
	}
}
