package load

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Roster holds the members of a group by number. They join and leave one at a time. After a member has left, its number
// is free again.
type Roster[M any] struct {
	changing sync.Mutex // held during a change; taken before mu
	closed   atomic.Bool

	mu     sync.Mutex
	places []*M
	ever   []M
}

// NewRoster returns a roster for the numbers below n.
func NewRoster[M any](n int) *Roster[M] { return &Roster[M]{places: make([]*M, n)} }

var errStopped = errors.New("the group was stopped")

func (r *Roster[M]) at(number int) (*M, error) {
	switch {
	case number < 0 || number >= len(r.places):
		return nil, fmt.Errorf("consumer %d: the numbers are 0 to %d", number, len(r.places)-1)
	case r.closed.Load():
		return nil, errStopped
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.places[number], nil
}

// Join adds the member that open returns under a free number.
func (r *Roster[M]) Join(number int, open func() (M, error)) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	switch m, err := r.at(number); {
	case err != nil:
		return err
	case m != nil:
		return fmt.Errorf("consumer %d is there already", number)
	}
	m, err := open()
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.places[number], r.ever = &m, append(r.ever, m)
	return nil
}

// With calls do for the member of a number. The member must be present.
func (r *Roster[M]) With(number int, do func(M) error) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.with(number, do)
}

func (r *Roster[M]) with(number int, do func(M) error) error {
	switch m, err := r.at(number); {
	case err != nil:
		return err
	case m == nil:
		return fmt.Errorf("consumer %d is not there", number)
	default:
		return do(*m)
	}
}

// Leave ends the member of a number and frees the number, even if end returns an error.
func (r *Roster[M]) Leave(number int, end func(M) error) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.with(number, func(m M) error {
		err := end(m)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.places[number] = nil
		return err
	})
}

// Present returns the present members, ordered by number.
func (r *Roster[M]) Present() (all []M) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range r.places {
		if m != nil {
			all = append(all, *m)
		}
	}
	return all
}

// Ever returns all members that ever joined, in order of joining.
func (r *Roster[M]) Ever() []M {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.ever)
}

// Close ends all present members at the same time, after the change in progress, and allows no more changes.
// Members keep their numbers. It returns false, and does nothing, if the roster was already closed.
func (r *Roster[M]) Close(end func(M)) bool {
	if r.closed.Swap(true) {
		return false
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	var ending sync.WaitGroup
	for _, m := range r.Present() {
		ending.Go(func() { end(m) })
	}
	ending.Wait()
	return true
}
