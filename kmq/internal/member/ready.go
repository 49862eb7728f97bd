package member

import (
	"context"
	"slices"
	"sync"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// ready are the leases that may be handed out, the first first. It holds no more than the
// set's bound of open ones; those that ended while they waited are dropped when they are
// many, or come to the front.
type ready struct {
	bound int
	some  chan struct{} // a token: there may be something to take
	low   chan struct{} // a token: there may be few

	mu    sync.Mutex
	items []*lease.Lease
	head  int  // where items begins
	most  int  // that were asked for at a time
	waits bool // somebody waits until there are few
}

func newReady(bound int) *ready {
	return &ready{bound: bound, some: make(chan struct{}, 1), low: make(chan struct{}, 1)}
}

// leastAhead is how many leases keep those busy who receive until there are others.
const leastAhead = 512

// waitLow waits until those that are ready are few, or for ctx, and returns how many others
// are enough.
func (r *ready) waitLow(ctx context.Context) int {
	for {
		r.mu.Lock()
		n := r.ahead()
		r.waits = len(r.items)-r.head > n
		waits := r.waits
		r.mu.Unlock()
		if !waits || ctx.Err() != nil {
			return 2 * n
		}
		select {
		case <-r.low:
		case <-ctx.Done():
		}
	}
}

// append puts leases behind all others.
func (r *ready) append(leases []*lease.Lease) {
	r.mu.Lock()
	if len(r.items)+len(leases) > cap(r.items) && r.head > 0 && r.head >= len(r.items)-r.head {
		r.shift()
	}
	r.items = append(r.items, leases...)
	if len(r.items)-r.head > r.bound {
		r.shift()
		r.items = slices.DeleteFunc(r.items, ended)
	}
	r.tell()
	r.fell()
	r.mu.Unlock()
}

// push puts leases before all others.
func (r *ready) push(leases []*lease.Lease) {
	r.mu.Lock()
	if len(leases) > r.head { // gaps at both ends, so that each lease is copied O(1) times on average
		old := r.items[r.head:]
		r.head = len(leases) + len(old)
		r.items = append(make([]*lease.Lease, r.head, r.head+2*len(old)), old...)
	}
	r.head -= len(leases)
	copy(r.items[r.head:], leases)
	r.tell()
	r.mu.Unlock()
}

// take takes so many from the front, at most.
func (r *ready) take(most int) []*lease.Lease {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.most = min(r.bound, max(r.most, most))
	defer r.fell()
	n := min(most, len(r.items)-r.head)
	if n == 0 {
		return nil
	}
	out := slices.Clone(r.items[r.head : r.head+n])
	clear(r.items[r.head : r.head+n])
	r.head += n
	r.tell()
	return out
}

func (r *ready) any() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.items) > r.head
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

// ahead is how many are few: enough for two that ask for as many as anybody did.
func (r *ready) ahead() int { return max(leastAhead, 2*r.most) }

// fell wakes the one who waits until there are few, if so.
func (r *ready) fell() {
	if !r.waits || len(r.items)-r.head > r.ahead() {
		return
	}
	r.waits = false
	select {
	case r.low <- struct{}{}:
	default:
	}
}

func ended(l *lease.Lease) bool { return l.State() != lease.Open }
