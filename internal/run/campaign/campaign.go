// Package campaign makes many runs in an order that is planned first. It also makes searches. A
// Plan has the runs and their order: repeats of all configurations are interleaved, so that a drift
// of the machine affects all alike. An Engine makes one run. A Journal saves the result of each
// run, so that a stopped or killed campaign can continue.
//
// Files to know: plan.go, campaign.go, journal.go, search.go, searchjudge.go, searchanswer.go.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
)

// Maker makes one run. It calls began with the run's folder as soon as the folder exists. An error
// means that there was no run.
type Maker interface {
	Make(ctx context.Context, s scenario.Scenario, began func(dir string)) (*bench.Outcome, error)
}

// Config configures a campaign.
type Config struct {
	Maker     Maker
	Scenarios []scenario.Scenario // by the index of the cell
	// Began is called before each run and Ended after it, with the run's index in the journal. An
	// error of Ended ends the campaign.
	Began func(place int)
	Ended func(place int, o *bench.Outcome) error
}

// Run makes the pending runs of the journal in their order, and finishes the journal after the
// last. It returns an error for a run that cannot be started, ErrAgentLost if a lost agent leaves
// runs pending, and nil after an interrupted run. No other invalid run ends the campaign.
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
		switch err := last(&outcome.Run); {
		case errors.Is(err, ErrInterrupted):
			return nil
		case errors.Is(err, bench.ErrGuarded), err != nil && len(j.Pending()) > 0:
			return err
		}
	}
	return j.Finish()
}

var (
	// ErrInterrupted reports that the user interrupted a run.
	ErrInterrupted = errors.New("interrupted")
	// ErrAgentLost reports that an agent ended before its run did. Within a session, no other agent
	// takes its place.
	ErrAgentLost = errors.New("an agent was lost")
)

// last returns why no run can follow r: bench.ErrGuarded, ErrAgentLost with the agents' names,
// ErrInterrupted, or nil.
func last(r *result.Run) error {
	var agents []string
	for _, a := range r.Lost() {
		agents = append(agents, a.String()+": "+strings.Join(a.Reasons, "; "))
	}
	switch {
	case r.Run.EndedByGuard != "":
		return fmt.Errorf("%w: %s", bench.ErrGuarded, r.Run.EndedByGuard)
	case len(agents) > 0:
		return fmt.Errorf("%w: %s", ErrAgentLost, strings.Join(agents, "; "))
	case r.EndedByUser():
		return ErrInterrupted
	}
	return nil
}

func status(r *result.Run) string {
	if r.EndedByUser() || r.Run.EndedByGuard != "" || !r.Finished() {
		return result.Interrupted
	}
	return r.Verdict.Status
}
