package report

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Account holds the parts of Text's report, for a page that lays them out itself.
type Account struct {
	// Standing is what the function Standing returns, and Style is its style.
	Standing, Style string
	// System is the outcome of the measured system; nil if the run did not finish.
	System              *result.System
	SystemStyle, Fared  string
	Reasons, Warnings   []string // why the run is invalid; other caveats, also about its files
	Offer, Made, Client string   // the load, what made it, and the client's settings
	Expected            []layout.Block
	Found               []string
	Sections            []layout.Section
}

// AccountOf returns the parts of a run's report.
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
	PrintExpected(p, Judge([]*result.Recorded{r}))
	for _, s := range p.Sections() {
		a.Expected = append(a.Expected, s.Blocks...)
	}
	p = layout.NewPage(0, false)
	printBody(p, r)
	a.Sections = p.Sections()
	return a
}
