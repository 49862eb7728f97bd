package load

import (
	"fmt"
	"sync/atomic"
)

// Halt pauses the goroutines of a member: between Begin and End, Wait blocks. The zero Halt does not block.
type Halt struct {
	over atomic.Pointer[chan struct{}]
}

// Begin pauses the member; an error if it is already paused.
func (h *Halt) Begin(number int) error {
	over := make(chan struct{})
	if !h.over.CompareAndSwap(nil, &over) {
		return fmt.Errorf("consumer %d is paused already", number)
	}
	return nil
}

// End resumes the member; an error if it is not paused.
func (h *Halt) End(number int) error {
	over := h.over.Swap(nil)
	if over == nil {
		return fmt.Errorf("consumer %d is not paused", number)
	}
	close(*over)
	return nil
}

// Stands reports whether Wait blocks.
func (h *Halt) Stands() bool { return h.over.Load() != nil }

// Wait blocks while the member is paused. It returns false if done is closed first.
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
