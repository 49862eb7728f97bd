package segmentio

import "sync"

// gate keeps rebalances and polls apart: between a poll that returned records and the
// next one no rebalance happens, and while one happens no poll takes records. So when
// OnRevoked asks for a last commit, the caller knows all that was returned, and nothing
// of a revoked partition comes after it. A rebalance that waits goes before the next
// poll.
type gate struct {
	mu      sync.Mutex
	open    sync.Cond // the caller holds nothing any more
	holding bool      // the last poll returned records
	moving  int       // rebalances that wait or are under way: one at the most
	closed  bool
}

func newGate() *gate {
	g := &gate{}
	g.open.L = &g.mu
	return g
}

// settle says that the caller has dealt with what it was given.
func (g *gate) settle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holding = false
	g.open.Broadcast()
}

// shut lets all rebalances through from now on, and no records.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.open.Broadcast()
}

// isShut tells whether shut was called.
func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// take calls it unless there is a rebalance. It reports whether the caller now holds
// records.
func (g *gate) take(it func() (some bool)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.moving == 0 && !g.closed {
		g.holding = it()
	}
}

// move calls rebalance when the caller holds nothing.
func (g *gate) move(rebalance func()) {
	g.mu.Lock()
	g.moving++
	for g.holding && !g.closed {
		g.open.Wait()
	}
	g.mu.Unlock()
	rebalance()
	g.mu.Lock()
	g.moving--
	g.mu.Unlock()
}
