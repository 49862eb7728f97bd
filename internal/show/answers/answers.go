// Package answers has the questions that a suite can ask of its campaign. Each answer has points, the
// clauses of one sentence, and a table with the columns that its reader needs.
//
// With one run of each cell, the sentence makes no claim. With several runs, it gives medians with
// their bounds. Each question has its own file. To add one, write its file, name it in
// [Questions], and name the figure that ranks its cells in rankings of package analysis.
//
// Files to know: answers.go (the questions), columns.go (what tables have in common); then most.go,
// scaling.go, perconsumer.go, enough.go, knee.go, slope.go, times.go, failover.go, savings.go,
// payloads.go; and for the engines of a queue: engines.go, enginescaling.go, enginetimes.go,
// redelivery.go, enginefaults.go, decision.go.
package answers

import (
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Answer is the answer to a question.
type Answer struct {
	// Table has a row for each cell, in the order of the cells. For a decision, it has a row for
	// each kind of work.
	layout.Table
	Notes  []string // what a reader must know about the columns
	Points []string // clauses, the chief one first
}

func (a Answer) says(points ...string) Answer {
	a.Points = points
	return a
}

// Question is a question that a suite can ask.
type Question struct {
	Name string
	Ask  func(*analysis.Study) Answer
}

// Questions are all questions.
var Questions = []Question{
	{"most", most}, {"scaling", scaling}, {"per-consumer", perConsumer}, {"enough", enough}, {"knee", knee},
	{"slope", slope}, {"times", timesBeside}, {"failover", failover}, {"savings", savings}, {"payloads", payloads},
	{"engines", engines}, {"engine-scaling", engineScaling}, {"engine-times", engineTimes}, {"redelivery", redelivery},
	{"engine-faults", engineFaults}, {"decision", decision},
}

// Named answers the question of the study's suite. asked is false if the suite has no question, a
// reader asked for a ranking, or the campaign is a search. The table is empty if no run can be
// read.
func Named(d *analysis.Study) (a Answer, asked bool) {
	i := slices.IndexFunc(Questions, func(q Question) bool { return q.Name == d.Campaign.Answer })
	if i < 0 || d.ByFrom == analysis.FromReader || d.Search != nil {
		return Answer{}, false
	}
	a = Questions[i].Ask(d)
	a.Notes = append(a.Notes, notReadOut(d)...)
	if len(d.ValidCells()) > 0 {
		a.Points = carefully(d, a.Points)
	}
	return a, true
}

func carefully(d *analysis.Study, points []string) []string {
	most := 0
	var without []string
	for _, cell := range d.Cells {
		most = max(most, cell.Valid)
		if cell.Valid == 0 {
			without = append(without, d.Said(cell.Label))
		}
	}
	first := points[0]
	switch named := slices.ContainsFunc(d.Cells,
		func(c analysis.Cell) bool { return strings.HasPrefix(first, d.Said(c.Label)) }); {
	case most == 1 && len(points) > 1:
		first = "In one run of each, so that none of this carries a claim: " + first
	case most == 1:
		first = "In one run of each, which carries no claim: " + first
	case !named: // the name of a scenario keeps its case
		first = strings.ToUpper(first[:1]) + first[1:]
	}
	points = append([]string{first}, points[1:]...)
	if len(without) > 0 {
		points = append(points, "there is no valid run of "+layout.Enumerate(without))
	}
	return points
}

func notReadOut(d *analysis.Study) []string {
	const idles, backoff = "librdkafka", "fetch.queue.backoff.ms"
	var names []string
	ofItself := false
	for i := range d.Cells {
		if c := &d.Cells[i]; c.PartlyRead() {
			names = append(names, d.Said(c.Label))
			ofItself = ofItself || c.Setting("driver") == idles && c.Setting("consume.client."+backoff) == ""
		}
	}
	if len(names) == 0 {
		return nil
	}
	note := "Not read out: " + layout.Enumerate(names) +
		" had not read all that was there when the run ended; the figures are of the part that was."
	if ofItself {
		note += " With " + idles +
			" that is a default of its own, not its speed: once it holds enough it fetches nothing for a second (" + backoff +
			", docs/drivers.md)."
	}
	return []string{note}
}

// notRanked names the cells that did not read all records: their client may have paused.
func notRanked(d *analysis.Study) (clauses []string) {
	for _, c := range d.ValidCells() {
		if c.PartlyRead() {
			clauses = append(clauses, d.Said(c.Label)+" is not ranked: it did not read all")
		}
	}
	return clauses
}
