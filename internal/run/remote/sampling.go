package remote

import "time"

// Whoever takes the figures of many processes at fixed times must not wait for the one
// that hangs: all the others would have no figures for as long. So a sampler asks with
// a short deadline of its own, and what was answered last stands in for what is not
// answered by then. The question goes on all the same: whether a child hangs is decided
// by the longer deadline of Call, and what comes late is kept.

// sampleTimeout bounds how long a sampler waits for an answer.
const sampleTimeout = 500 * time.Millisecond

// soon has something asked and waits for the answer for as long as a sampler can; false
// is that it is still to come. ask keeps what comes. A child that owes an answer is asked
// nothing more by samplers, so that it costs them their patience once.
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

// owes tells whether a sampler's question has no answer yet that it has given up
// waiting for.
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

// settle waits for what the child owes; Call bounds that.
func (c *Child) settle() {
	c.mu.Lock()
	owed := c.owed
	c.mu.Unlock()
	if owed != nil {
		<-owed
	}
}

// Name is what a person is told of the process.
func (c *Child) Name() string { return c.name }

// Late tells whether the process has left a sampler without an answer, and has not made
// up for that: what is told of it is what it told last.
func (c *Child) Late() bool { return c.owes() }
