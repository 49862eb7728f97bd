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

// Names are those of all three, in the order of their turns.
var Names = [...]string{Ours, Producer, Consumer}

// Turns makes the runs of a campaign, one at a time, and keeps its record. An error
// of either method ends the campaign.
type Turns interface {
	// Ours makes a run of ours. One that was interrupted is an error: the tools
	// are not to be measured against a part of a run.
	Ours(ctx context.Context) (*result.Run, error)
	// Theirs makes a run of the tool of that name, with a single call of make.
	Theirs(ctx context.Context, tool string, make func(context.Context) (*Made, error)) (*result.Run, error)
}

// Rounds are the runs of all three in turns, and what they came to. They belong to
// one goroutine.
type Rounds struct {
	Scenario scenario.Scenario
	Repeat   int // runs of each
	// Pair gives each round, from 0, a pair of its own. Its Host is filled in.
	Pair func(round int) *Pair
	// Keep leaves the pairs' topics and groups.
	Keep  bool
	Turns Turns

	// Runs are those that were made, in the order of Names.
	Runs [len(Names)][]result.Run
}

// Make makes all rounds. Each has one run of each, ours first: what it reaches says
// how many records a closed loop of the peers is to send, and on what machine they
// run.
func (r *Rounds) Make(ctx context.Context) error {
	for round := range r.Repeat {
		if err := r.round(ctx, r.Pair(round)); err != nil {
			return err
		}
	}
	return nil
}

// pairTimeout bounds the removal of a pair's topic and group.
const pairTimeout = 15 * time.Second

func (r *Rounds) round(ctx context.Context, pair *Pair) (err error) {
	defer func() {
		if r.Keep {
			return
		}
		// On the way out of an interrupted campaign, too.
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
