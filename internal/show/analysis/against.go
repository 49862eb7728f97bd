package analysis

import (
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// VariantComparison is one variant of a campaign against its base: the one without
// backpressure that offered the same to the same consumers, or else the first.
type VariantComparison struct {
	Base    string `json:"base"`
	Variant string `json:"variant"`
	// DiffersIn names the settings beside those of backpressure that differ between the
	// two, and may have a part in what their figures show.
	DiffersIn []string `json:"differs_in,omitempty"`
	// Figures are tested as a comparison of these two and of no others.
	Figures []ComparedFigure `json:"figures"`
}

// variantFigures are what variants are compared by: what reaches the consumers, what
// waits for them, and for how long.
var variantFigures = []string{"delivered_per_s", "lag_peak", "e2e_response_time_p99"}

// engineFigures are the same of the engines of a queue, each against plain.
var engineFigures = []string{"queue_acked_per_s", "e2e_response_time_p50", "cpu_cores"}

// Compared are the figures by which the campaign's variants are compared.
func Compared(d *Study) []string {
	if slices.ContainsFunc(d.Cells, func(c Cell) bool { return c.EngineOf() != "" }) {
		return engineFigures
	}
	return variantFigures
}

// CompareVariants tests each variant against its base. Each is a question of its own,
// as if two had been compared and no others: with five runs of each, as many tests as
// a study has variants could not show anything if they shared one chance of a false
// alarm.
func CompareVariants(d *Study) []VariantComparison {
	var all []VariantComparison
	for i, cell := range d.Cells {
		base, ok := baseOf(d, i)
		if !ok || len(cell.Sample.Taken) < 2 || len(d.Cells[base].Sample.Taken) < 2 {
			continue
		}
		c := VariantComparison{Base: d.Cells[base].Label, Variant: cell.Label, Figures: []ComparedFigure{}}
		figures := FiguresNamed(Compared(d))
		found := []Against{against("B", d.Cells[base].Sample, cell.Sample, figures)}
		decideAll(found, DefaultAlpha, PrimaryOf(figures, d.Has))
		if cell.EngineOf() == "" { // else it is the engine that is compared
			c.DiffersIn = BesideBackpressure(found[0].Configuration)
		}
		c.Figures = append(c.Figures, found[0].Figures...)
		all = append(all, c)
	}
	return all
}

// FiguresNamed are the figures of these names that there are.
func FiguresNamed(names []string) (figures []figure.Figure) {
	for _, name := range names {
		if f, err := figure.Named(name); err == nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// BesideBackpressure names the settings of differences that are none of backpressure.
func BesideBackpressure(all []Difference) (names []string) {
	for _, d := range all {
		if !strings.HasPrefix(d.Name, "backpressure.") {
			names = append(names, d.Name)
		}
	}
	return names
}

// baseOf is the cell that one is compared with; none for a base itself, for cells
// without a valid run, and where a campaign has no variants.
func baseOf(d *Study, i int) (base int, ok bool) {
	axis := slices.IndexFunc(d.Axes, func(a result.Axis) bool { return a.Path == variantAxis })
	cell := d.Cells[i]
	if cell.EngineOf() != "" {
		return plainAt(d, &cell)
	}
	if axis < 0 || cell.Valid == 0 || axis >= len(cell.Values) {
		return 0, false
	}
	if named := d.NamedBase(&cell); named != nil {
		return slices.IndexFunc(d.Cells, func(c Cell) bool { return c.Name == named.Name }), named.Valid > 0
	}
	if reference, known := d.references[&cell.Sample.Taken[0].Run]; known {
		base = slices.IndexFunc(d.Cells, func(c Cell) bool {
			return len(c.Sample.Taken) > 0 && c.Sample.Taken[0].Run.Run.Name == reference.Name
		})
		return base, base >= 0 && base != i
	}
	if len(d.references) > 0 { // another load than any of them, or other consumers
		return 0, false
	}
	base = slices.IndexFunc(d.Cells, func(c Cell) bool { return sameBut(c.Values, cell.Values, axis) })
	return base, base != i && d.Cells[base].Valid > 0
}

// sameBut tells whether cells have the same values, but for that of one axis.
func sameBut(a, b []string, axis int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if i != axis && a[i] != b[i] {
			return false
		}
	}
	return true
}
