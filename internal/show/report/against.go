package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
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

// compared are the figures by which the campaign's variants are compared.
func (d *CampaignDocument) compared() []string {
	if slices.ContainsFunc(d.Cells, func(c CellDocument) bool { return c.engineOf() != "" }) {
		return engineFigures
	}
	return variantFigures
}

// compareVariants tests each variant against its base. Each is a question of its own,
// as if two had been compared and no others: with five runs of each, as many tests as
// a study has variants could not show anything if they shared one chance of a false
// alarm.
func (d *CampaignDocument) compareVariants() []VariantComparison {
	var all []VariantComparison
	for i, cell := range d.Cells {
		base, ok := d.baseOf(i)
		if !ok || len(cell.sample.runs) < 2 || len(d.Cells[base].sample.runs) < 2 {
			continue
		}
		c := VariantComparison{Base: d.Cells[base].label, Variant: cell.label, Figures: []ComparedFigure{}}
		figures := figuresNamed(d.compared())
		found := []Against{against("B", d.Cells[base].sample, cell.sample, figures)}
		decideAll(found, DefaultAlpha, primaryOf(figures, d.has))
		if cell.engineOf() == "" { // else it is the engine that is compared
			c.DiffersIn = besideBackpressure(found[0].Configuration)
		}
		c.Figures = append(c.Figures, found[0].Figures...)
		all = append(all, c)
	}
	return all
}

func figuresNamed(names []string) (figures []figure.Figure) {
	for _, name := range names {
		if f, err := figure.Named(name); err == nil {
			figures = append(figures, f)
		}
	}
	return figures
}

// besideBackpressure names the settings of differences that are none of backpressure.
func besideBackpressure(all []Difference) (names []string) {
	for _, d := range all {
		if !strings.HasPrefix(d.Name, "backpressure.") {
			names = append(names, d.Name)
		}
	}
	return names
}

// baseOf is the cell that one is compared with; none for a base itself, for cells
// without a valid run, and where a campaign has no variants.
func (d *CampaignDocument) baseOf(i int) (base int, ok bool) {
	axis := slices.IndexFunc(d.Axes, func(a result.Axis) bool { return a.Path == variantAxis })
	cell := d.Cells[i]
	if cell.engineOf() != "" {
		return d.plainAt(&cell)
	}
	if axis < 0 || cell.Valid == 0 || axis >= len(cell.Values) {
		return 0, false
	}
	if reference, known := d.references[&cell.sample.runs[0].Run]; known {
		base = slices.IndexFunc(d.Cells, func(c CellDocument) bool {
			return len(c.sample.runs) > 0 && c.sample.runs[0].Run.Run.Name == reference.Name
		})
		return base, base >= 0 && base != i
	}
	if len(d.references) > 0 { // another load than any of them, or other consumers
		return 0, false
	}
	base = slices.IndexFunc(d.Cells, func(c CellDocument) bool { return sameBut(c.Values, cell.Values, axis) })
	return base, base != i && d.Cells[base].Valid > 0
}

// plainAt is where the plain cell is that one with another engine is held against.
func (d *CampaignDocument) plainAt(c *CellDocument) (at int, ok bool) {
	base := d.plainOf(c)
	if base == nil || c.Valid == 0 {
		return 0, false
	}
	return slices.IndexFunc(d.Cells, func(other CellDocument) bool { return other.Name == base.Name }), true
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

// printCampaignAgainst prints how each variant differs from its base, figure by figure.
func printCampaignAgainst(p *layout.Page, d *CampaignDocument) {
	if len(d.Against) == 0 {
		return
	}
	p.Heading("Against "+layout.Enumerate(d.saidAll(d.bases())), ", by ranks")
	t := layout.Table{Gap: 2, Left: map[int]bool{5: true}, Rows: [][]string{{"", "median", "difference", "bounds", "p", ""}}}
	titles := map[int]string{} // of the rows below them
	for _, name := range d.compared() {
		for _, row := range d.againstRows(name) {
			if len(row) == 2 {
				titles[len(t.Rows)] = row[0] + " " + row[1]
				continue
			}
			t.Add(row...)
		}
	}
	if p.Width < layout.Width { // the medians are in the table above
		t = t.Without(1)
	}
	for i, line := range t.Text() {
		if i == 0 {
			line = p.Paint(layout.Bold, line)
		}
		if title := titles[i]; title != "" {
			p.Line(title)
		}
		p.Line(line)
	}
	p.Text(0, d.againstLegend())
}

// againstLegend says how far the words can be trusted.
func (d *CampaignDocument) againstLegend() string {
	figures, level := figuresNamed(d.compared()), percent(DefaultAlpha)
	text := fmt.Sprintf("Each variant is a comparison of its own (Mann-Whitney): of those in which nothing differs, at most %s call %s better or worse, and at most %s any of the others (Holm).",
		level, primaryOf(figures, d.has).Title, level)
	for _, c := range d.Against {
		if len(c.DiffersIn) > 0 {
			text += fmt.Sprintf(" %s differs from %s in %s as well.", d.said(c.Variant), d.said(c.Base), layout.Enumerate(c.DiffersIn))
		}
	}
	return text
}

// bases are the cells that others were compared with, each once.
func (d *CampaignDocument) bases() (bases []string) {
	for _, c := range d.Against {
		if !slices.Contains(bases, c.Base) {
			bases = append(bases, c.Base)
		}
	}
	return bases
}

// againstRows are those of one figure: a row for each base with its median, and below
// it one for each variant that was compared with it.
func (d *CampaignDocument) againstRows(name string) (rows [][]string) {
	for _, base := range d.bases() {
		first := true
		for _, c := range d.Against {
			i := slices.IndexFunc(c.Figures, func(f ComparedFigure) bool { return f.Figure == name })
			if c.Base != base || i < 0 {
				continue
			}
			f := c.Figures[i]
			if first {
				rows, first = append(rows, []string{f.figure.Title + ", " + d.said(base) + ":", f.A.median(f.figure)}), false
			}
			word := f.Word
			if f.constant() {
				word = sameInAll
			}
			rows = append(rows, []string{"  " + d.said(c.Variant), f.B.median(f.figure), f.change(), f.bounds(), f.p(), word})
		}
	}
	return rows
}

// markdownCampaignAgainst is the same for a pull request.
func markdownCampaignAgainst(m *layout.Markdown, d *CampaignDocument) {
	if len(d.Against) == 0 {
		return
	}
	t := layout.Table{Left: map[int]bool{5: true}, Rows: [][]string{{"Against " + layout.Prose(layout.Enumerate(d.saidAll(d.bases()))), "median", "difference", "bounds", "p", "What is shown"}}}
	for _, name := range d.compared() {
		for _, row := range d.againstRows(name) {
			row[0] = layout.Prose(strings.TrimSpace(row[0]))
			if len(row) == 2 {
				row[0] = "**" + strings.TrimSuffix(row[0], ":") + "**"
			}
			t.Add(row...)
		}
	}
	m.Table(t)
	m.Paragraph(layout.Prose(d.againstLegend()))
}

// markdownComparison is the table of variants for a pull request: a column for each, medians
// with their ranges.
func markdownComparison(m *layout.Markdown, compared []variant) {
	rows := comparedRows(compared)
	for i := range rows {
		rows[i].label = cmp.Or(rows[i].full, rows[i].label)
	}
	plain := tableOf(compared, rows)
	t := layout.Table{}
	for i := 0; i < len(plain.Rows); i++ {
		row := slices.Clone(plain.Rows[i])
		if len(row) == 0 {
			continue
		}
		row[0] = layout.Prose(strings.TrimSpace(row[0]))
		if i+1 < len(plain.Rows) && len(plain.Rows[i+1]) > 0 && plain.Rows[i+1][0] == "" { // the ranges
			i++
			for c, extent := range plain.Rows[i][1:] {
				if extent != "" {
					row[c+1] += " (" + extent + ")"
				}
			}
		}
		t.Add(row...)
	}
	m.Table(t)
	m.Paragraph(layout.Prose(strings.Join(slices.Concat([]string{repeats(compared)}, boundNotes(compared), referenceNotes(compared)), " ")))
}
