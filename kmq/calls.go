package kmq

import (
	"context"
	"sync"
)

// calls counts running calls until it is closed.
type calls struct {
	mu     sync.Mutex
	n      int
	closed bool
	none   chan struct{} // closed when a closed calls has none left
}

// enter returns false if calls is closed. If it returns true, close waits for leave.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return false
	}
	c.n++
	return true
}

func (c *calls) leave() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.closed && c.n == 0 {
		close(c.none)
	}
}

// close lets no further call in, and waits for the running ones, at most until ctx ends.
func (c *calls) close(ctx context.Context) error {
	c.mu.Lock()
	c.closed, c.none = true, make(chan struct{})
	if c.n == 0 {
		close(c.none)
	}
	c.mu.Unlock()
	select {
	case <-c.none:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *calls) isClosed() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed
}
