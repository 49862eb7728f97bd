// Package campaign makes many runs: each scenario as often as it asks to be
// repeated, interleaved, so that whatever drifts on the machine meanwhile (its
// temperature, its neighbours, a broker's warm code) falls on all of them alike.
package campaign

import (
	"context"
	"fmt"

	"kafka-bench/internal/bench"
	"kafka-bench/internal/cluster"
	"kafka-bench/internal/scenario"
)

// Source gives a run its cluster. Runs that ask for the same get the same.
type Source interface {
	For(ctx context.Context, s scenario.Cluster) (cluster.Cluster, error)
}

// Plan is the order of the runs: a round for each repeat, in which every
// scenario that is still to be repeated has its turn.
func Plan(scenarios []scenario.Scenario) []scenario.Scenario {
	var plan []scenario.Scenario
	for round := 0; ; round++ {
		before := len(plan)
		for _, s := range scenarios {
			if round < s.Repeat {
				plan = append(plan, s)
			}
		}
		if len(plan) == before {
			return plan
		}
	}
}

// Config says how a plan is carried out.
type Config struct {
	Source Source
	// Bench is the configuration of every run, but for the scenario and the
	// cluster.
	Bench bench.Config
	// Began is told before each run, by its place in the plan, and Ended after
	// it. An error of Ended ends the campaign.
	Began func(place int, c cluster.Info)
	Ended func(*bench.Outcome) error
}

// Run makes the planned runs one after another and returns those that were
// made, with the error that ended the campaign early, if one did. An interrupted
// run is the last one.
func Run(ctx context.Context, plan []scenario.Scenario, cfg Config) ([]*bench.Outcome, error) {
	var outcomes []*bench.Outcome
	for place, s := range plan {
		outcome, err := runOne(ctx, place, s, cfg)
		if err != nil {
			return outcomes, fmt.Errorf("scenario %s: %w", s.Name, err)
		}
		outcomes = append(outcomes, outcome)
		if err := cfg.Ended(outcome); err != nil {
			return outcomes, err
		}
		if outcome.Run.Run.Interrupted {
			break
		}
	}
	return outcomes, nil
}

func runOne(ctx context.Context, place int, s scenario.Scenario, cfg Config) (*bench.Outcome, error) {
	starting, cancel := cfg.Bench.Starting(ctx)
	defer cancel()
	c, err := cfg.Source.For(starting, s.Cluster)
	if err != nil {
		return nil, err
	}
	cfg.Began(place, c.Info())
	cfg.Bench.Scenario, cfg.Bench.Cluster = s, c
	return bench.Run(ctx, cfg.Bench)
}
