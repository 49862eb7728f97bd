package campaigns

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printCampaignAgainst(p *layout.Page, d *CampaignDocument) {
	if len(d.Against) == 0 {
		return
	}
	p.Heading("Against "+layout.Enumerate(analysis.SaidAll(d.study, d.bases())), ", by ranks")
	t := layout.Table{Gap: 2, Left: map[int]bool{5: true},
		Rows: [][]string{{"", "median", "difference", "bounds", "p", ""}}}
	titles := map[int]string{} // of the rows below them
	recorded := layout.Table{Left: t.Left, Rows: [][]string{t.Rows[0]}}
	for _, name := range analysis.Compared(d.study) {
		for _, row := range d.againstRows(name) {
			recorded.Add(row...)
			if len(row) == 2 {
				titles[len(t.Rows)] = row[0] + " " + row[1]
				continue
			}
			t.Add(row...)
		}
	}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: recorded, Heads: 1})
	if p.Width < layout.Width {
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

func (d *CampaignDocument) againstLegend() string {
	figures, level := analysis.FiguresNamed(analysis.Compared(d.study)), unit.ShortPercent(analysis.DefaultAlpha)
	text := fmt.Sprintf("Each variant is compared by itself (Mann-Whitney). If nothing differs, at most %s of such comparisons call %s better or worse, and at most %s any other figure (Holm).",
		level, analysis.PrimaryOf(figures, d.study.Has).Title, level)
	for _, c := range d.Against {
		if len(c.DiffersIn) > 0 {
			text += fmt.Sprintf(" %s differs from %s in %s as well.", d.study.Said(c.Variant), d.study.Said(c.Base),
				layout.Enumerate(c.DiffersIn))
		}
	}
	return text
}

func (d *CampaignDocument) bases() (bases []string) {
	for _, c := range d.Against {
		if !slices.Contains(bases, c.Base) {
			bases = append(bases, c.Base)
		}
	}
	return bases
}

func (d *CampaignDocument) againstRows(name string) (rows [][]string) {
	for _, base := range d.bases() {
		first := true
		for _, c := range d.Against {
			i := slices.IndexFunc(c.Figures, func(f analysis.ComparedFigure) bool { return f.Figure == name })
			if c.Base != base || i < 0 {
				continue
			}
			f := c.Figures[i]
			if first {
				rows, first = append(rows,
					[]string{f.Of.Title + ", " + d.study.Said(base) + ":", f.A.MedianText(f.Of)}), false
			}
			difference, bounds, p, word := compared.Shown(&f)
			rows = append(rows,
				[]string{"  " + d.study.Said(c.Variant), f.B.MedianText(f.Of), difference, bounds, p, word})
		}
	}
	return rows
}

func markdownCampaignAgainst(m *layout.Markdown, d *CampaignDocument) {
	if len(d.Against) == 0 {
		return
	}
	t := layout.Table{Left: map[int]bool{5: true},
		Rows: [][]string{{"Against " + layout.Prose(layout.Enumerate(analysis.SaidAll(d.study, d.bases()))), "median",
			"difference", "bounds", "p", "What is shown"}}}
	for _, name := range analysis.Compared(d.study) {
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
