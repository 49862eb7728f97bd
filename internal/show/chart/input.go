package chart

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// Input is the data for charts. Each chart uses the fields that it needs.
type Input struct {
	// Runs are drawn side by side, at most MaxRuns.
	Runs []*result.Recorded
	// Campaign gives the cells of charts of repeated runs. If Runs is empty, charts over time draw
	// the typical run of each cell.
	Campaign *result.RecordedCampaign
	Figures  []figure.Figure // of cells; none means the first of the campaign
	// OfScheduled makes percentiles cover all scheduled records. Those that did not arrive are
	// named beyond the curve's end.
	OfScheduled bool
	Differences *Differences
	History     *History
}

// MaxRuns is the maximum number of runs in a chart over time.
const MaxRuns = 8

const (
	intervalsFile = result.IntervalsFile
	runFile       = result.SummaryFile
	campaignFile  = result.CampaignFile
)

type named struct {
	*result.Recorded
	name string
}

func (n named) lacks(file, field, why string) *Missing {
	return &Missing{Of: n.name, File: file, Field: field, Why: why}
}

// A selection has the runs to draw, and notes on invalid runs and on runs that are not drawn. The
// field of is the name of the runs' campaign, if there is one.
type selection struct {
	runs  []named
	notes []string
	of    string
}

func only(r named) selection { return selection{runs: []named{r}, notes: invalid(r)} }

func invalid(runs ...named) (notes []string) {
	for _, r := range runs {
		if v := r.Run.Verdict; v.Status == result.Invalid {
			note := r.name + " is invalid"
			if len(v.Reasons) > 0 {
				note += ": " + strings.Join(v.Reasons, "; ")
			}
			notes = append(notes, note+".")
		}
	}
	return notes
}

func (s selection) alone() bool { return len(s.runs) == 1 }

func (s selection) title(what string) string {
	switch {
	case s.alone():
		return what + ": " + s.runs[0].name
	case s.of != "":
		return what + ": " + s.of
	}
	return what
}

func (s selection) said() string {
	if s.alone() {
		return s.runs[0].name
	}
	return fmt.Sprintf("%d runs", len(s.runs))
}

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
	more := len(s.runs) - MaxRuns
	if more > 0 {
		s.runs = s.runs[:MaxRuns]
	}
	s.notes = invalid(s.runs...)
	if more > 0 {
		s.notes = append(s.notes, fmt.Sprintf("Not drawn: %s more.", unit.Things(int64(more), "run")))
	}
	return s, nil
}

func readable(runs []*result.Recorded) []*result.Recorded {
	return slices.DeleteFunc(slices.Clone(runs), func(r *result.Recorded) bool { return r == nil })
}

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

func (in Input) oneOver() (named, error) {
	r, err := in.one()
	if err == nil && len(r.Intervals) == 0 {
		return r, r.lacks(intervalsFile, "", "")
	}
	return r, err
}

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

func typicalRuns(c *result.RecordedCampaign) ([]named, error) {
	study, err := analysis.NewStudy(c, "")
	if err != nil {
		return nil, err
	}
	var all []named
	for _, cell := range study.Cells {
		if r := analysis.TypicalRun(cell.Sample.Taken); r != nil {
			all = append(all, named{r, cell.Label})
		}
	}
	return all, nil
}

// study returns the study of the campaign. Without a campaign, it makes one with a cell for each
// variant of the runs. The notes name cells without a valid run.
func (in Input) study() (study *analysis.Study, notes []string, err error) {
	c := in.Campaign
	if c == nil {
		c = &result.RecordedCampaign{Runs: readable(in.Runs)}
		names := analysis.VariantNames(c.Runs)
		for i, r := range c.Runs {
			name := names[i]
			cell := slices.IndexFunc(c.Campaign.Cells, func(cell result.Cell) bool { return cell.Name == name })
			if cell < 0 {
				cell = len(c.Campaign.Cells)
				c.Campaign.Cells = append(c.Campaign.Cells, result.Cell{Name: name, Scenario: r.Run.Scenario})
			}
			c.Campaign.Runs = append(c.Campaign.Runs, result.CampaignRun{Cell: cell, Dir: r.Dir})
		}
	}
	if study, err = analysis.NewStudy(c, ""); err != nil {
		return nil, nil, err
	}
	study.Cells = slices.DeleteFunc(study.Cells, func(c analysis.Cell) bool { return len(c.Sample.Taken) == 0 })
	if len(study.Cells) == 0 {
		return nil, nil, errors.New("there is no finished run to draw: name runs, or a campaign that has made some")
	}
	for _, cell := range study.Cells {
		if cell.Valid == 0 {
			notes = append(notes, "None of the runs of cell "+cell.Label+" is valid.")
		}
	}
	return study, notes, nil
}
