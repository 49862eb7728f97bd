package load

import (
	"fmt"
	"sync/atomic"
)

// halt stops who waits at it while it stands: the goroutines of a member. Its zero stops
// nobody.
type halt struct {
	over atomic.Pointer[chan struct{}] // closed when it is over; nil while there is none
}

// begin stops the member of a number, unless it is stopped already.
func (h *halt) begin(number int) error {
	over := make(chan struct{})
	if !h.over.CompareAndSwap(nil, &over) {
		return fmt.Errorf("consumer %d is paused already", number)
	}
	return nil
}

// end lets the member of a number go on, if it was stopped.
func (h *halt) end(number int) error {
	over := h.over.Swap(nil)
	if over == nil {
		return fmt.Errorf("consumer %d is not paused", number)
	}
	close(*over)
	return nil
}

// stands reports whether who comes is stopped.
func (h *halt) stands() bool { return h.over.Load() != nil }

// wait returns true when nobody is stopped, and false when done is closed.
func (h *halt) wait(done <-chan struct{}) bool {
	for over := h.over.Load(); over != nil; over = h.over.Load() {
		select {
		case <-*over:
		case <-done:
			return false
		}
	}
	return true
}
