package campaigns

import (
	"cmp"
	"io"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/answers"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func (d *CampaignDocument) markdown(w io.Writer) error {
	m, mark := &layout.Markdown{}, d.judged.Mark()
	told := d.Answer.Name != "" // the answer is below the answer's table
	switch {
	case told:
		m.Line("### ", mark, layout.Prose(cmp.Or(d.Campaign.Question, d.Campaign.Name)))
	case d.ofBackpressure():
		m.Line("### ", mark, layout.Prose(d.Campaign.Question))
		m.Paragraph(d.Answer.Markdown(layout.Prose))
	default:
		m.Line("### ", mark, layout.Prose(d.Answer.Sentence))
		if d.Campaign.Question != "" {
			m.Paragraph("**", layout.Prose(d.Campaign.Question), "**")
		}
	}
	report.MarkdownExpected(m, d.judged)
	if by := d.Answer.rankedBy(); by != "" {
		m.Paragraph(layout.Prose("Ranked by " + by + "."))
	}
	m.Paragraph(layout.Prose(d.state()))
	switch all := d.study.Variants(); {
	case d.Search != nil:
		markdownSearch(m, d)
	case told:
		markdownAnswerTable(m, d)
	case analysis.UnderBackpressure(all):
		report.MarkdownSideBySide(m, all)
		markdownCampaignAgainst(m, d)
	default:
		markdownCells(m, d)
		markdownCampaignAgainst(m, d)
	}
	found, warnings := d.sentences()
	for i := range found {
		found[i] = layout.Prose(found[i])
	}
	for _, warning := range warnings {
		found = append(found, "⚠️ "+layout.Prose(warning))
	}
	m.List(found)
	return m.Print(w)
}

func markdownSearch(m *layout.Markdown, d *CampaignDocument) {
	if len(d.Search.Expectations) > 0 {
		m.Paragraph("A rate holds if ", layout.Code(strings.Join(d.Search.Expectations, ", ")), ".")
	}
	metric := layout.Words(d.Search.ResponseMetric)
	t := layout.Table{Left: map[int]bool{1: true, 6: true},
		Rows: [][]string{{"Probe", "Phase", "Offered", "Acked", metric + " p50", "p99", "Outcome"}}}
	for i, probe := range d.Search.Probes {
		t.Add(strconv.Itoa(i+1), probe.Phase, offeredBy(probe), unit.PerSecond(probe.AckedPerS),
			optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns),
			layout.Prose(strings.Join(append([]string{outcomeOf(probe)}, probe.Failures...), "; ")))
	}
	m.Table(t)
	var items []string
	for _, caveat := range d.Search.Caveats {
		items = append(items, "⚠️ "+layout.Prose(caveat))
	}
	m.List(items)
}

func markdownCells(m *layout.Markdown, d *CampaignDocument) {
	shown, same := d.varying()
	t := layout.Table{Left: map[int]bool{}, Rows: [][]string{{layout.Prose(analysis.CellsHead(d.study)), "Runs"}}}
	for _, f := range shown {
		t.Rows[0] = append(t.Rows[0], f.Title)
	}
	for i := range d.Cells {
		t.Add(d.Cells[i].row(d, shown)...)
	}
	m.Table(t)
	m.Paragraph(layout.Prose(strings.Join(d.legend("in parentheses"), " ")))
	if len(same) > 0 {
		m.Paragraph("The same in every run: ", layout.Prose(strings.Join(same, ", ")), ".")
	}
}

func (c *CellDocument) row(d *CampaignDocument, shown []figure.Figure) []string {
	name := layout.Prose(c.Label)
	if d.Answer.Status == analysis.AnswerBest && c.Label == d.Answer.Best {
		name = "**" + name + "**"
	}
	row := []string{name, answers.CellRuns(&c.Cell)}
	for _, f := range shown {
		row = append(row, answers.CellMark(&c.Cell, c.Figures[f.Name], c.Figures[f.Name].Bounded(f)))
	}
	return row
}

func (d *CampaignDocument) sheets() report.Sheets {
	all := report.RunSheets(slices.DeleteFunc(slices.Clone(d.study.Recorded.Runs),
		func(r *result.Recorded) bool { return r == nil }))
	all["campaign"] = d.cellSheet
	if d.Search != nil {
		all["probes"] = d.probeSheet
	}
	return all
}

func (d *CampaignDocument) cellSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{"cell"}}}
	for _, axis := range d.Axes {
		s.Rows[0] = append(s.Rows[0], axis.Path)
	}
	s.Rows[0] = append(s.Rows[0], "runs", "valid_runs", "figure", "unit", "n", "median", "median_low", "median_high",
		"confidence", "min", "max", "mean", "stddev")
	errors := slices.ContainsFunc(d.Cells, func(c CellDocument) bool {
		return slices.ContainsFunc(d.study.Figures, func(f figure.Figure) bool { return c.Figures[f.Name].ClockError > 0 })
	})
	if errors {
		s.Rows[0] = append(s.Rows[0], "clock_error")
	}
	for _, cell := range d.Cells {
		values := make([]string, len(d.Axes))
		copy(values, cell.Values)
		for _, f := range d.study.Figures {
			r, known := cell.Figures[f.Name]
			if !known {
				continue
			}
			row := append([]string{cell.Name}, values...)
			row = append(row, strconv.Itoa(len(cell.Runs)), strconv.Itoa(cell.Valid), f.Name, f.Kind.Unit(),
				strconv.Itoa(r.N), layout.Optional(r.Median), layout.Optional(r.Low), layout.Optional(r.High),
				layout.Raw(r.Reached), layout.Optional(r.Min), layout.Optional(r.Max), layout.Optional(r.Mean), layout.Optional(r.Stddev))
			if errors {
				row = append(row, layout.Raw(r.ClockError))
			}
			s.Add(row...)
		}
	}
	return s
}

func (d *CampaignDocument) probeSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{"probe", "phase", "offered_per_s", "acked_per_s", "response_p50_ns",
		"response_p99_ns", "passed", "stalled", "limit", "failures"}}}
	for i, p := range d.Search.Probes {
		s.Add(strconv.Itoa(i+1), p.Phase, layout.Raw(p.OfferedPerS), layout.Raw(p.AckedPerS),
			layout.Optional(p.ResponseP50Ns), layout.Optional(p.ResponseP99Ns),
			strconv.FormatBool(p.Passed), strconv.FormatBool(p.Stalled), p.Limit, strings.Join(p.Failures, "; "))
	}
	return s
}

func markdownAnswerTable(m *layout.Markdown, d *CampaignDocument) {
	if d.Table != nil {
		t := layout.Table{Left: d.answered.Left}
		for _, row := range d.answered.Rows {
			cells := make([]string, len(row))
			for i, text := range row {
				cells[i] = layout.Prose(text)
			}
			t.Add(cells...)
		}
		m.Table(t)
		m.Paragraph(layout.Prose(strings.Join(append(d.legend("in parentheses"), d.Table.Notes...), " ")))
	}
	m.Paragraph(d.Answer.Markdown(layout.Prose))
}

// Markdown returns the answer as a sentence, or as a list of its points. escape is given the texts.
func (a *Answer) Markdown(escape func(string) string) string {
	if len(a.Points) == 0 {
		return "**" + escape(a.Sentence) + "**"
	}
	items := []string{"- **" + escape(a.Points[0]) + "**"}
	for _, point := range a.Points[1:] {
		items = append(items, "- "+escape(point))
	}
	return strings.Join(items, "\n")
}
