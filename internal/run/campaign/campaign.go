// Package campaign makes many runs, in an order that is drawn first, and makes searches.
// A plan says which and in what order: each configuration as often as it is to be
// repeated, interleaved, so that whatever drifts on the machine meanwhile (its
// temperature, its neighbours, a broker's warm code) falls on all of them alike. An
// engine makes one run, and a journal keeps what has come of each, saved after every one,
// so that a campaign that was stopped or killed goes on where it was.
//
// The three do not need each other: whoever chooses the next run by what the
// last one showed has no plan, and whoever makes runs with another tool has no
// engine, and both keep the same journal.
//
// Files to know: plan.go, campaign.go, journal.go, search.go, searchjudge.go,
// searchanswer.go.
package campaign

import (
	"context"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// Maker makes one run. It tells began the run's folder as soon as there is one,
// and nothing if there never is. An error means that there was no run. Engine is
// the one that measures.
type Maker interface {
	Make(ctx context.Context, s scenario.Scenario, began func(dir string)) (*bench.Outcome, error)
}

// Config says how a campaign is carried out.
type Config struct {
	Maker Maker
	// Scenario gives the scenario of a cell, by its place.
	Scenarios []scenario.Scenario
	// Began is told before each run, and Ended after it, by its place in the
	// journal. An error of Ended ends the campaign.
	Began func(place int)
	Ended func(place int, o *bench.Outcome) error
}

// Run makes the runs of the journal that are still to be made, in their order,
// and finishes the journal when none is left. It ends early, with an error, at a
// run that cannot be started, and without one after a run that a person
// interrupted: then the journal says so. An invalid run does not end it.
func Run(ctx context.Context, j *Journal, cfg Config) error {
	for _, place := range j.Pending() {
		cfg.Began(place)
		outcome, err := j.Make(ctx, cfg.Maker, place, cfg.Scenarios[j.c.Runs[place].Cell])
		if err != nil {
			return err
		}
		if err := cfg.Ended(place, outcome); err != nil {
			return err
		}
		if outcome.Run.Run.Interrupted {
			return nil
		}
	}
	return j.Finish()
}

// status is what a campaign says of a run that was made.
func status(r *result.Run) string {
	if r.Run.Interrupted || !r.Finished() {
		return result.Interrupted
	}
	return r.Verdict.Status
}
