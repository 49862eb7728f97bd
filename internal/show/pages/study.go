package pages

import (
	"cmp"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/campaigns"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// All charts but the first depend on what was varied.
var studyCharts = []shownChart{
	{"cells", true}, {"codecs", false}, {"bursts", false}, {"burst-peaks", false},
	{"record-size", false}, {"speed-up", false}, {"drain", false}, {"receive-rate", false}, {"threads", false},
}

// cellsShown bounds the figures of the chart of cells; the table has all.
const cellsShown = 6

const slopeAnswer = "slope"

var searchCharts = []shownChart{{"search", true}, {"capacity", false}}

// Study returns the page of a campaign, ranked by the figure named by. Errors are those of
// campaigns.Analyse.
func Study(c *result.RecordedCampaign, by string) (*Page, error) {
	d, err := campaigns.Analyse(c, by)
	if err != nil {
		return nil, err
	}
	p := &Page{Kind: "Study", Title: cmp.Or(d.Campaign.Name, d.Campaign.ID, "A study without a name")}
	if d.Search != nil {
		p.Kind = "Search"
	}
	valid := 0
	for _, cell := range d.Cells {
		valid += cell.Valid
	}
	made := c.Campaign.Made()
	p.Badges = []Badge{validRuns(valid, 0, made)}
	if !c.Campaign.Finished() {
		p.Badges = append(p.Badges, Badge{"campaign", "not finished", Doubtful})
	}
	p.Lines = filled(layout.List(d.Campaign.ID, layout.Moment(d.Campaign.StartedAt, "2006-01-02 15:04:05 UTC")))
	p.sections(d.Sections(), "Question and answer")
	var typical []*result.Recorded
	for _, v := range d.Variants() {
		if r := analysis.TypicalRun(v.Runs); r != nil {
			typical = append(typical, r)
		}
	}
	charts := slices.Clone(studyCharts)
	switch {
	case d.Search != nil:
		charts = slices.Clone(searchCharts)
	case d.Answer.Name == slopeAnswer:
		charts = append(charts, shownChart{"stored", false})
	}
	if !varies(c, "load.compression") && !varies(c, "load.record.payload") && !varies(c, "load.record.payload.file") {
		charts = slices.DeleteFunc(charts, func(s shownChart) bool { return s.name == "codecs" })
	}
	figures := d.Figures()
	ofCells := func() {
		p.charts("Charts", charts, chart.Input{Campaign: c, Figures: figures[:min(len(figures), cellsShown)]})
	}
	ofRuns := func() { p.severalCharts("Charts of typical runs", typical) }
	if analysis.UnderBackpressure(d.Variants()) { // the lag over time is the main result
		ofRuns()
		ofCells()
	} else {
		ofCells()
		ofRuns()
	}
	if t := runsTable(c.Runs); t != nil {
		p.section("Runs", Part{Table: t})
	}
	return p, nil
}

func varies(c *result.RecordedCampaign, path string) bool {
	cells := c.Campaign.Cells
	return slices.ContainsFunc(cells, func(cell result.Cell) bool {
		return cell.Scenario.Get(path) != cells[0].Scenario.Get(path)
	})
}
