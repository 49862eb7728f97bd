package compared

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func (c *Comparison) markdown(w io.Writer) error {
	m := &layout.Markdown{}
	m.Line("### ", c.headline())
	for i := range c.Against[1:] {
		m.Paragraph("**", layout.Prose(againstSummary(&c.Against[i+1])), "**")
	}
	markdownConditions(m, c.Checks)
	sets := layout.Table{Left: map[int]bool{1: true, 2: true, 3: true},
		Rows: [][]string{{"", "Runs of", "How many", "When"}}}
	for i, s := range c.Samples {
		sets.Add(analysis.Letter(i), layout.Prose(s.Label), described(s), when(s))
	}
	for i := range c.Against {
		markdownAgainst(m, &c.Against[i])
	}
	m.Table(sets)
	var warnings []string
	for _, warning := range c.Warnings {
		warnings = append(warnings, "⚠️ "+layout.Prose(warning))
	}
	m.List(warnings)
	m.Paragraph(layout.Prose(strings.Join(c.legend(), " ")))
	return m.Print(w)
}

func (c *Comparison) headline() string {
	switch {
	case c.Failed():
		return "❌ " + layout.Prose(againstSummary(&c.Against[0]))
	case c.Undecided():
		return "❔ " + layout.Prose(againstSummary(&c.Against[0]))
	case len(c.Checks) > 0:
		return "✅ " + layout.Prose(againstSummary(&c.Against[0]))
	}
	return layout.Prose(againstSummary(&c.Against[0]))
}

func markdownConditions(m *layout.Markdown, checks []Check) {
	if len(checks) == 0 {
		return
	}
	t := layout.Table{Left: map[int]bool{1: true, 2: true, 3: true},
		Rows: [][]string{{"Fails if", "Set", "Status", "Because"}}}
	for _, check := range checks {
		t.Add(layout.Code(check.Condition), check.Letter, check.Status, layout.Prose(check.Text))
	}
	m.Table(t)
}

func markdownAgainst(m *layout.Markdown, a *analysis.Against) {
	t := layout.Table{Left: map[int]bool{6: true},
		Rows: [][]string{{a.Letter + " against A", "A, median", a.Letter + ", median", "Difference", "Bounds", "p",
			"What is shown"}}}
	for _, f := range a.Figures {
		word := wordOf(&f)
		if slices.Contains([]string{analysis.WordBetter, analysis.WordWorse, analysis.WordHigher, analysis.WordLower},
			f.Word) {
			word = "**" + word + "**"
		}
		if f.MoreToShow > 0 {
			word += fmt.Sprintf(" (%s more of each would, if it is real)", unit.Count(int64(f.MoreToShow)))
		}
		t.Add(f.Of.Title, f.A.MedianText(f.Of), f.B.MedianText(f.Of), change(&f), boundsOf(&f), pOf(&f), word)
	}
	m.Table(t)
	if len(a.Missing) > 0 {
		m.Paragraph("Not in both, and not compared: ", layout.Prose(strings.Join(a.Lacked(), ", ")), ".")
	}
	d := layout.Table{Left: map[int]bool{1: true, 2: true}, Rows: [][]string{{"Setting", "A", a.Letter}}}
	for _, all := range [][]analysis.Difference{a.Told(a.Configuration), a.Told(a.Clients)} {
		for _, x := range all {
			d.Add(layout.Code(x.Name), layout.Code(x.A), layout.Code(x.B))
		}
	}
	for _, x := range a.Told(a.Hidden) {
		d.Add("⚠️ "+layout.Prose(x.Name)+" (no scenario asks for it)", layout.Code(x.A), layout.Code(x.B))
	}
	if len(d.Rows) > 1 {
		m.Table(d)
	}
	if text := untold(a); text != "" {
		m.Paragraph(layout.Prose(text))
	}
}
