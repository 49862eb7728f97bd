package kgogate

import (
	"context"
	"sync"
)

// entering is the context that the client gets with a record: the caller's, which
// until the client has the record ends with the producer as well. A client whose
// buffer is full holds up Produce until its brokers answer, and Close must not wait
// for brokers; what the client has once goes its way, closed or not.
//
// The client seldom asks for Done, so what it takes to end at two ends is made
// only then.
type entering struct {
	context.Context // the caller's
	closing         context.Context

	mu      sync.Mutex
	both    context.Context // ends at either end; nil: nobody has asked
	release context.CancelFunc
	stay    func() bool // keeps both from ending with closing
	inside  bool        // the client has the record
}

// Done implements context.Context.
func (e *entering) Done() <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.inside {
		return e.Context.Done()
	}
	if e.both == nil {
		e.both, e.release = context.WithCancel(e.Context)
		e.stay = context.AfterFunc(e.closing, e.release)
	}
	return e.both.Done()
}

// Err implements context.Context.
func (e *entering) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.both == nil || e.inside {
		return e.Context.Err()
	}
	return e.both.Err()
}

// entered says that the client has the record, or has refused it. It is too late
// where the producer closed first.
func (e *entering) entered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside = e.both == nil || e.stay()
}

// over says that the record's promise was called.
func (e *entering) over() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.release != nil {
		e.release()
	}
}

// cut tells whether the producer's closing ended the wait.
func (e *entering) cut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.inside && e.closing.Err() != nil && e.Context.Err() == nil
}
