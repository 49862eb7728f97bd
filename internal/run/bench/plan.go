package bench

import (
	"context"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

type plan struct {
	release moment
	// exhausted returns a channel that closes when nothing is left to send or read; the window then
	// ends early, for the reason exhaustedBy.
	exhausted   func() <-chan struct{}
	exhaustedBy string
	// hasRead reports whether all records are read or, with a queue, settled; nil if that cannot
	// end the window.
	hasRead       func() bool
	awaitDelivery func(ctx context.Context) (drained bool)
	// mine keeps the ends of the partitions that this process must read, and sets the others to 0;
	// nil keeps all.
	mine     func(ends []int64) []int64
	noteHeld bool
	// endless is set if other writers keep the topic from having an end.
	endless bool
	// unknown names the result's fields that are not measured.
	unknown []string
}

type moment int

const (
	atOnce moment = iota
	withWarmUp
	withWindow
	inWindow
	withDrain
)

func (r *run) choosePlan(context.Context) error {
	p := &r.plan
	p.endless = r.readOnly() && r.readTo == nil
	p.release, p.noteHeld = r.releaseAt(), r.readTo != nil || readsFill(r.cfg.Scenario)
	p.exhausted, p.exhaustedBy = r.producers.Spent, "the volume was offered"
	if n := r.cfg.Scenario.Load.Count(); n > 0 {
		p.exhaustedBy = "the records were offered, " + unit.Count(n)
	}
	if r.readTo != nil {
		p.exhausted, p.exhaustedBy = r.readToEnd, "everything that the topic held was read"
	}
	switch {
	case len(r.groups) == 0:
		p.awaitDelivery = func(context.Context) bool { return true }
	case r.queue != nil:
		p.hasRead, p.awaitDelivery = func() bool { return r.unsettled() == 0 }, r.awaitSettled
	case p.endless: // none of the run's own records is in flight
		p.awaitDelivery = func(context.Context) bool { return false }
	case r.readOnly():
		p.hasRead = func() bool { return r.reachedAll(r.readTo) }
		p.awaitDelivery = func(context.Context) bool { return p.hasRead() }
	default:
		p.awaitDelivery = r.awaitEnds
	}
	if r.readOnly() { // other writers' records have no due time
		p.unknown = []string{"lag.time_lag_peak_ns", "intervals.time_lag_ns"}
	}
	if p.endless {
		p.unknown = append(p.unknown, "lag.backlog_peak_records", "intervals.backlog_records", "lag.drained",
			"lag.drain_time_s", "lag.drain_per_s")
		if len(r.groups) > 1 {
			p.unknown = append(p.unknown, "groups.lag.backlog_peak_records", "groups.lag.drained")
		}
	}
	return nil
}

func (r *run) releaseAt() moment {
	hold := r.cfg.Scenario.Consume.Hold
	switch {
	case readsFill(r.cfg.Scenario) && hold.Off():
		return withWindow
	case r.readOnly():
		return withWarmUp
	case hold.Drain:
		return withDrain
	case !hold.Off():
		return inWindow
	}
	return atOnce
}
