package control

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Log is a session's ordered log of records.
type Log interface {
	// Append returns when the record is in the log. After an error it may be in the log or not;
	// append the same bytes again, because a copy is ignored.
	Append(ctx context.Context, record []byte) error
	// Read returns entries in order, beginning at an offset. It waits for at least one entry, and
	// returns an error only if ctx ends or the log is lost.
	Read(ctx context.Context, from int64) ([]Entry, error)
}

// ErrGone reports that the log was deleted, which ends its session.
var ErrGone = errors.New("the log of the session is gone")

// Entry is a record in the log. Offsets increase.
type Entry struct {
	Offset int64
	Record []byte
}

// Memory is a log for tests; its zero value is empty. It is safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	entries []Entry
	grown   chan struct{} // closed by the next Append; nil if no Read waits
}

// Append implements Log; it never blocks.
func (m *Memory) Append(ctx context.Context, record []byte) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.entries = append(m.entries, Entry{Offset: int64(len(m.entries)), Record: slices.Clone(record)})
	if m.grown != nil {
		close(m.grown)
		m.grown = nil
	}
	return nil
}

// Read implements Log; it lets virtual time pass.
func (m *Memory) Read(ctx context.Context, from int64) ([]Entry, error) {
	for {
		entries, grown := m.look(from)
		if len(entries) > 0 {
			return entries, nil
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-grown:
		}
	}
}

func (m *Memory) look(from int64) ([]Entry, <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if from < int64(len(m.entries)) {
		return slices.Clone(m.entries[max(0, from):]), nil
	}
	if m.grown == nil {
		m.grown = make(chan struct{})
	}
	return nil, m.grown
}
