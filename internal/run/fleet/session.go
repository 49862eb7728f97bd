package fleet

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/run/fleet/control"
)

// Session is a log that coordinator and agents share.
type Session struct {
	Name  string
	Log   control.Log
	Topic [16]byte
	Key   control.Key // nil only if all processes are on one machine
}

type member struct {
	writer   *control.Writer
	instance uint64

	mu      sync.Mutex
	state   *control.State
	changed chan struct{} // closed by the next change
	lost    error         // why the log is no longer read
	key     error         // first refusal because of the key
	foreign bool          // a coordinator wrote a record that was refused because of the key
}

// join follows the log until ctx ends. heard may be nil and must not block.
func join(ctx context.Context, s Session, agent int, heard func(control.Change)) *member {
	m := &member{instance: random(), state: control.NewState(s.Key, s.Topic), changed: make(chan struct{})}
	m.writer = control.NewWriter(s.Log, s.Key, s.Topic, agent, m.instance)
	go m.follow(ctx, s.Log, heard)
	return m
}

// random never returns 0.
func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return binary.BigEndian.Uint64(b[:]) | 1
}

func (m *member) follow(ctx context.Context, log control.Log, heard func(control.Change)) {
	for from := int64(0); ; {
		entries, err := log.Read(ctx, from)
		m.mu.Lock()
		for _, e := range entries {
			c, err := m.state.Apply(e)
			m.note(e.Record, err)
			if heard != nil {
				heard(c)
			}
		}
		from = m.state.Next()
		m.lost = err
		m.wake()
		m.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (m *member) note(record []byte, refused error) {
	if !errors.Is(refused, control.ErrOtherKey) && !errors.Is(refused, control.ErrNoKey) && !errors.Is(refused, control.ErrUnsealed) {
		return
	}
	if m.key == nil {
		m.key = refused
	}
	m.foreign = m.foreign || control.Claimed(record) == control.Coordinator
}

// m.mu is held.
func (m *member) wake() {
	close(m.changed)
	m.changed = make(chan struct{})
}

// await calls look after each change, until it returns true. It returns an error if ctx ends or the
// log is lost before.
func (m *member) await(ctx context.Context, look func(*control.State) bool) error {
	for {
		m.mu.Lock()
		found, changed, lost := look(m.state), m.changed, m.lost
		m.mu.Unlock()
		switch {
		case found:
			return nil
		case lost != nil:
			return lost
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// awaitTalk is await, but gives up when the log is silent for this time.
func (m *member) awaitTalk(ctx context.Context, silence time.Duration, look func(*control.State) bool) error {
	for {
		var before int64
		m.look(func(s *control.State) { before = s.Next() })
		wait, cancel := context.WithTimeout(ctx, silence)
		found := false
		err := m.await(wait, func(s *control.State) bool {
			found = look(s)
			return found || s.Next() != before
		})
		cancel()
		if err != nil || found {
			return err
		}
	}
}

func (m *member) look(read func(*control.State)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	read(m.state)
}

const (
	readyWithin  = 60 * time.Second // from the plan
	handInWithin = 60 * time.Second // of silence, after the drain's limit
	nextWithin   = 10 * time.Minute // from the hand-in
	startGrace   = 30 * time.Second // after readyWithin, for the start to come
	lead         = 3 * time.Second  // from the start's record to the load
	lateLead     = 500 * time.Millisecond
)
