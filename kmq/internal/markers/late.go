package markers

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// A start is there for what outlives a commit: offsets go past a record that is open, and the
// markers know of it. So what is settled before it would be committed needs no marker at all.
// Records are handed out as they come, and after a while, what is still open of them has its
// starts written, from when on it is as if they had come first. Until then offsets stay before
// them, and who crashes leaves them to the next member of the group, as an attempt that nobody
// counted. Lest a record that kills its process goes uncounted for ever, starts come first
// for a while where somebody crashed: there the next member finds it.

// CarefulFor is for how long the records of a partition wait for their starts, from when the
// first of it was read, where the one who had it before did not leave it in order. It is to be
// longer than the work that a crash leaves uncommitted: what was started of that and not ended is
// not only to be counted, but to be ended. Whatever was before, the first poll of a partition
// waits: so nothing is handed out of one of which nothing is committed. Tests set it before there
// is a queue; 0: nothing waits. Where commits are seldom it is twice CommitEvery, if that is longer.
var CarefulFor = 2 * time.Second

// carefulFor is that for a queue that commits every so often.
func carefulFor(commitEvery time.Duration) time.Duration {
	if CarefulFor == 0 {
		return 0
	}
	return max(CarefulFor, 2*commitEvery)
}

const (
	// lateAtMost is how long a start may wait, and at most half as long again, so that what
	// comes due meanwhile is in the same batch; where locks are short, an eighth of that.
	lateAtMost = 100 * time.Millisecond
	latePer    = 8
	// confirmAfter is how long they may have waited without the group being asked whether their
	// partitions are still the member's: a process that stood still would bring back what others
	// have read meanwhile, and ended.
	confirmAfter = time.Second
)

// waiting is what is known of the records of a start that are in somebody's hand, or in line,
// before it is durable; under queue.marking.
type waiting struct {
	open    int                   // leases of the poll that are not done with
	given   bool                  // one of them was given back
	writing bool                  // its starts are on their way
	facts   map[*lease.Lease]fact // what became of them: to be written once they are durable
	over    chan struct{}         // closed when they are, or never will be
	poke    bool                  // a start says that a record is to come again soon
}

// late are the polls whose starts wait.
type late struct {
	q      *queue
	after  atomic.Int64 // ns that they wait
	unsure atomic.Bool  // the group did not say whether it still has the member

	polls []*start // in the order in which they were read; under queue.marking

	wake  chan struct{}   // there is a first one
	hurry chan struct{}   // a record was given back
	asked chan chan error // all are to be begun, and it to be told how that went
	done  chan struct{}
}

func newLate(q *queue) *late {
	t := &late{
		q:    q,
		wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		asked: make(chan chan error), done: make(chan struct{}),
	}
	t.after.Store(int64(min(lateAtMost, q.cfg.Visibility/latePer)))
	go t.run()
	return t
}

// pace waits while nothing can be started, for what is handed out meanwhile is kept.
func (t *late) pace(ctx context.Context) {
	for t.unsure.Load() && ctx.Err() == nil {
		select {
		case <-time.After(lateAtMost):
		case <-ctx.Done():
		}
	}
}

// close waits for the end, which comes with that of the starts.
func (t *late) close() { <-t.done }

// add takes a poll in, and returns the leases to be handed out.
func (t *late) add(p *start) []*lease.Lease {
	p.from = time.Now()
	p.late = &waiting{open: len(p.leases)}
	leases := slices.Clone(p.leases)
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	for i, l := range p.leases {
		l.Private, l.Index = p, int32(i)
	}
	t.q.set.AddAll(leases, p.from.Add(t.q.cfg.Visibility))
	if t.polls = append(t.polls, p); len(t.polls) == 1 {
		signal(t.wake)
	}
	return leases
}

// note has written what became of a record: once its start is durable, and neither of them if
// it is done with before it has one.
func (q *queue) note(l *lease.Lease, f fact) {
	q.marking.Lock()
	defer q.marking.Unlock()
	q.noted(l, f)
}

// noted is note, under marking.
func (q *queue) noted(l *lease.Lease, f fact) {
	p, late := l.Private.(*start)
	switch {
	case !late:
		q.out.put(f, l.At.Offset)
	case p.late.writing:
		p.late.note(l, f)
	case f.kind == marker.End:
		q.late.settled(p, l)
	default:
		p.late.note(l, f)
		p.late.given = true
		signal(q.late.hurry)
	}
}

func (w *waiting) note(l *lease.Lease, f fact) {
	if w.facts == nil {
		w.facts = map[*lease.Lease]fact{}
	}
	w.facts[l] = f
}

// settled lets go of a record that needs no start; under marking.
func (t *late) settled(p *start, l *lease.Lease) {
	p.leases[l.Index], l.Private = nil, nil
	delete(p.late.facts, l)
	if p.late.open--; p.late.open > 0 {
		return
	}
	t.q.started.advance(p.reads)
	p.leases, p.reads, p.runs = nil, nil, nil
}

// run begins the starts of what has waited long enough, until the starts end.
func (t *late) run() {
	defer close(t.done)
	var due time.Time // zero: none is
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	trouble := engine.NewComplaint(t.q.cfg.Log)
	for {
		if !due.IsZero() {
			timer.Reset(time.Until(due))
		}
		var asked chan error
		select {
		case <-t.wake:
			if due.IsZero() {
				due = time.Now().Add(time.Duration(t.after.Load()))
			}
			continue
		case <-t.hurry:
			if t.unsure.Load() {
				continue
			}
			if soon := time.Now().Add(hurryAtMost); due.IsZero() || soon.Before(due) {
				due = soon
			}
			continue
		case <-timer.C:
		case asked = <-t.asked:
		case <-t.q.starts.running.Done():
			return
		}
		var err error
		if due, err = t.begin(asked != nil); err != nil {
			trouble.About("write start markers", err)
		}
		if asked != nil {
			asked <- err
		}
	}
}

// begin begins what is due, or all, and says when it is to be looked again. An error says that
// nothing was, because it is not known whether the partitions are still the member's, or that
// nothing ever will be.
func (t *late) begin(all bool) (next time.Time, err error) {
	if t.stoodStill() {
		err := t.q.member.Confirm(t.q.starts.running)
		t.unsure.Store(err != nil)
		if err != nil {
			return time.Now().Add(confirmAfter), fmt.Errorf("kmq: learn whether the group still has this member: %w", err)
		}
	} else {
		t.unsure.Store(false)
	}
	p, next := t.take(all)
	if p == nil {
		return next, nil
	}
	if err := t.q.starts.begin(t.q.starts.running, p); err != nil {
		t.drop(p)
		return next, err
	}
	return next, nil
}

// stoodStill is whether what is open has waited for longer than it should. It lets go of what is
// done with.
func (t *late) stoodStill() bool {
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	t.polls = slices.DeleteFunc(t.polls, func(p *start) bool { return p.late.open == 0 })
	return len(t.polls) > 0 && time.Since(t.polls[0].from) > confirmAfter
}

// take takes out of the polls what is open of those that are due, for which it returns one
// start; nil if nothing is. It says when it is to be looked again; zero: when there is another
// poll.
func (t *late) take(all bool) (due *start, next time.Time) {
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	now, after := time.Now(), time.Duration(t.after.Load())
	var from []*start
	t.polls = slices.DeleteFunc(t.polls, func(p *start) bool {
		switch {
		case p.late.open == 0:
			return true
		case all || p.late.given || now.Sub(p.from) >= after:
			from = append(from, p)
			return true
		}
		return false
	})
	if len(t.polls) > 0 {
		next = t.polls[0].from.Add(after)
		if soonest := now.Add(after / 2); next.Before(soonest) {
			next = soonest
		}
	}
	if len(from) == 0 {
		return nil, next
	}
	return t.join(from, now), next
}

// join makes one start of what is open of several polls; under marking.
func (t *late) join(polls []*start, now time.Time) *start {
	w := &waiting{writing: true, over: make(chan struct{})}
	all := &start{late: w}
	for _, p := range polls {
		for _, l := range p.leases {
			if l == nil {
				continue
			}
			l.Private = all
			all.leases = append(all.leases, l)
			if f, ok := p.late.facts[l]; ok {
				w.note(l, f)
			}
		}
		all.reads = append(all.reads, p.reads...)
	}
	for _, run := range runs(all.leases) {
		all.runs = t.mark(all.runs, run, w, now)
	}
	return all
}

// mark appends the start markers of a run, each of records that are lent for as long.
func (t *late) mark(to []marker.Marker, run []*lease.Lease, w *waiting, now time.Time) []marker.Marker {
	begins := len(to)
	for _, l := range run {
		left := w.left(l, now)
		if n := len(to); n > begins && to[n-1].Duration == left {
			to[n-1].Count++
			continue
		}
		to = append(to, marker.Marker{
			Partition: l.At.Partition, Offset: l.At.Offset, Type: marker.Start,
			Count: 1, Duration: left, Holder: t.q.holder,
		})
	}
	return to
}

// left is for how long a record is lent that a start is written of: never less than it is
// here. For one that was given back, that is the delay; nothing else need be written of it.
func (w *waiting) left(l *lease.Lease, now time.Time) time.Duration {
	left := l.Deadline().Sub(now)
	switch f, ok := w.facts[l]; {
	case !ok || f.kind != marker.Release:
	case f.undelivered: // the release that says so follows, and is to come in time
		left = max(left, hurryBefore)
	default:
		left, w.poke = f.delay, true
		delete(w.facts, l)
	}
	left, _ = millis(min(max(left, time.Millisecond), marker.MaxDuration), 0)
	return left
}

// began notes that the starts are durable, and has written what became of their records
// meanwhile.
func (t *late) began(p *start) {
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	for _, l := range p.leases {
		l.Private = nil
		l.Mark |= begun
		f, ok := p.late.facts[l]
		if !ok {
			continue
		}
		t.q.out.put(f, l.At.Offset)
		if f.kind == marker.End && time.Until(l.Deadline()) < hurryBefore {
			t.q.out.hasten()
		}
	}
	t.over(p)
	if p.late.poke && t.q.tracker != nil {
		t.q.tracker.poke()
	}
}

// drop lets go of what will never be known to be started.
func (t *late) drop(p *start) {
	if p.late == nil {
		return
	}
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	for _, l := range p.leases {
		l.Private = nil
	}
	t.over(p)
}

// over lets those go on who wait for a start; under marking.
func (t *late) over(p *start) {
	p.leases, p.late.facts = nil, nil
	close(p.late.over)
}

// adopt has a part of a start answer for its records.
func (t *late) adopt(part, of *start) {
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	part.late = &waiting{writing: true, over: make(chan struct{}), poke: of.late.poke}
	for _, l := range part.leases {
		l.Private = part
		if f, ok := of.late.facts[l]; ok {
			part.late.note(l, f)
			delete(of.late.facts, l)
		}
	}
}

// lend lends those of the leases whose starts wait for a time, which the starts will tell, and
// returns the others, once they are durable.
func (t *late) lend(ctx context.Context, leases []*lease.Lease, d time.Duration) ([]*lease.Lease, error) {
	for {
		rest, over := t.tryLend(leases, d)
		if over == nil {
			return rest, nil
		}
		select {
		case <-over:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-t.q.starts.running.Done():
			return nil, lease.ErrClosed
		}
		leases = rest
	}
}

// tryLend is lend, with what is to be waited for; nil: nothing.
func (t *late) tryLend(leases []*lease.Lease, d time.Duration) (rest []*lease.Lease, over chan struct{}) {
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	var waits []*lease.Lease
	for _, l := range leases {
		p, late := l.Private.(*start)
		if late && !p.late.writing {
			waits = append(waits, l)
			continue
		}
		rest = append(rest, l)
		if late {
			over = p.late.over
		}
	}
	if len(waits) > 0 {
		t.q.set.Lend(waits, time.Now().Add(d))
	}
	return rest, over
}

// flush waits until everything that was read before is started, or aside, or for ctx.
func (t *late) flush(ctx context.Context) error {
	asked := make(chan error, 1)
	select {
	case t.asked <- asked:
	case <-ctx.Done():
		return ctx.Err()
	case <-t.done:
		return lease.ErrClosed
	}
	select {
	case err := <-asked:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return ctx.Err()
	case <-t.done:
		return lease.ErrClosed
	}
	return t.q.starts.flush(ctx)
}

// forget loses the records of partitions that have no starts: others read them again.
func (t *late) forget(partitions []int32) {
	t.q.marking.Lock()
	defer t.q.marking.Unlock()
	for _, p := range t.polls {
		p.reads = slices.DeleteFunc(p.reads, func(r read) bool { return slices.Contains(partitions, r.partition) })
		for _, l := range p.leases {
			if l == nil || !slices.Contains(partitions, l.At.Partition) {
				continue
			}
			if t.q.set.Settle(l, lease.Lost) == nil {
				t.q.lost.Add(1)
			}
			t.settled(p, l)
		}
	}
}
