package load

import (
	"fmt"
	"sync/atomic"
)

// Halt stops who waits at it while it stands: the goroutines of a member. Its zero stops
// nobody.
type Halt struct {
	over atomic.Pointer[chan struct{}] // closed when it is over; nil while there is none
}

// Begin stops the member of a number, unless it is stopped already.
func (h *Halt) Begin(number int) error {
	over := make(chan struct{})
	if !h.over.CompareAndSwap(nil, &over) {
		return fmt.Errorf("consumer %d is paused already", number)
	}
	return nil
}

// End lets the member of a number go on, if it was stopped.
func (h *Halt) End(number int) error {
	over := h.over.Swap(nil)
	if over == nil {
		return fmt.Errorf("consumer %d is not paused", number)
	}
	close(*over)
	return nil
}

// Stands reports whether who comes is stopped.
func (h *Halt) Stands() bool { return h.over.Load() != nil }

// Wait returns true when nobody is stopped, and false when done is closed.
func (h *Halt) Wait(done <-chan struct{}) bool {
	for over := h.over.Load(); over != nil; over = h.over.Load() {
		select {
		case <-*over:
		case <-done:
			return false
		}
	}
	return true
}
