package remote

import "time"

// A sampler must not wait for one hanging process, because the figures of all others would be
// missing meanwhile. It therefore waits only sampleTimeout, and then uses the last answer. The
// request continues: the longer limit of Call decides whether the child hangs, and a late answer is
// kept.

// sampleTimeout bounds how long a sampler waits for an answer.
const sampleTimeout = 500 * time.Millisecond

// soon calls ask, which keeps the answer, and reports whether it returned within sampleTimeout. A
// child that owes an answer is not asked again by samplers, so it delays them once.
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

// owes reports whether an answer is pending for which a sampler did not wait.
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

// settle waits for an owed answer; Call bounds this.
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

// Late reports whether the child owes a sampler an answer, so that its figures are its last report.
func (c *Child) Late() bool { return c.owes() }
