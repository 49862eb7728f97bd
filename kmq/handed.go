package kmq

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// handed lists the received leases. It drops settled ones each time the list has doubled, so that
// settling a lease need not search the list.
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

// The caller of tidy holds h.mu.
func (h *handed) tidy() {
	now := time.Now()
	h.leases = slices.DeleteFunc(h.leases, func(l *lease.Lease) bool {
		return l.State() != lease.Open || l.RanOut(now)
	})
}

const lookEvery = 2 * time.Millisecond

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
