package kgogate

import (
	"context"
	"sync"
)

// entering is the context that the client gets with a record. It is the caller's context. Until the
// client has buffered the record, it also ends when the producer closes. So Close need not wait for
// brokers.
type entering struct {
	context.Context
	closing context.Context

	mu      sync.Mutex
	both    context.Context // ends when Context or closing ends; nil: Done was not called
	release context.CancelFunc
	stay    func() bool // after it, closing no longer ends the context both
	inside  bool
}

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

func (e *entering) Err() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.both == nil || e.inside {
		return e.Context.Err()
	}
	return e.both.Err()
}

// After entered, Close no longer ends the context. entered has no effect if Close has ended it
// already.
func (e *entering) entered() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.inside = e.both == nil || e.stay()
}

func (e *entering) over() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.release != nil {
		e.release()
	}
}

func (e *entering) cut() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return !e.inside && e.closing.Err() != nil && e.Context.Err() == nil
}
