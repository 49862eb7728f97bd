package compared

import (
	"slices"
	"strconv"
	"time"

	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

func (c *Comparison) sheets() report.Sheets {
	return report.Sheets{
		"comparison":    c.figureSheet,
		"sets":          c.setSheet,
		"configuration": c.differenceSheet,
		"checks":        c.checkSheet,
	}
}

func (c *Comparison) figureSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{
		"set", "figure", "unit", "a_runs", "a_median", "a_low", "a_high", "b_runs", "b_median", "b_low", "b_high",
		"difference_ratio", "difference_ratio_low", "difference_ratio_high", "shift", "p", "p_holm", "level", "word",
		"more_runs",
		"more_runs_to_show", "a_left_out", "b_left_out",
	}}}
	errors := slices.ContainsFunc(c.Against, func(a analysis.Against) bool {
		shifted := func(f analysis.ComparedFigure) bool { return f.A.ClockError+f.B.ClockError > 0 }
		return slices.ContainsFunc(a.Figures, shifted)
	})
	if errors {
		s.Rows[0] = append(s.Rows[0], "a_clock_error", "b_clock_error")
	}
	leftOut := func(i int) string {
		return strconv.Itoa(c.Sets[i].All + c.Sets[i].Missing - c.Sets[i].Valid - c.Sets[i].Imported)
	}
	for i, a := range c.Against {
		for _, f := range a.Figures {
			row := []string{a.Letter, f.Figure, f.Of.Kind.Unit(),
				strconv.Itoa(f.A.N), layout.Optional(f.A.Median), layout.Optional(f.A.Low), layout.Optional(f.A.High),
				strconv.Itoa(f.B.N), layout.Optional(f.B.Median), layout.Optional(f.B.Low), layout.Optional(f.B.High),
				layout.Optional(f.Difference), layout.Optional(f.Low), layout.Optional(f.High), layout.Optional(f.Shift),
				layout.Optional(f.P), layout.Optional(f.PHolm), layout.Raw(f.Level), f.Word, strconv.Itoa(f.More),
				strconv.Itoa(f.MoreToShow), leftOut(0), leftOut(i + 1)}
			if errors {
				row = append(row, layout.Raw(f.A.ClockError), layout.Raw(f.B.ClockError))
			}
			s.Add(row...)
		}
	}
	return s
}

func (c *Comparison) setSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{"set", "label", "run", "status", "started_at"}}}
	for i, set := range c.Samples {
		for _, r := range set.Runs {
			s.Add(analysis.Letter(i), set.Label, r.Dir, r.Run.Verdict.Status, date(analysis.StartedAt(&r.Run)))
		}
	}
	return s
}

func (c *Comparison) differenceSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{"set", "kind", "setting", "a", "b"}}}
	for _, a := range c.Against {
		for kind, all := range map[string][]analysis.Difference{"scenario": a.Configuration, "client": a.Clients,
			"hidden": a.Hidden} {
			for _, d := range all {
				s.Add(a.Letter, kind, d.Name, d.A, d.B)
			}
		}
	}
	slices.SortFunc(s.Rows[1:], slices.Compare[[]string])
	return s
}

func (c *Comparison) checkSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{"set", "condition", "status", "because"}}}
	for _, check := range c.Checks {
		s.Add(check.Letter, check.Condition, check.Status, check.Text)
	}
	return s
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
