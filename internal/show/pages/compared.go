package pages

import (
	"cmp"
	"math"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Comparison returns the page of sets of runs against the first.
func Comparison(c *compared.Comparison) *Page {
	p := &Page{Kind: "Comparison", Title: "Runs against each other"}
	if len(c.Sets) == 2 {
		p.Title = c.Sets[1].Label + " against " + c.Sets[0].Label
	}
	valid, imported, all := 0, 0, 0
	for _, s := range c.Sets {
		valid, imported, all = valid+s.Valid, imported+s.Imported, all+s.All+s.Missing
	}
	p.Badges = []Badge{validRuns(valid, imported, all)}
	if twice := c.Head.Twice(); twice != "" {
		p.Remarks = append(p.Remarks, Text{Doubtful, twice})
	}
	p.sections(c.Sections(), "What is shown")
	p.charts("Chart of differences", []shownChart{{"differences", true}}, chart.Input{Differences: differencesOf(c)})
	var runs []*result.Recorded
	for round := 0; ; round++ { // the first run of each set, then the second: the limit must not exclude a set
		more := false
		for _, s := range c.Samples {
			if round < len(s.Taken) {
				runs, more = append(runs, s.Taken[round]), true
			}
		}
		if !more {
			break
		}
	}
	p.severalCharts("Charts of runs", runs)
	p.section("Runs", Part{Table: runsTable(runs)})
	return p
}

func differencesOf(c *compared.Comparison) *chart.Differences {
	d := &chart.Differences{Base: c.Sets[0].Letter + ", " + c.Sets[0].Label}
	for i, a := range c.Against {
		set := chart.DifferenceSet{Name: a.Letter + ", " + c.Sets[i+1].Label}
		for _, f := range a.Figures {
			set.Figures = append(set.Figures, chart.Difference{Figure: f.Of, Ratio: orUnknown(f.Difference),
				Low: orUnknown(f.Low), High: orUnknown(f.High), Word: f.Word})
		}
		d.Sets = append(d.Sets, set)
	}
	return d
}

func historyOf(h *compared.History) *chart.History {
	all := &chart.History{}
	for _, run := range h.Runs {
		all.Runs = append(all.Runs, layout.Moment(run.StartedAt, "2006-01-02 15:04"))
	}
	for i, s := range h.Series {
		series := chart.HistorySeries{Figure: s.Of}
		for _, run := range h.Runs {
			series.Values = append(series.Values, orUnknown(run.Values[i]))
		}
		for _, c := range s.Changes {
			series.Changes = append(series.Changes, chart.LevelChange{At: c.At, Before: c.Change.Before,
				After: c.Change.After, Word: c.Word})
		}
		all.Series = append(all.Series, series)
	}
	return all
}

func orUnknown(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// History returns the page of one configuration over time.
func History(h *compared.History) *Page {
	last := h.Runs[len(h.Runs)-1]
	p := &Page{Kind: "History", Title: cmp.Or(last.Name, last.ID, "Runs without a name")}
	changes := 0
	for _, s := range h.Series {
		changes += len(s.Changes)
	}
	p.Badges = []Badge{{"level", "no change shown", Plain}}
	if changes > 0 {
		p.Badges = []Badge{{"level", unit.Things(int64(changes), "change"), Doubtful}}
	}
	p.Lines = []string{layout.List(unit.Things(int64(len(h.Runs)), "run"), "configuration "+h.Configuration)}
	if twice := h.Head.Twice(); twice != "" {
		p.Remarks = append(p.Remarks, Text{Doubtful, twice})
	}
	sections := h.Sections()
	p.sections(sections[:1], "What is shown")
	p.charts("Chart", []shownChart{{"history", true}}, chart.Input{History: historyOf(h)})
	p.sections(sections[1:], "")
	p.section("Runs", Part{Table: runsTable(h.Recorded)})
	return p
}
