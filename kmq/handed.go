package kmq

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// handed are the leases that the application has in hand, for those who wait until it has
// none any more. Leases are not taken out as they are settled: now and then, as often as
// they double, those that are settled are dropped, so that a record costs no search.
type handed struct {
	mu     sync.Mutex
	leases []*lease.Lease
	limit  int
}

const fewHanded = 64

func (h *handed) add(leases []*lease.Lease) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.leases)+len(leases) > max(h.limit, fewHanded) {
		h.tidy()
		h.limit = 2 * (len(h.leases) + len(leases))
	}
	h.leases = append(h.leases, leases...)
}

// tidy drops what is not in hand; under the lock.
func (h *handed) tidy() {
	now := time.Now()
	h.leases = slices.DeleteFunc(h.leases, func(l *lease.Lease) bool {
		return l.State() != lease.Open || l.RanOut(now)
	})
}

// lookEvery is how often wait looks: settling tells nobody, so that it costs nothing.
const lookEvery = 2 * time.Millisecond

// wait waits until nothing is in hand, or the queue is closed.
func (h *handed) wait(ctx context.Context, closed *atomic.Bool) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		h.mu.Lock()
		h.tidy()
		left := len(h.leases)
		h.mu.Unlock()
		switch {
		case closed.Load():
			return ErrClosed
		case left == 0:
			return nil
		}
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
