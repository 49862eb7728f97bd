package conformance

import (
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// model states the contract for one record. It is pure: the caller says which time it is. A record is ready, taken, lent
// until a time, waiting until a time, done or dead.
type model struct {
	can   able
	limit int // of deliveries; 0: none

	state      state
	deliveries int
	until      time.Time // of the lock or the delay; zero: the lock does not end
	why        string    // the record is dead
	hand       *hand     // of the present delivery, if the state is taken or lent
}

type state int

const (
	ready state = iota
	taken
	lent
	waiting
	done
	dead
)

func (s state) String() string {
	return [...]string{"ready", "taken", "lent", "waiting", "done", "dead"}[s]
}

// hand is one delivery of a record. Its methods return the error that an engine must return.
type hand struct {
	of    *model
	ended error // why it can no longer be settled; nil while it can
}

// pass lets the time pass until now: a lock expires, a delay ends.
func (m *model) pass(now time.Time) {
	if m.until.IsZero() || now.Before(m.until) {
		return
	}
	switch m.state {
	case waiting:
		m.state = ready
	case lent:
		m.end(lease.ErrExpired)
		m.release()
	}
}

// end ends the present delivery.
func (m *model) end(why error) {
	m.hand.ended = why
	m.hand, m.until = nil, time.Time{}
}

// release makes the record ready, or dead if it has no deliveries left.
func (m *model) release() {
	m.state = ready
	if m.limit > 0 && m.deliveries >= m.limit {
		m.state, m.why = dead, fmt.Sprintf("delivered %d times", m.deliveries)
	}
}

// take takes the record, which is not locked or counted yet.
func (m *model) take() (*hand, error) {
	if m.state != ready {
		return nil, fmt.Errorf("it is %v until %v", m.state, m.until)
	}
	m.state, m.hand = taken, &hand{of: m}
	return m.hand, nil
}

// giveBack gives a taken record back, or, if the engine can, a lent one that no handler began.
func (h *hand) giveBack() error {
	m := h.of
	switch {
	case h.ended != nil:
		return h.ended
	case m.state == lent:
		m.deliveries--
	}
	m.end(lease.ErrSettled)
	m.state = ready
	return nil
}

// lend begins the lock of a taken record, and counts a delivery.
func (h *hand) lend(until time.Time) (attempt int) {
	m := h.of
	m.state, m.until = lent, until
	m.deliveries++
	return m.deliveries
}

func (h *hand) ack() error {
	if h.ended == nil {
		h.of.end(lease.ErrSettled)
		h.of.state = done
		return nil
	}
	return h.ended
}

func (h *hand) reject(why string) error {
	if h.ended == nil {
		h.of.end(lease.ErrSettled)
		h.of.state, h.of.why = dead, why
		return nil
	}
	return h.ended
}

func (h *hand) nack(now time.Time, delay time.Duration) error {
	switch m := h.of; {
	case !m.can.release:
		return lease.ErrUnsupported
	case h.ended == nil:
		m.end(lease.ErrSettled)
		if m.release(); m.state == ready && delay > 0 {
			m.state, m.until = waiting, now.Add(delay)
		}
		return nil
	}
	return h.ended
}

func (h *hand) extend(until time.Time) error {
	switch {
	case !h.of.can.lend:
		return lease.ErrUnsupported
	case h.ended == nil:
		h.of.until = until
		return nil
	}
	return h.ended
}

// reopen closes the queue and opens another one of the group.
func (m *model) reopen() {
	switch m.state {
	case taken:
		m.end(lease.ErrLost)
		m.state = ready
	case lent:
		m.end(lease.ErrLost)
		m.release()
	case waiting:
		m.state, m.until = ready, time.Time{}
	}
	if m.open() && !m.can.limit {
		m.deliveries = 0 // the engine counts in memory
	}
}

func (m *model) open() bool { return m.state != done && m.state != dead }

// agree returns an error if an engine returned something else than the model.
func agree(what string, got, want error) error {
	if (want == nil) != (got == nil) || !errors.Is(got, want) {
		return fmt.Errorf("%s: %s, want %s", what, fmt.Sprint(got), fmt.Sprint(want))
	}
	return nil
}
