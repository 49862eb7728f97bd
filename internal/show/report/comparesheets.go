package report

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// sheets are the tables of a comparison.
func (c *Comparison) sheets() sheets {
	return sheets{
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
	leftOut := func(i int) string { return integer(int64(c.Sets[i].All + c.Sets[i].Missing - c.Sets[i].Valid)) }
	for i, a := range c.Against {
		for _, f := range a.Figures {
			s.Add(a.Letter, f.Figure, unitOf(f.Of),
				integer(int64(f.A.N)), optional(f.A.Median), optional(f.A.Low), optional(f.A.High),
				integer(int64(f.B.N)), optional(f.B.Median), optional(f.B.Low), optional(f.B.High),
				optional(f.Difference), optional(f.Low), optional(f.High), optional(f.Shift),
				optional(f.P), optional(f.PHolm), raw(f.Level), f.Word, integer(int64(f.More)), integer(int64(f.MoreToShow)), leftOut(0), leftOut(i+1))
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
