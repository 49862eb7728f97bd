package pages

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// Runs returns the page of several runs side by side, without a test; for one run, it returns the
// page of Run. A run named twice appears once.
func Runs(all []*result.Recorded) *Page {
	runs, twice := result.Distinct(all)
	p := besideEachOther(runs)
	if twice > 0 {
		head := report.Head{NamedTwice: twice}
		p.Remarks = append(p.Remarks, Text{Doubtful, head.Twice()})
	}
	return p
}

func besideEachOther(runs []*result.Recorded) *Page {
	if len(runs) == 1 {
		return Run(runs[0])
	}
	valid, imported := 0, 0
	for _, r := range runs {
		switch r.Run.Verdict.Status {
		case result.Valid:
			valid++
		case result.Unchecked:
			imported++
		}
	}
	p := &Page{Kind: "Runs side by side", Title: unit.Things(int64(len(runs)), "run")}
	p.Badges = []Badge{validRuns(valid, imported, len(runs))}
	p.sections(report.Several(runs), "Figures")
	p.severalCharts("Charts", runs)
	p.section("Runs", Part{Table: runsTable(runs)})
	return p
}

func validRuns(valid, imported, all int) Badge {
	b := Badge{"runs", fmt.Sprintf("%s of %s valid", unit.Count(int64(valid)), unit.Count(int64(all))), Doubtful}
	if imported > 0 {
		b.Text += fmt.Sprintf(", %s imported and not checked", unit.Count(int64(imported)))
	}
	switch {
	case valid+imported == 0:
		b.Tone = Bad
	case valid == all:
		b.Tone = Good
	}
	return b
}

func (p *Page) severalCharts(title string, runs []*result.Recorded) {
	finished := slices.DeleteFunc(slices.Clone(runs), func(r *result.Recorded) bool { return !r.Run.Finished() })
	if len(finished) == 0 {
		return
	}
	shown := finished[:min(len(finished), chart.MaxRuns)]
	var parts []Part
	for _, c := range []shownChart{{"lag", false}, {"percentiles", true}, {"timeline", true}} {
		parts = append(parts, p.drawn(c.name, chart.Input{Runs: shown}, c.needed)...)
	}
	if left := len(finished) - len(shown); left > 0 {
		parts = append(parts, paragraph(Plain, fmt.Sprintf("Charts are of %d of %d runs.", len(shown), len(finished))))
	}
	p.section(title, parts...)
}

func runsTable(runs []*result.Recorded) *Table {
	t := &Table{Name: "Runs", Head: []Cell{
		{Text: "Run"}, {Text: "Name"}, {Text: "Started (UTC)"}, {Text: "Verdict"}, {Text: "Folder"},
	}}
	for _, r := range runs {
		if r == nil {
			continue
		}
		t.Rows = append(t.Rows, []Cell{
			{Text: r.Run.Run.ID, Run: r.Dir}, {Text: r.Run.Run.Name},
			{Text: layout.Moment(analysis.StartedAt(&r.Run), "2006-01-02 15:04:05")},
			{Text: report.Standing(&r.Run)}, {Text: r.Dir},
		})
	}
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}
