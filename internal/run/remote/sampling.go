package remote

import (
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
)

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

// AskSoon is Ask for a sampler: of a process that does not answer soon, it returns what
// was answered last.
func AskSoon[R any](p *Process, method string) (R, error) {
	p.child.soon(func() { _, _ = Ask[R](p, method) })
	return last[R](p, method), p.child.Err()
}

// SampledConsumers are Consumers as a sampler asks them.
type SampledConsumers struct{ *Consumers }

// Sampled is the group for a sampler.
func (cs *Consumers) Sampled() SampledConsumers { return SampledConsumers{cs} }

// Received are the counts of all members together.
func (s SampledConsumers) Received() (sum snapshot.Received) {
	for _, one := range askAll(s.Consumers, ConsumersName+".Standing", AskSoon[Standing]) {
		sum.Add(one.Received)
	}
	return sum
}

// Reached is how far the group has come in each partition.
func (s SampledConsumers) Reached() []snapshot.Reached {
	return s.reachedBy(s.reached(AskSoon[GroupReached]))
}

// recorded is a part of the histograms, and who recorded it.
type recorded struct {
	by   *Child
	part latency.Encoded
}

// mergeAll merges parts; whoever has sent one that can't be is of no more use.
func mergeAll(parts []recorded, merge func(part latency.Encoded) error) {
	for _, r := range parts {
		if err := merge(r.part); err != nil {
			r.by.fail(err)
		}
	}
}
