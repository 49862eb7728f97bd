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

// Turns makes the runs of a campaign, one at a time, and saves them. An error of either method ends
// the campaign.
type Turns interface {
	// Ours makes a run of ours. An interrupted run is an error, because a part of a run is no
	// comparison for the tools.
	Ours(ctx context.Context) (*result.Run, error)
	// Theirs makes a run of the named tool by one call of make.
	Theirs(ctx context.Context, tool string, make func(context.Context) (*Made, error)) (*result.Run, error)
}

// Rounds makes the runs of all three tools in turns. It belongs to one goroutine.
type Rounds struct {
	Scenario scenario.Scenario
	Repeat   int // runs of each tool
	// Pair returns a new pair for each round, from 0. Rounds sets its Host.
	Pair func(round int) *Pair
	// Keep keeps the topics and groups of the pairs.
	Keep  bool
	Turns Turns

	// Runs are the runs so far, in the order of Names.
	Runs [len(Names)][]result.Run
}

// Make makes all rounds. Each round makes our run first, because it gives the host, and the number
// of records for a closed loop of the other tools.
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
		// Also after an interrupt.
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
