package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// markdown writes the comparison for a pull request.
func (c *Comparison) markdown(w io.Writer) error {
	m := &markdown{}
	m.line("### ", c.headline())
	for i := range c.Against[1:] {
		m.paragraph("**", prose(c.Against[i+1].summary()), "**")
	}
	m.conditions(c.Checks)
	sets := table{left: map[int]bool{1: true, 2: true, 3: true}, rows: [][]string{{"", "Runs of", "How many", "When"}}}
	for i, s := range c.samples {
		sets.add(letter(i), prose(s.Label), s.described(), s.when())
	}
	for i := range c.Against {
		m.against(&c.Against[i])
	}
	m.table(sets)
	var warnings []string
	for _, warning := range c.Warnings {
		warnings = append(warnings, "⚠️ "+prose(warning))
	}
	m.list(warnings)
	m.paragraph(prose(strings.Join(c.legend(), " ")))
	_, err := io.WriteString(w, m.b.String())
	return err
}

// headline is the first thing that a reader of a pull request sees.
func (c *Comparison) headline() string {
	switch {
	case c.Failed():
		return "❌ " + prose(c.Against[0].summary())
	case c.Undecided():
		return "❔ " + prose(c.Against[0].summary())
	case len(c.Checks) > 0:
		return "✅ " + prose(c.Against[0].summary())
	}
	return prose(c.Against[0].summary())
}

func (m *markdown) conditions(checks []Check) {
	if len(checks) == 0 {
		return
	}
	t := table{left: map[int]bool{1: true, 2: true, 3: true}, rows: [][]string{{"Fails if", "Set", "Status", "Because"}}}
	for _, check := range checks {
		t.add(code(check.Condition), check.Letter, check.Status, prose(check.Text))
	}
	m.table(t)
}

func (m *markdown) against(a *Against) {
	t := table{left: map[int]bool{6: true}, rows: [][]string{{a.Letter + " against A", "A, median", a.Letter + ", median", "Difference", "Bounds", "p", "What is shown"}}}
	for _, f := range a.Figures {
		word := f.text()
		if slices.Contains([]string{WordBetter, WordWorse, WordHigher, WordLower}, f.Word) {
			word = "**" + word + "**"
		}
		if f.MoreToShow > 0 {
			word += fmt.Sprintf(" (%s more of each would, if it is real)", unit.Count(int64(f.MoreToShow)))
		}
		t.add(f.figure.Title, f.A.median(f.figure), f.B.median(f.figure), f.change(), f.bounds(), f.p(), word)
	}
	m.table(t)
	if len(a.Missing) > 0 {
		m.paragraph("Not in both, and not compared: ", prose(strings.Join(a.Missing, ", ")), ".")
	}
	d := table{left: map[int]bool{1: true, 2: true}, rows: [][]string{{"Setting", "A", a.Letter}}}
	for _, all := range [][]Difference{a.told(a.Configuration), a.told(a.Clients)} {
		for _, x := range all {
			d.add(code(x.Name), code(x.A), code(x.B))
		}
	}
	for _, x := range a.told(a.Hidden) {
		d.add("⚠️ "+prose(x.Name)+" (no scenario asks for it)", code(x.A), code(x.B))
	}
	if len(d.rows) > 1 {
		m.table(d)
	}
	if text := a.untold(); text != "" {
		m.paragraph(prose(text))
	}
}
