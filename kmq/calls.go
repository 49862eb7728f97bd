package kmq

import (
	"context"
	"sync/atomic"
)

// calls counts running calls until it is closed. Use newCalls.
type calls struct {
	n      atomic.Int64
	closed atomic.Bool
	none   chan struct{} // a token: a closed calls may have none left
}

func newCalls() *calls { return &calls{none: make(chan struct{}, 1)} }

// enter returns false if calls is closed. If it returns true, close waits for leave.
func (c *calls) enter() bool {
	c.n.Add(1)
	if c.closed.Load() {
		c.leave()
		return false
	}
	return true
}

func (c *calls) leave() {
	if c.n.Add(-1) > 0 || !c.closed.Load() {
		return
	}
	select {
	case c.none <- struct{}{}:
	default:
	}
}

// close lets no further call in, and waits for the running ones, at most until ctx ends.
func (c *calls) close(ctx context.Context) error {
	c.closed.Store(true)
	for c.n.Load() > 0 {
		select {
		case <-c.none:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (c *calls) isClosed() bool { return c.closed.Load() }
