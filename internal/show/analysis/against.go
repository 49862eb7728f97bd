package analysis

import (
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// VariantComparison is one variant of a campaign against its base. The base is the one that the
// suite names, or else the one without backpressure and with the same load and consumers. If no
// variant of the campaign has such a one, the base is the first variant. For an engine of a queue,
// it is the plain cell (see PlainOf).
type VariantComparison struct {
	Base    string `json:"base"`
	Variant string `json:"variant"`
	// DiffersIn names the settings, other than those of backpressure, that differ
	// between the two and may explain their figures.
	DiffersIn []string `json:"differs_in,omitempty"`
	// Figures are tested as if only these two were compared.
	Figures []ComparedFigure `json:"figures"`
}

var variantFigures = []string{"delivered_per_s", "lag_peak", "e2e_response_time_p99"}

var engineFigures = []string{"queue_acked_per_s", "e2e_response_time_p50", "cpu_cores"}

// Compared returns the names of the figures for comparing the campaign's variants.
func Compared(d *Study) []string {
	if slices.ContainsFunc(d.Cells, func(c Cell) bool { return c.EngineOf() != "" }) {
		return engineFigures
	}
	return variantFigures
}

// CompareVariants tests each variant against its base, as if only these two were compared. If the
// tests of all variants shared one chance of a false alarm, five runs of each could show nothing.
func CompareVariants(d *Study) []VariantComparison {
	var all []VariantComparison
	for i, cell := range d.Cells {
		base, ok := baseOf(d, i)
		if !ok || len(cell.Sample.Taken) < 2 || len(d.Cells[base].Sample.Taken) < 2 {
			continue
		}
		c := VariantComparison{Base: d.Cells[base].Label, Variant: cell.Label, Figures: []ComparedFigure{}}
		figures := FiguresNamed(Compared(d))
		found := []Against{against("B", d.Cells[base].Sample, cell.Sample, figures, false)}
		decideAll(found, DefaultAlpha, PrimaryOf(figures, d.Has))
		if cell.EngineOf() == "" {
			c.DiffersIn = besideBackpressure(found[0].Configuration)
		}
		c.Figures = append(c.Figures, found[0].Figures...)
		all = append(all, c)
	}
	return all
}

// FiguresNamed returns the figures with these names, and skips unknown names.
func FiguresNamed(names []string) (figures []figure.Figure) {
	for _, name := range names {
		if f, err := figure.Named(name); err == nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// besideBackpressure returns the names of differing settings that do not begin with
// "backpressure.".
func besideBackpressure(all []Difference) (names []string) {
	for _, d := range all {
		if !strings.HasPrefix(d.Name, "backpressure.") {
			names = append(names, d.Name)
		}
	}
	return names
}

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
	if len(d.references) > 0 {
		return 0, false
	}
	base = slices.IndexFunc(d.Cells, func(c Cell) bool { return sameBut(c.Values, cell.Values, axis) })
	return base, base != i && d.Cells[base].Valid > 0
}

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
