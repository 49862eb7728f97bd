package pages

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func decodedWords(c *crosshair, series int) (words []string) {
	at := c.Series[series].At
	for i := 0; i < len(at); i += c.Digits {
		place := 0
		for _, digit := range at[i : i+c.Digits] {
			place = place*64 + strings.IndexRune(digits64, digit)
		}
		words = append(words, c.Words[place])
	}
	return words
}

func TestCodedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		said := rapid.SliceOfN(rapid.SliceOfN(rapid.StringN(0, 2, -1), 1, 3000), 1, 4).Draw(t, "words")
		c := &crosshair{}
		c.code(make([]string, len(said)), said)
		for i, words := range said {
			if got := decodedWords(c, i); !slices.Equal(got, words) {
				t.Fatalf("%q became %q", words, got)
			}
		}
	})
}

// The text of a moment covers all samples of the lag within the moment. A bound that never changes
// is one long step.
func TestCrosshair(t *testing.T) {
	count := func(v float64) string { return unit.Count(int64(v)) }
	spec := draw.Spec{X: draw.Free("time", draw.Linear, count), Panels: []draw.Panel{
		{Y: draw.Free("rate", draw.Linear, count), Series: []draw.Series{
			{Name: "acked", Kind: draw.Steps, X0: []float64{0, 10, 20}, X1: []float64{10, 20, 30}, Y: []float64{5, math.NaN(), 7}},
			{Name: "between", Kind: draw.Band, X0: []float64{0, 10}, X1: []float64{10, 20}, Low: []float64{1, 2}, High: []float64{3, 2}},
		}},
		{Y: draw.Free("lag", draw.Linear, count), Series: []draw.Series{
			{Name: "lag", X0: []float64{0, 4, 11, 17}, X1: []float64{4, 11, 17, 30}, Y: []float64{9, 2, 4, 6}},
			{Name: "bound", Kind: draw.Steps, X0: []float64{0}, X1: []float64{30}, Y: []float64{8}},
		}},
	}}
	p := &Page{}
	c := p.crosshairOf(spec)
	if c == nil || p.crosshairOf(spec).Grid != c.Grid || len(p.grids) != 1 {
		t.Fatalf("%+v, grids %+v", c, p.grids)
	}
	want := map[string]string{"acked": "5|–|7", "between": "1 to 3|2|–", "lag": "2 to 9|2 to 6|6", "bound": "8|8|8"}
	for i, s := range c.Series {
		if got := strings.Join(decodedWords(c, i), "|"); got != strings.ReplaceAll(want[s.Name], "–", unit.Absent) {
			t.Errorf("%s: %s, want %s", s.Name, got, want[s.Name])
		}
	}
	if !slices.Equal(p.grids[0].X, []float64{5, 15, 25}) || c.Last() != 2 ||
		c.First() != "0; acked 5; between 1 to 3; lag 2 to 9; bound 8" {
		t.Errorf("grid %v, the last is %d, the first %q", p.grids[0].X, c.Last(), c.First())
	}
}
