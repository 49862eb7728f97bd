package report

import (
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// rankedBy says by which figure the cells are ranked, and why by that one; "" where
// nothing is ranked.
func (a Answer) rankedBy() string {
	if a.Status == AnswerNoRanking || a.Status == AnswerSearch || a.Status == AnswerTold {
		return ""
	}
	why := map[string]string{
		FromReader:   "as --by asks",
		FromSuite:    "as the suite asks",
		FromQuestion: "which the question names",
		FromDefault:  "the default, as the question names no figure; --by takes another",
	}[a.FigureFrom]
	return a.Figure + ", " + why
}

// unasked notes what differs among the runs and nobody asked for: within a cell,
// and between cells.
func (d *CampaignDocument) unasked() (notes []string) {
	var all []*result.Recorded
	within := attributes{}
	for _, cell := range d.Cells {
		all = append(all, cell.sample.runs...)
		inCell := surroundings(cell.sample.runs)
		maps.Copy(inCell, clientSettings(cell.sample.runs))
		if mixed := inCell.mixed(); len(mixed) > 0 {
			notes = append(notes, d.said(cell.label)+" mixes runs that differ in "+strings.Join(mixed, "; ")+", though no scenario asks for it.")
		}
		maps.DeleteFunc(inCell, func(_ string, values []string) bool { return len(values) == 1 })
		maps.Copy(within, inCell)
	}
	between := surroundings(all)
	maps.DeleteFunc(between, func(name string, _ []string) bool {
		_, said := within[name]
		return said || d.asked(all, name)
	})
	if mixed := between.mixed(); len(mixed) > 0 {
		notes = append(notes, "The scenarios differ in "+strings.Join(mixed, "; ")+", though no scenario asks for it: what looks like an effect of the settings may be one of that.")
	}
	return notes
}

// asked tells whether a difference of the surroundings between cells is meant: peers
// are other clients, and a scenario may ask for other brokers.
func (d *CampaignDocument) asked(runs []*result.Recorded, name string) bool {
	switch {
	case d.Campaign.Kind == result.KindPeers:
		return slices.Contains([]string{"made by", "client", "kafka-bench", "Go"}, name)
	case name == "client":
		return len(configuration(runs)["driver"]) > 1
	case name == "brokers" || strings.HasPrefix(name, brokerSetting):
		for setting, values := range configuration(runs) {
			if strings.HasPrefix(setting, "cluster.") && len(values) > 1 {
				return true
			}
		}
	}
	return false
}
