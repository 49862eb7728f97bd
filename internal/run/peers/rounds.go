package peers

import (
	"context"
	"errors"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

// Ours is the name of our own tool among the three.
const Ours = "kafka-bench"

// Names are the names of the three tools, in the order of their runs.
var Names = [...]string{Ours, Producer, Consumer}

// Turns makes the runs of a campaign, one at a time, and saves each. An error of either method ends
// the campaign.
type Turns interface {
	// Ours makes a run of our tool. An interrupted run is an error.
	Ours(ctx context.Context) (*result.Run, error)
	Theirs(ctx context.Context, tool string, make func(context.Context) (*Made, error)) (*result.Run, error)
}

// Rounds makes the runs of all three tools: in each round one run of each tool, one after the
// other. It is not safe for concurrent use.
type Rounds struct {
	Scenario scenario.Scenario
	Repeat   int // runs of each
	// Pair returns a new pair for each round, from 0. Rounds sets its Host.
	Pair  func(round int) *Pair
	Keep  bool // keep the pairs' topics and groups
	Turns Turns

	Runs [len(Names)][]result.Run // in the order of Names
}

// Make makes all rounds. Each round makes our run first, because the runs of the other tools need
// its host and, for a closed loop, its rate.
func (r *Rounds) Make(ctx context.Context) error {
	for round := range r.Repeat {
		if err := r.round(ctx, r.Pair(round)); err != nil {
			return err
		}
	}
	return nil
}

const pairTimeout = 15 * time.Second

func (r *Rounds) round(ctx context.Context, pair *Pair) (err error) {
	defer func() {
		if r.Keep {
			return
		}
		// Close the pair even after an interrupt.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), pairTimeout)
		defer cancel()
		err = errors.Join(err, pair.Close(ctx))
	}()
	ours, err := r.Turns.Ours(ctx)
	if err != nil {
		return err
	}
	pair.Host = ours.Run.Host
	producer, err := r.Turns.Theirs(ctx, Producer, func(ctx context.Context) (*Made, error) {
		return pair.Produce(ctx, r.Scenario, ours.Load.AckedPerS)
	})
	if err != nil {
		return err
	}
	consumer, err := r.Turns.Theirs(ctx, Consumer, func(ctx context.Context) (*Made, error) {
		return pair.Consume(ctx, r.Scenario)
	})
	if err != nil {
		return err
	}
	for i, run := range []*result.Run{ours, producer, consumer} {
		r.Runs[i] = append(r.Runs[i], *run)
	}
	return nil
}
