package plant

import (
	"sync/atomic"
	"time"
)

// agenda orders events by time, and then as they were planned.
type agenda struct {
	now    time.Duration
	clock  atomic.Int64 // equals now; a gate also reads it from another goroutine
	events events
	seq    uint64
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

// events does not use container/heap, which would put each event into an interface: a third of a
// run's time.
type events []event

// An event in the past happens now.
func (a *agenda) at(t time.Duration, do func()) {
	a.seq++
	a.events.push(event{max(t, a.now), a.seq, do})
}

func (a *agenda) after(d time.Duration, do func()) { a.at(a.now+d, do) }

func (a *agenda) every(first, period time.Duration, do func()) {
	var again func()
	again = func() {
		do()
		a.after(period, again)
	}
	a.at(first, again)
}

func (a *agenda) run(end time.Duration) {
	for len(a.events) > 0 && a.events[0].at < end {
		e := a.events.pop()
		a.set(e.at)
		e.do()
	}
	a.set(end)
}

func (a *agenda) set(now time.Duration) {
	a.now = now
	a.clock.Store(int64(now))
}

func (e event) before(other event) bool {
	if e.at != other.at {
		return e.at < other.at
	}
	return e.seq < other.seq
}

func (e *events) push(added event) {
	*e = append(*e, added)
	all, i := *e, len(*e)-1
	for i > 0 {
		parent := (i - 1) / 2
		if !added.before(all[parent]) {
			break
		}
		all[i], i = all[parent], parent
	}
	all[i] = added
}

func (e *events) pop() event {
	all, last := *e, len(*e)-1
	first, moved := all[0], all[last]
	all[last] = event{}
	*e = all[:last]
	if all = *e; last > 0 {
		all[all.sink(moved)] = moved
	}
	return first
}

// sink moves a free place down from the top to where moved belongs, and returns that place.
func (e events) sink(moved event) (i int) {
	for {
		child := 2*i + 1
		if child >= len(e) {
			return i
		}
		if right := child + 1; right < len(e) && e[right].before(e[child]) {
			child = right
		}
		if !e[child].before(moved) {
			return i
		}
		e[i], i = e[child], child
	}
}
