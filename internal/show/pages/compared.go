package pages

import (
	"cmp"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/compared"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Comparison is the page of sets of runs against the first.
func Comparison(c *compared.Comparison) *Page {
	p := &Page{Kind: "Comparison", Title: "Runs against each other"}
	if len(c.Sets) == 2 {
		p.Title = c.Sets[1].Label + " against " + c.Sets[0].Label
	}
	valid, all := 0, 0
	for _, s := range c.Sets {
		valid, all = valid+s.Valid, all+s.All+s.Missing
	}
	p.Badges = []Badge{{"runs", unit.Count(int64(valid)) + " of " + unit.Count(int64(all)) + " valid", toneOfValid(valid, all)}}
	if twice := c.Head.Twice(); twice != "" {
		p.Remarks = append(p.Remarks, Text{Doubtful, twice})
	}
	p.sections(c.Sections(), "What is shown")
	var parts []Part
	for i := range c.Against {
		parts = append(parts, p.drawn("differences", chart.Input{Differences: differencesOf(&c.Against[i])}, true)...)
	}
	p.section("Charts of differences", parts...)
	var runs []*result.Recorded
	for round := 0; ; round++ { // the first run of each set, then the second: a bound must not leave out a set
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

// History is the page of one configuration over time.
func History(h *compared.History) *Page {
	last := h.Runs[len(h.Runs)-1]
	p := &Page{Kind: "History", Title: cmp.Or(last.Name, last.ID, "Runs without a name")}
	changes := 0
	for _, s := range h.Series {
		changes += len(s.Changes)
	}
	tone := Plain
	if changes > 0 {
		tone = Doubtful
	}
	p.Badges = []Badge{{"levels", unit.Things(int64(changes), "change"), tone}}
	p.Lines = []string{layout.List(unit.Things(int64(len(h.Runs)), "run"), "configuration "+h.Configuration)}
	if twice := h.Head.Twice(); twice != "" {
		p.Remarks = append(p.Remarks, Text{Doubtful, twice})
	}
	var parts []Part
	for i := range h.Series {
		parts = append(parts, p.drawn("history", chart.Input{History: historyOf(h, i)}, true)...)
	}
	sections := h.Sections()
	p.sections(sections[:1], "What is shown")
	p.section("Charts", parts...)
	p.sections(sections[1:], "")
	p.section("Runs", Part{Table: runsTable(h.Recorded)})
	return p
}
