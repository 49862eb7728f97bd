package remote

import "time"

// A sampler must not wait for one hanging process: the figures of all others would be missing
// meanwhile. It waits only sampleTimeout, and then uses the last answer. The request continues: the
// limit of Call decides whether the child hangs, and a late answer is kept.

const sampleTimeout = 500 * time.Millisecond

// soon calls ask and reports whether it returned within sampleTimeout. Samplers do not ask a child
// again that owes an answer, so such a child delays them only once.
func (c *Child) soon(ask func()) (inTime bool) {
	if c.owes() {
		return false
	}
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		ask()
	}()
	timer := time.NewTimer(sampleTimeout)
	defer timer.Stop()
	select {
	case <-answered:
		return true
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.owed = answered
	return false
}

func (c *Child) owes() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-c.owed:
		return false
	default:
		return c.owed != nil
	}
}

func (c *Child) settle() {
	c.mu.Lock()
	owed := c.owed
	c.mu.Unlock()
	if owed != nil {
		<-owed
	}
}

// Name returns the name of the process for messages.
func (c *Child) Name() string { return c.name }

// Late reports whether the child owes a sampler an answer.
func (c *Child) Late() bool { return c.owes() }
