package chart

import (
	"errors"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// Input is what a chart may be made of. Each chart takes what it needs and leaves the rest.
type Input struct {
	// Runs are drawn beside each other, MaxRuns at most.
	Runs []*result.Recorded
	// Campaign gives the cells of charts of repeated runs, and one run of each for charts over
	// time if Runs is empty: that with the median figure, of those that have intervals.
	Campaign *result.RecordedCampaign
	Figures  []figure.Figure // of cells; none stands for the first of the campaign
	// OfScheduled has percentiles speak of all scheduled records: those that did not arrive
	// have no time, and are named beyond the end of the curve.
	OfScheduled bool
	Differences *Differences
	History     *History
}

// MaxRuns is how many runs a chart over time draws beside each other.
const MaxRuns = 8

// Files of a run and of a campaign, as errors name them.
const (
	intervalsFile = result.IntervalsFile
	runFile       = result.SummaryFile
	campaignFile  = result.CampaignFile
)

// A named run is one that is drawn beside others.
type named struct {
	*result.Recorded
	name string
}

// lacks is the error of a run without a field.
func (n named) lacks(file, field, why string) *Missing {
	return &Missing{Of: n.name, File: file, Field: field, Why: why}
}

// A selection is the runs of a chart, and notes on those that are not drawn. Of is the
// campaign that they are of, if they are.
type selection struct {
	runs  []named
	notes []string
	of    string
}

// only is the selection of one run.
func only(r named) selection { return selection{runs: []named{r}} }

// alone reports whether one run is drawn, which has room for more of it.
func (s selection) alone() bool { return len(s.runs) == 1 }

// title names the run of a chart if it is one, or the campaign.
func (s selection) title(what string) string {
	switch {
	case s.alone():
		return what + ": " + s.runs[0].name
	case s.of != "":
		return what + ": " + s.of
	}
	return what
}

// said names the runs in a sentence.
func (s selection) said() string {
	if s.alone() {
		return s.runs[0].name
	}
	return fmt.Sprintf("%d runs", len(s.runs))
}

// selected are the runs that a chart draws beside each other.
func (in Input) selected() (s selection, err error) {
	all := readable(in.Runs)
	switch {
	case len(all) > 0:
		names := shortNames(all)
		for i, r := range all {
			s.runs = append(s.runs, named{r, names[i]})
		}
	case in.Campaign != nil:
		if s.runs, err = typicalRuns(in.Campaign); err != nil {
			return s, err
		}
		s.of = in.Campaign.Campaign.Campaign.Name
	}
	if len(s.runs) == 0 {
		return s, errors.New("there is no run to draw: name one, or a campaign that has made some")
	}
	if more := len(s.runs) - MaxRuns; more > 0 {
		s.runs = s.runs[:MaxRuns]
		s.notes = append(s.notes, fmt.Sprintf("%d more runs are not drawn.", more))
	}
	return s, nil
}

// readable are the runs without those that could not be read.
func readable(runs []*result.Recorded) []*result.Recorded {
	return slices.DeleteFunc(slices.Clone(runs), func(r *result.Recorded) bool { return r == nil })
}

// one is the run of a chart that draws a single run.
func (in Input) one() (named, error) {
	s, err := in.selected()
	if err != nil {
		return named{}, err
	}
	if !s.alone() {
		return named{}, fmt.Errorf("it draws one run, and there are %d: name one of them", len(s.runs))
	}
	return s.runs[0], nil
}

// over are the selected runs that have intervals.
func (in Input) over() (selection, error) {
	s, err := in.selected()
	if err != nil {
		return s, err
	}
	with, notes, err := gather(s.runs, func(r named) (named, error) {
		if len(r.Intervals) == 0 {
			return r, r.lacks(intervalsFile, "", "")
		}
		return r, nil
	})
	return selection{with, append(s.notes, notes...), s.of}, err
}

// oneOver is the run of a chart that draws a single run over time.
func (in Input) oneOver() (named, error) {
	r, err := in.one()
	if err == nil && len(r.Intervals) == 0 {
		return r, r.lacks(intervalsFile, "", "")
	}
	return r, err
}

// shortNames are the scenarios' names, or with the run's ID where runs share one.
func shortNames(runs []*result.Recorded) []string {
	count := map[string]int{}
	for _, r := range runs {
		count[r.Run.Run.Name]++
	}
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.Run.Run.Name
		if count[names[i]] > 1 {
			names[i] = analysis.ShortName(r)
		}
	}
	return names
}

// typicalRuns are one run of each cell of a campaign.
func typicalRuns(c *result.RecordedCampaign) ([]named, error) {
	study, err := analysis.NewStudy(c, "")
	if err != nil {
		return nil, err
	}
	var all []named
	for _, cell := range study.Cells {
		if r := typical(cell.Sample.Taken); r != nil {
			all = append(all, named{r, cell.Label})
		}
	}
	return all, nil
}

// typical is the run that stands for repeats: of those with intervals the one whose p99, or
// whose throughput, is nearest to the median.
func typical(runs []*result.Recorded) *result.Recorded {
	with := slices.DeleteFunc(slices.Clone(runs), func(r *result.Recorded) bool { return len(r.Intervals) == 0 })
	if len(with) == 0 {
		with = runs
	}
	repeats := analysis.Variant{Runs: with}
	for _, name := range []string{analysis.PrimaryName, analysis.ThroughputFigure} {
		if r := repeats.Typical(analysis.FigureNamed(name)); r != nil {
			return r
		}
	}
	if len(with) == 0 {
		return nil
	}
	return with[0]
}

// study is the campaign, or the runs as one whose cells are the runs of one name.
func (in Input) study() (*analysis.Study, error) {
	c := in.Campaign
	if c == nil {
		c = &result.RecordedCampaign{Runs: readable(in.Runs)}
		for _, r := range c.Runs {
			name := r.Run.Run.Name
			cell := slices.IndexFunc(c.Campaign.Cells, func(cell result.Cell) bool { return cell.Name == name })
			if cell < 0 {
				cell = len(c.Campaign.Cells)
				c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: name, Scenario: r.Run.Scenario})
			}
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: cell, Dir: r.Dir})
		}
	}
	study, err := analysis.NewStudy(c, "")
	if err != nil {
		return nil, err
	}
	study.Cells = slices.DeleteFunc(study.Cells, func(c analysis.Cell) bool { return len(c.Sample.Taken) == 0 })
	if len(study.Cells) == 0 {
		return nil, errors.New("there is no finished run to draw: name runs, or a campaign that has made some")
	}
	return study, nil
}
