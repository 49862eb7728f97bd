package bench

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

func (r *run) openObservers(context.Context) error {
	s := r.cfg.Scenario
	interval := time.Duration(s.Sampling.Interval)
	r.machine = &observe.Machine{
		Axis: r.axis, Probes: r.cfg.Probes, Cluster: r.cfg.Cluster, Producers: r.producers, Groups: r.groups,
		Senders: r.children, Throttled: r.cells.throttled,
		Dirty:          &observe.DirtyPages{Axis: r.axis, Probes: r.cfg.Probes, Period: interval},
		DiskYardsticks: r.cfg.DiskYardsticks,
	}
	if r.consumersApart() {
		r.machine.Consumers = max(1, s.Consume.Processes)
	}
	if limits := r.limits(); r.machine.Consumers > 0 && !limits.None() {
		r.machine.Confined = &result.Confined{
			CPU: limits.CPU, MemoryBytes: limits.MemoryBytes, By: r.cells.by, Note: r.cells.note,
		}
	}
	r.intervals = &observe.Intervals{
		Axis: r.axis, Journal: r.journal, Period: interval, Producers: r.producers, Groups: r.groups,
		Collector: r.collector, Lag: r.lag, Machine: r.machine, Backlogs: r.backlogsOf,
		Endless: r.plan.endless, Due: r.stamped && !r.readOnly(), KeepTallies: r.faults.replicas != nil,
		Sends: !r.readOnly(), Replicas: r.faults.replicas, Throttled: r.guard.throttled,
	}
	if len(r.groups) > 1 {
		r.intervals.GroupNames = r.groupIDs
	}
	if r.queue != nil {
		r.machine.Traffic, r.intervals.Queue = r.queue.traffic.reading, true
	}
	r.looks = &observe.Looks{Axis: r.axis, Groups: r.groups}
	r.changes = &observe.Changes{
		Axis: r.axis, Journal: r.journal, Producers: r.producers, Groups: r.groups, Backlogs: r.backlogs,
		Endless: r.plan.endless, Costly: r.consumersApart(),
	}
	return nil
}

func (r *run) observe() {
	s := r.cfg.Scenario
	r.intervals.Begin(r.startedNs)
	r.observer.Go(func(context.Context) { r.intervals.Watch(r.observer) })
	r.observer.Start(r.machine.Dirty)
	if r.brokers != nil {
		r.observer.Start(r.brokers)
	}
	if all := r.faults.planned(); len(all) > 0 {
		r.observer.Go(func(ctx context.Context) { r.faults.injectAll(ctx, all) })
	}
	if r.faults.replicas != nil {
		r.observer.Start(r.faults.replicas)
	}
	if !r.consumed() {
		return
	}
	r.changes.StartedNs = r.startedNs
	if all := observe.PlannedChanges(s.Consume); len(all) > 0 && len(r.groups) > 0 {
		r.observer.Go(func(context.Context) { r.changes.Watch(r.observer, all) })
		if s.Backpressure.Gates() {
			r.observer.Go(func(context.Context) { r.looks.Watch(r.observer) })
		}
	}
	r.observer.Start(r.lag)
	if s.Backpressure.Gates() {
		r.observer.Go(r.keepGate)
	}
}

// backlogs counts the records that consumers have not reached, of those acked by now or, with
// readTo, of those that the topic held.
func (r *run) backlogs(reached [][]snapshot.Reached) []snapshot.Backlog {
	return r.backlogsOf(reached, r.ackedNow())
}

// ackedNow returns nil if backlogs do not depend on it.
func (r *run) ackedNow() []int64 {
	if r.readTo != nil {
		return nil
	}
	return r.producers.Snapshot(remote.Want{Fresh: true}).Behind.AckedIn
}

func (r *run) backlogsOf(reached [][]snapshot.Reached, ackedIn []int64) []snapshot.Backlog {
	if r.readTo != nil {
		return snapshot.Unread(reached, r.readTo)
	}
	return snapshot.Backlogs(reached, r.withFill(ackedIn))
}
