package plant

import (
	"container/heap"
	"time"
)

// agenda is what will happen, in order of time and, at the same time, in the
// order in which it was planned.
type agenda struct {
	now    time.Duration
	events events
	seq    uint64
}

type event struct {
	at  time.Duration
	seq uint64
	do  func()
}

type events []event

// at plans something; what lies in the past happens now.
func (a *agenda) at(t time.Duration, do func()) {
	a.seq++
	heap.Push(&a.events, event{max(t, a.now), a.seq, do})
}

func (a *agenda) after(d time.Duration, do func()) { a.at(a.now+d, do) }

// every plans something again and again, first at the given time.
func (a *agenda) every(first, period time.Duration, do func()) {
	var again func()
	again = func() {
		do()
		a.after(period, again)
	}
	a.at(first, again)
}

// run lets happen what is planned before the end.
func (a *agenda) run(end time.Duration) {
	for len(a.events) > 0 && a.events[0].at < end {
		e := heap.Pop(&a.events).(event)
		a.now = e.at
		e.do()
	}
	a.now = end
}

func (e events) Len() int { return len(e) }

func (e events) Less(i, j int) bool {
	if e[i].at != e[j].at {
		return e[i].at < e[j].at
	}
	return e[i].seq < e[j].seq
}

func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }

// Push implements [heap.Interface].
func (e *events) Push(x any) { *e = append(*e, x.(event)) }

// Pop implements [heap.Interface].
func (e *events) Pop() any {
	last := len(*e) - 1
	popped := (*e)[last]
	(*e)[last] = event{}
	*e = (*e)[:last]
	return popped
}
