package load

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// Roster is the members of a group by their numbers. They come and go while the group
// runs, one change at a time. Who has left makes room for another with its number.
type Roster[M any] struct {
	changing sync.Mutex // held during a change; taken before mu
	closed   atomic.Bool

	mu     sync.Mutex
	places []*M // by number; nil while no member has it
	ever   []M
}

// NewRoster returns a roster for the numbers below n.
func NewRoster[M any](n int) *Roster[M] { return &Roster[M]{places: make([]*M, n)} }

// errStopped is why a group that was stopped is left as it is.
var errStopped = errors.New("the group was stopped")

// at returns the member of a number; nil if no member has it.
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

// Join gives a number that no member has to the member that open returns.
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

// With does something to the member of a number.
func (r *Roster[M]) With(number int, do func(M) error) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	return r.with(number, do)
}

// with is With; the caller holds changing.
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

// Leave ends the member of a number. Its place is free afterwards, whatever end returns.
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

// Present returns the members that are there, by number.
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

// Ever returns all members that have joined, in that order, those that left included.
func (r *Roster[M]) Ever() []M {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clip(r.ever)
}

// Close lets no member come or go any more. It waits for the change that is under way, and
// ends the members that are there, all at the same time; they keep their places. It reports
// false, and does nothing, if the roster was closed before.
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
