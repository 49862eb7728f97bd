package bench

import (
	"cmp"
	"context"
	"time"

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
		Backpressure: s.Backpressure, Processes: cmp.Or(r.portion.senders, s.Load.Processes),
		Doubt: time.Duration(s.Load.DeliveryTimeout), Axis: r.axis, Read: r.lag.ForGate, Tell: r.journal.Event,
	}
	r.own, err = newGatekeeper(cfg)
	return err
}

// A bounded gate admits nothing before its first reading.
func (r *run) readFirstLag(ctx context.Context) error {
	if r.own != nil { // child processes read the lag themselves
		r.own.poll(ctx)
	}
	return nil
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
