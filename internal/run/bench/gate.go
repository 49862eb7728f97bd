package bench

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/sharelog"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// The run's side of its gate; gatekeeper.go runs the gate.

func (r *run) makeGate(ctx context.Context) (err error) {
	s := r.cfg.Scenario
	if r.apart() || !r.portion.sends() {
		return nil
	}
	cfg := gateConfig{
		Backpressure: s.Backpressure, Partitions: r.topic.Partitions, Processes: cmp.Or(r.portion.senders, s.Load.Processes),
		Doubt: time.Duration(s.Load.DeliveryTimeout), Axis: r.axis, Read: r.lag.ForGate, Tell: r.journal.Event,
	}
	if r.portion.shares != "" {
		if r.share, err = r.joinShares(ctx); err != nil {
			return err
		}
		cfg.Share = r.share
	}
	if r.own, err = newGatekeeper(cfg); err == nil && r.share != nil {
		r.share.Attach(r.own.gate)
	}
	return err
}

func (r *run) joinShares(ctx context.Context) (*sharelog.Member, error) {
	return joinShares(ctx, r.cfg.Scenario, sharelog.Config{
		Brokers: r.cfg.Cluster.Bootstrap(), Client: r.access().Options(), Topic: r.portion.shares,
		Bound: r.runID, Member: fmt.Sprintf("agent %d", r.portion.number), Source: backpressure.SourceFunc(r.lag.ForGate),
	}, r.journal.Stamp)
}

func (r *run) leaveShares() {
	if r.share == nil {
		return
	}
	leave, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	if r.own != nil {
		r.own.poll(leave) // a last time: committed records are not outstanding
	}
	_ = r.share.Leave(leave) // on an error the others notice it later
	r.share = nil
}

// A bounded gate admits nothing before its first reading.
func (r *run) readFirstLag(ctx context.Context) error {
	if r.own != nil { // child processes read the lag themselves
		r.own.poll(ctx)
	}
	return nil
}

// createShares returns "" if the scenario needs no topic to divide the lag bound by demand.
func (r *run) createShares(ctx context.Context) (name string, err error) {
	if !r.cfg.Scenario.Backpressure.Gates() || r.cfg.Scenario.Backpressure.Share != "demand" {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	of := r.named
	of.Of, of.Kept = "shares", false
	name = of.String()
	if r.shares, err = r.admin.CreateTopic(ctx, name, 1, r.cfg.Scenario.Topic.Replication, nil); err != nil {
		return "", fmt.Errorf("the topic of the shares: %w", err)
	}
	return name, nil
}

// keepGate runs the gate. Child processes have their own gates and read the lag for them; the run
// then reads the lag only for its peak, and sends the children the delivered positions if their
// gates use those.
func (r *run) keepGate(ctx context.Context) {
	if r.own != nil {
		r.own.keep(ctx)
		return
	}
	observe.AtEach(ctx, time.Duration(r.cfg.Scenario.Backpressure.Poll), func() {
		if r.lag.Delivered != nil {
			r.producers.Snapshot(remote.Want{Delivered: r.lag.Delivered()})
		}
		r.lag.Look(ctx)
	})
}
