package fleet

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/bench"
	"kafkabench.example/kafka-bench/internal/run/fleet/control"
	"kafkabench.example/kafka-bench/internal/run/fleet/echo"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

type link struct {
	ctx    context.Context
	m      *member
	run    int
	index  int
	of     int
	warmup time.Duration
	fills  bool
	own    bool         // producers send only to own consumers' partitions
	clock  func() int64 // of the machine, in ns

	started chan bench.Started
	spool   *spool
	tell    func(format string, args ...any)
	clocks  *clocks
	wanted  []int
	owns    chan []int32 // newest partitions of the part
	seen    *seenClocks

	interrupt chan struct{} // closing it ends the part early
	once      sync.Once
	early     atomic.Bool // the agent itself was interrupted
	abandon   func()
	why       error // the reason if the part did not start or was abandoned; read it after follow
}

func (l *link) Ready(owned []int32) {
	select { // drop an older value
	case <-l.owns:
	default:
	}
	l.owns <- owned
}

func (l *link) Filled(ctx context.Context, ackedIn []int64) (all bench.Filled, err error) {
	if err := l.m.writer.Write(ctx, l.run, control.Filled{AckedIn: ackedIn}); err != nil {
		return all, err
	}
	err = l.m.await(ctx, func(s *control.State) bool {
		reading := s.Reading()
		if s.Run() != l.run || reading == nil {
			return false
		}
		all.From, all.ReadTo = reading.From, reading.ReadTo
		all.AckedIn = filledIn(s, l.of, len(ackedIn))
		return true
	})
	return all, err
}

func filledIn(s *control.State, of, partitions int) []int64 {
	sum := make([]int64, partitions)
	for i := range of {
		if a, _ := s.Agent(i); a.Filled != nil {
			for p, n := range a.Filled.AckedIn[:min(partitions, len(a.Filled.AckedIn))] {
				sum[p] += n
			}
		}
	}
	return sum
}

func (l *link) Spent(ctx context.Context, own *snapshot.Spending, parts []int) (all snapshot.Spending, err error) {
	if own != nil {
		if err := l.m.writer.Write(ctx, l.run, control.Spent(*own)); err != nil {
			return all, err
		}
	}
	err = l.m.await(ctx, func(s *control.State) (complete bool) {
		all, complete = spent(s, parts)
		return complete && s.Run() == l.run
	})
	return all, err
}

func spent(s *control.State, parts []int) (all snapshot.Spending, complete bool) {
	all = snapshot.Unspent
	for _, i := range parts {
		a, _ := s.Agent(i)
		if a.Spent == nil {
			return all, false
		}
		all = all.Merge(snapshot.Spending(*a.Spent))
	}
	return all, true
}

func (l *link) Started() <-chan bench.Started { return l.started }

func (l *link) follow(deadline time.Duration) {
	if l.fills { // a fill may take long, but its agents write meanwhile
		_ = l.m.awaitTalk(l.ctx, deadline, func(s *control.State) bool {
			return s.Run() != l.run || s.End() != nil || s.Reading() != nil || s.Stop() != nil
		})
	}
	wait, cancel := context.WithTimeout(l.ctx, deadline)
	defer cancel()
	var start *control.Start
	err := l.m.await(wait, func(s *control.State) bool {
		start = s.Start()
		return s.Run() != l.run || s.End() != nil || start != nil || s.Stop() != nil
	})
	switch {
	case err != nil:
		l.why = l.notStarted(err)
	case start == nil:
		l.why = fmt.Errorf("%w: it gave the run up", errNoCoordinator)
	case start.ClocksNs[l.index]-int64(l.warmup)-l.clock() < int64(lateLead):
		l.why = fmt.Errorf("the start of the run was read too late: the load would begin in less than %v", lateLead)
	}
	if l.why != nil {
		close(l.started)
		l.end() // the part may still be filling the topic
		return
	}
	zero := start.ClocksNs[l.index]
	stops := make(chan int64, 1)
	s := bench.Started{Stop: stops, Zero: load.Zero{ClockNs: zero, LengthNs: start.LengthNs}, ShiftsNs: make([]int64, l.of)}
	l.seen = l.clocks.see(l.wanted, zero, start.ClocksNs[0]-zero)
	for _, w := range l.seen.all {
		s.ShiftsNs[w.agent] = start.ClocksNs[w.agent] - w.used - zero
	}
	l.seen.tell(l.tell)
	go l.seen.watch(l.ctx)
	if l.own {
		for p, owner := range start.Owners {
			if owner == l.index {
				s.Into = append(s.Into, int32(p))
			}
		}
	}
	l.started <- s
	var stop *control.Stop
	ended := false // before this agent had handed in
	over := func(s *control.State) bool {
		ended = s.End() != nil && s.Run() == l.run && !s.Complete(l.index)
		return s.Run() != l.run || s.End() != nil
	}
	err = l.m.await(l.ctx, func(s *control.State) bool { stop = s.Stop(); return stop != nil || over(s) })
	if err == nil && stop != nil {
		stops <- stop.AtNs
		l.sleepUntil(zero + stop.AtNs)
		l.end()
		err = l.m.await(l.ctx, over)
	}
	switch {
	case errors.Is(err, control.ErrGone):
		l.why = err
		l.abandon()
	case ended:
		l.why = errors.New("the coordinator gave the run up")
		l.abandon()
	}
}

func (l *link) notStarted(err error) error {
	switch {
	case l.ctx.Err() != nil: // the part has ended by itself
		return nil
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%w: the run was not started in time", errNoCoordinator)
	}
	return fmt.Errorf("%w: %w", errNoCoordinator, err)
}

func (l *link) sleepUntil(clockNs int64) {
	select {
	case <-time.After(time.Duration(clockNs - l.clock())):
	case <-l.ctx.Done():
	}
}

func (l *link) end() { l.once.Do(func() { close(l.interrupt) }) }

func (l *link) Sent(ctx context.Context, ackedIn []int64) ([]int64, error) {
	// Use l.ctx: the other agents need this record even after ctx, which ends with the drain.
	sent := control.Sent{AckedIn: ackedIn}
	if l.early.Load() {
		sent.Failed = result.EndedEarly
	}
	if err := l.m.writer.Write(l.ctx, l.run, sent); err != nil {
		return nil, err
	}
	all := make([]int64, len(ackedIn))
	err := l.m.await(ctx, func(s *control.State) bool {
		if s.Run() != l.run || len(s.Unsent(l.of)) > 0 {
			return false
		}
		clear(all)
		for _, a := range s.Agents() {
			for p, n := range a.Sent.AckedIn[:min(len(all), len(a.Sent.AckedIn))] {
				all[p] += n
			}
		}
		return true
	})
	return all, err
}

func (l *link) HandIn(s snapshot.Snapshot) error {
	s.Instance = l.m.instance
	return l.spool.add(s)
}

// getReady writes that the part is ready, again after each change, until the run starts. Inexact
// clocks count as changed after readyAgain.
func (l *link) getReady() {
	var owned []int32
	var last time.Time
	has, told := false, false
	tick := time.NewTicker(echo.Every)
	defer tick.Stop()
	for {
		select {
		case owned = <-l.owns:
			has, told = true, false
		case <-tick.C:
		case <-l.ctx.Done():
			return
		}
		started := false
		l.m.look(func(s *control.State) {
			started = s.Run() != l.run || s.Start() != nil
			l.clocks.ask(l.wanted, s)
		})
		if started {
			return
		}
		now := l.clock()
		known := l.clocks.know(l.ctx, l.run, l.wanted, now)
		offset, _ := l.clocks.at(0, now)
		if !has || !known || told && (l.clocks.exact(0) || time.Since(last) < readyAgain) {
			continue
		}
		ready := control.Ready{Partitions: owned, ClockNs: now, ClockOffsetNs: offset.OffsetNs, ClockErrorNs: offset.ErrorNs}
		told = l.m.writer.Write(l.ctx, l.run, ready) == nil // on an error the deadline ends the run
		last = time.Now()
	}
}

func (l *link) Clocks(ctx context.Context) judge.Clocks {
	return l.seen.conclude(ctx, l.run)
}

const pulseEvery = 5 * time.Second

type pulses struct {
	link *link
	next observe.Watcher

	sum  control.Pulse
	last time.Time
}

func (p *pulses) Began(dir string) {
	if p.next != nil {
		p.next.Began(dir)
	}
}

func (p *pulses) Interval(iv result.Interval) {
	p.sum.Scheduled += iv.Scheduled
	p.sum.Acked += iv.Acked
	p.sum.Delivered += iv.Delivered
	p.sum.Failed += iv.Failed
	p.sum.Deferred, p.sum.InFlight, p.sum.AtNs, p.sum.Phase = iv.DeferredRecords, iv.InFlightRecords, iv.EndNs, iv.Phase
	p.offer(p.sum)
	if p.next != nil {
		p.next.Interval(iv)
	}
}

// offer writes at most one pulse per pulseEvery, and none during another write.
func (p *pulses) offer(sum control.Pulse) {
	if now := time.Now(); now.Sub(p.last) >= pulseEvery {
		p.last = now
		go func() { _, _ = p.link.m.writer.Offer(p.link.ctx, p.link.run, sum) }() // on an error the next one follows
	}
}

// Event offers a pulse for the fill's progress, which shows that the agent is alive.
func (p *pulses) Event(e result.Event) {
	if e.Kind == "progress" {
		p.offer(control.Pulse{Phase: "fill"})
	}
	if p.next != nil {
		p.next.Event(e)
	}
}
