package report

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Account is what Text says of a run, in parts: for a page that lays them out itself.
type Account struct {
	// Standing is what may be said of the run in a word or two, and Style how good that is.
	Standing, Style string
	// System says how the measured system fared, and is nil of a run that did not finish.
	System              *result.System
	SystemStyle, Fared  string
	Reasons, Warnings   []string // why the run is invalid; what else to know, its files included
	Offer, Made, Client string   // the load, what it was made with, and what the client was given
	Found               []string // what the run shows
	Sections            []layout.Section
}

// AccountOf takes the parts.
func AccountOf(r *result.Recorded) Account {
	run := &r.Run
	a := Account{
		Standing: Standing(run), Style: standingStyle(run), System: systemOf(run), Reasons: run.Verdict.Reasons,
		Warnings: slices.Concat(run.Verdict.Warnings, r.Notes), Offer: offer(run), Made: madeWith(run),
		Client: clientOptions(run.Scenario),
	}
	if run.Run.Interrupted {
		a.Warnings = append(a.Warnings, endedEarly)
	}
	if note := run.Run.Cluster.Note; note != "" && !slices.Contains(a.Warnings, note) {
		a.Warnings = append(a.Warnings, note)
	}
	a.Warnings = append(a.Warnings, Footnotes([]*result.Recorded{r})...)
	if a.System != nil {
		a.SystemStyle, a.Fared = outcomeStyle(a.System.Status), outcome.Sentence(*a.System)
		a.Found = Findings(analysis.Variants([]*result.Recorded{r}))
	}
	p := layout.NewPage(0, false)
	printBody(p, r)
	a.Sections = p.Sections()
	return a
}
