package member

import (
	"slices"
	"sync"

	"kafka-bench/kmq/internal/lease"
)

// ready are the leases that may be handed out, the first first. It holds no more than the
// set's bound of open ones; those that ended while they waited are dropped when they are
// many, or come to the front.
type ready struct {
	bound int
	some  chan struct{} // a token: there may be something to take

	mu    sync.Mutex
	items []*lease.Lease
	head  int // where items begins
}

func newReady(bound int) *ready { return &ready{bound: bound, some: make(chan struct{}, 1)} }

// append puts leases behind all others.
func (r *ready) append(leases []*lease.Lease) {
	r.mu.Lock()
	if r.head > 0 && r.head >= len(r.items)-r.head {
		r.shift()
	}
	r.items = append(r.items, leases...)
	if len(r.items)-r.head > r.bound {
		r.shift()
		r.items = slices.DeleteFunc(r.items, ended)
	}
	r.tell()
	r.mu.Unlock()
}

// push puts leases before all others.
func (r *ready) push(leases []*lease.Lease) {
	r.mu.Lock()
	if n := len(leases); n <= r.head {
		r.head -= n
		copy(r.items[r.head:], leases)
	} else {
		r.items = slices.Concat(leases, r.items[r.head:])
		r.head = 0
	}
	r.tell()
	r.mu.Unlock()
}

// take takes up to max from the front.
func (r *ready) take(max int) []*lease.Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(max, len(r.items)-r.head)
	if n == 0 {
		return nil
	}
	out := slices.Clone(r.items[r.head : r.head+n])
	clear(r.items[r.head : r.head+n])
	r.head += n
	r.tell()
	return out
}

// shift moves what there is to the front of the memory.
func (r *ready) shift() {
	n := copy(r.items, r.items[r.head:])
	clear(r.items[n:])
	r.items, r.head = r.items[:n], 0
}

// tell wakes one of those who wait, who wakes the next if there is more.
func (r *ready) tell() {
	if len(r.items) == r.head {
		return
	}
	select {
	case r.some <- struct{}{}:
	default:
	}
}

func ended(l *lease.Lease) bool { return l.State() != lease.Open }
