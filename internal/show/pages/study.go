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

// studyCharts are those of a campaign. All but the first depend on what was varied.
var studyCharts = []shownChart{
	{"cells", true}, {"codecs", false}, {"bursts", false}, {"burst-peaks", false},
	{"record-size", false}, {"speed-up", false}, {"drain", false}, {"receive-rate", false}, {"threads", false},
}

// cellsShown bounds the figures of the chart of cells; the table has all.
const cellsShown = 6

// slopeAnswer is the answer of a suite that asks what happens as a topic grows.
const slopeAnswer = "slope"

// searchCharts are those of a search.
var searchCharts = []shownChart{{"search", true}, {"capacity", false}}

// Study is the page of a campaign. By is the figure that its cells are ranked by, as
// campaigns.Analyse has it. Errors are those of Analyse.
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
	p.Badges = []Badge{validRuns(valid, made)}
	if !c.Campaign.Finished() {
		p.Badges = append(p.Badges, Badge{"campaign", "not finished", Doubtful})
	}
	p.Lines = filled(layout.List(d.Campaign.ID, layout.Moment(d.Campaign.StartedAt, "2006-01-02 15:04:05 UTC")))
	p.sections(d.Sections(), "Question and answer")
	var typical []*result.Recorded
	for _, v := range d.Variants() {
		if r := typicalOf(v); r != nil {
			typical = append(typical, r)
		}
	}
	charts := studyCharts
	switch {
	case d.Search != nil:
		charts = searchCharts
	case d.Answer.Name == slopeAnswer:
		charts = append(slices.Clone(charts), shownChart{"stored", false})
	}
	figures := d.Figures()
	p.charts("Charts", charts, chart.Input{Campaign: c, Figures: figures[:min(len(figures), cellsShown)]})
	p.severalCharts("Charts of typical runs", typical)
	if t := runsTable(c.Runs); t != nil {
		p.section("Runs", Part{Table: t})
	}
	return p, nil
}

// typicalOf is the run of a cell whose end-to-end time is the median, or else whose
// acknowledged rate is; nil of a cell without either.
func typicalOf(v analysis.Variant) *result.Recorded {
	for _, name := range []string{analysis.PrimaryName, "acked_per_s", "delivered_per_s"} {
		if r := v.Typical(analysis.FigureNamed(name)); r != nil {
			return r
		}
	}
	return nil
}
