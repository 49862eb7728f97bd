package segmentio

import "sync"

// No rebalance happens between a poll that returned records and the next poll, and polls take no records during a
// rebalance. A waiting rebalance goes before the next poll.
type gate struct {
	mu      sync.Mutex
	open    sync.Cond // holding became false, or closed true
	holding bool      // the last poll returned records
	moving  int       // rebalances that wait or run, at most one
	closed  bool
}

func newGate() *gate {
	g := &gate{}
	g.open.L = &g.mu
	return g
}

func (g *gate) settle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.holding = false
	g.open.Broadcast()
}

// After shut, rebalances do not wait, and polls take no records.
func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.closed = true
	g.open.Broadcast()
}

func (g *gate) isShut() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// take calls the function it, unless a rebalance waits or runs. The function reports whether the
// caller now holds records.
func (g *gate) take(it func() (some bool)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.moving == 0 && !g.closed {
		g.holding = it()
	}
}

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
