package report

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// markdown writes the campaign for a pull request.
func (d *CampaignDocument) markdown(w io.Writer) error {
	m := &markdown{}
	told := d.Answer.Name != "" // below its table
	if told {
		m.line("### ", prose(cmp.Or(d.Campaign.Question, d.Campaign.Name)))
	} else {
		m.line("### ", prose(d.Answer.Sentence))
	}
	if d.Campaign.Question != "" && !told {
		m.paragraph("**", prose(d.Campaign.Question), "**")
	}
	if by := d.Answer.rankedBy(); by != "" {
		m.paragraph(prose("Ranked by " + by + "."))
	}
	m.paragraph(prose(d.state()))
	switch all := d.variants(); {
	case d.Search != nil:
		m.search(d)
	case told:
		m.answerTable(d)
	case underBackpressure(all):
		m.comparison(all)
		m.campaignAgainst(d)
	default:
		m.cells(d)
		m.campaignAgainst(d)
	}
	found, warnings := d.sentences()
	for i := range found {
		found[i] = prose(found[i])
	}
	for _, warning := range warnings {
		found = append(found, "⚠️ "+prose(warning))
	}
	m.list(found)
	_, err := io.WriteString(w, m.b.String())
	return err
}

// search writes what a search has tried.
func (m *markdown) search(d *CampaignDocument) {
	if len(d.Search.Expectations) > 0 {
		m.paragraph("A rate holds if ", code(strings.Join(d.Search.Expectations, ", ")), ".")
	}
	metric := words(d.Search.ResponseMetric)
	t := table{left: map[int]bool{1: true, 6: true}, rows: [][]string{{"Probe", "Phase", "Offered", "Acked", metric + " p50", "p99", "Outcome"}}}
	for i, probe := range d.Search.Probes {
		t.add(integer(int64(i+1)), probe.Phase, offeredBy(probe), unit.PerSecond(probe.AckedPerS),
			optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns),
			prose(strings.Join(append([]string{outcomeOf(probe)}, probe.Failures...), "; ")))
	}
	m.table(t)
	var items []string
	for _, caveat := range d.Search.Caveats {
		items = append(items, "⚠️ "+prose(caveat))
	}
	m.list(items)
}

// cells writes one table: Markdown scrolls where a terminal would wrap.
func (m *markdown) cells(d *CampaignDocument) {
	shown, same := d.varying()
	t := table{left: map[int]bool{}, rows: [][]string{{prose(d.axes()), "Runs"}}}
	for _, f := range shown {
		t.rows[0] = append(t.rows[0], f.Title)
	}
	for i := range d.Cells {
		t.add(d.Cells[i].row(d, shown)...)
	}
	m.table(t)
	m.paragraph(prose(strings.Join(d.legend("in parentheses"), " ")))
	if len(same) > 0 {
		m.paragraph("The same in every run: ", prose(strings.Join(same, ", ")), ".")
	}
}

// row is the cell's: medians with what bounds them, the best one bold.
func (c *CellDocument) row(d *CampaignDocument, shown []figure.Figure) []string {
	name := prose(c.label)
	if d.Answer.Status == AnswerBest && c.label == d.Answer.Best {
		name = "**" + name + "**"
	}
	row := []string{name, c.runs()}
	for _, f := range shown {
		row = append(row, c.mark(c.Figures[f.Name], c.Figures[f.Name].bounded(f)))
	}
	return row
}

// sheets are the tables of a campaign, and those of its runs.
func (d *CampaignDocument) sheets() sheets {
	all := runSheets(slices.DeleteFunc(slices.Clone(d.recorded.Runs), isNil))
	all["campaign"] = d.cellSheet
	if d.Search != nil {
		all["probes"] = d.probeSheet
	}
	return all
}

// cellSheet has a row for each cell and figure.
func (d *CampaignDocument) cellSheet() sheet {
	s := sheet{head: []string{"cell"}}
	for _, axis := range d.Axes {
		s.head = append(s.head, axis.Path)
	}
	s.head = append(s.head, "runs", "valid_runs", "figure", "unit", "n", "median", "median_low", "median_high", "confidence", "min", "max", "mean", "stddev")
	for _, cell := range d.Cells {
		values := make([]string, len(d.Axes))
		copy(values, cell.Values)
		for _, f := range d.figures {
			r, known := cell.Figures[f.Name]
			if !known {
				continue
			}
			row := append([]string{cell.Name}, values...)
			s.add(append(row, integer(int64(len(cell.Runs))), integer(int64(cell.Valid)), f.Name, unitOf(f),
				integer(int64(r.N)), optional(r.Median), optional(r.Low), optional(r.High), raw(r.Reached),
				optional(r.Min), optional(r.Max), optional(r.Mean), optional(r.Stddev))...)
		}
	}
	return s
}

func (d *CampaignDocument) probeSheet() sheet {
	s := sheet{head: []string{"probe", "phase", "offered_per_s", "acked_per_s", "response_p50_ns", "response_p99_ns", "passed", "stalled", "limit", "failures"}}
	for i, p := range d.Search.Probes {
		s.add(integer(int64(i+1)), p.Phase, raw(p.OfferedPerS), raw(p.AckedPerS), optional(p.ResponseP50Ns), optional(p.ResponseP99Ns),
			flag(p.Passed), flag(p.Stalled), p.Limit, strings.Join(p.Failures, "; "))
	}
	return s
}
