package campaigns

import (
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func (a Answer) rankedBy() string {
	if a.Status == analysis.AnswerNoRanking || a.Status == analysis.AnswerSearch || a.Status == analysis.AnswerTold {
		return ""
	}
	why := map[string]string{
		analysis.FromReader:   "as --by asks",
		analysis.FromSuite:    "as the suite asks",
		analysis.FromQuestion: "which the question names",
		analysis.FromDefault:  "the default, as the question names no figure; --by takes another",
	}[a.FigureFrom]
	return a.Figure + ", " + why
}

func unasked(d *analysis.Study) (notes []string) {
	var all []*result.Recorded
	within := analysis.Attributes{}
	for _, cell := range d.Cells {
		all = append(all, cell.Sample.Taken...)
		inCell := analysis.Surroundings(cell.Sample.Taken)
		maps.Copy(inCell, analysis.ClientSettings(cell.Sample.Taken))
		if mixed := inCell.Mixed(); len(mixed) > 0 {
			notes = append(notes, d.Said(cell.Label)+" mixes runs that differ in "+strings.Join(mixed,
				"; ")+", though no scenario asks for it.")
		}
		maps.DeleteFunc(inCell, func(_ string, values []string) bool { return len(values) == 1 })
		maps.Copy(within, inCell)
	}
	between := analysis.Surroundings(all)
	maps.DeleteFunc(between, func(name string, _ []string) bool {
		_, said := within[name]
		return said || asked(d, all, name)
	})
	if mixed := between.Mixed(); len(mixed) > 0 {
		notes = append(notes, "The scenarios differ in "+strings.Join(mixed,
			"; ")+", though no scenario asks for it: what looks like an effect of the settings may be one of that.")
	}
	return notes
}

func asked(d *analysis.Study, runs []*result.Recorded, name string) bool {
	switch {
	case d.Campaign.Kind == result.KindPeers:
		return slices.Contains([]string{"made by", "client", "kafka-bench", "Go"}, name)
	case name == "client":
		return len(analysis.ScenarioSettings(runs)["driver"]) > 1
	case name == "brokers" || strings.HasPrefix(name, analysis.BrokerSetting):
		for setting, values := range analysis.ScenarioSettings(runs) {
			if strings.HasPrefix(setting, "cluster.") && len(values) > 1 {
				return true
			}
		}
	}
	return false
}

func retriedNote(runs []*result.Recorded) []string {
	var again, invalid int64
	for _, r := range runs {
		if r != nil && len(r.Run.Run.RetryOf) > 0 {
			again, invalid = again+1, invalid+int64(len(r.Run.Run.RetryOf))
		}
	}
	if again == 0 {
		return nil
	}
	return []string{unit.Things(invalid, "invalid run") + " made again (--retry-invalid): " + unit.Things(again, "run") +
		" of the campaign took more than one try, and only the last try of each counts."}
}

// Clients differ in what they report about a record that was not acked (docs/drivers.md).
func unsettledNote(d *analysis.Study) []string {
	clients := map[string]bool{}
	var unsettled int64
	for _, cell := range d.Cells {
		for _, r := range cell.Sample.Taken {
			clients[r.Run.Run.Driver.Name] = true
			unsettled += r.Run.Load.Failed + r.Run.Load.Unknown
		}
	}
	if len(clients) < 2 || unsettled == 0 {
		return nil
	}
	return []string{"Compare clients only by the sum of failed and unknown records: if a client does not report whether a record was sent, the record is unknown, and with another client it is failed."}
}
