package load

import (
	"fmt"
	"sync/atomic"
)

// Pause stops a member where it stands: it neither polls nor works nor commits until
// Resume, and its client knows nothing of it. The client goes on with heartbeats and
// fetches what fits into its buffers, so that the group keeps the member. What a real
// application would be put out for, a poll interval that passes (Kafka's
// max.poll.interval.ms), is the client's to hold: franz has none. In a rebalance the
// member gives its partitions up, unless it stands in the midst of a record's work;
// then the group waits for it, up to the client's rebalance timeout.
//
// A timer goes on in it, as it does in a process that is stopped: work that is done
// in the meantime counts as done at Resume.
//
// how says what was done, as a person is told it.
func (g *Group) Pause(number int) (how string, err error) {
	g.changing.Lock()
	defer g.changing.Unlock()
	m, err := g.present(number)
	if err != nil {
		return "", err
	}
	if !m.halt.begin() {
		return "", fmt.Errorf("consumer %d is paused already", number)
	}
	return fmt.Sprintf("consumer %d neither polls nor works; its client goes on with heartbeats", number), nil
}

// Resume lets a member go on that was paused.
func (g *Group) Resume(number int) error {
	g.changing.Lock()
	defer g.changing.Unlock()
	m, err := g.present(number)
	if err != nil {
		return err
	}
	if !m.halt.end() {
		return fmt.Errorf("consumer %d is not paused", number)
	}
	return nil
}

// halt stops who waits at it while it stands. Its zero stops nobody.
type halt struct {
	over atomic.Pointer[chan struct{}] // closed when it is over; nil while there is none
}

// begin stops everybody; it returns false where they are stopped already.
func (h *halt) begin() bool {
	over := make(chan struct{})
	return h.over.CompareAndSwap(nil, &over)
}

// end lets everybody go on; it returns false where nobody was stopped.
func (h *halt) end() bool {
	over := h.over.Swap(nil)
	if over == nil {
		return false
	}
	close(*over)
	return true
}

// stands tells whether whoever comes is stopped.
func (h *halt) stands() bool { return h.over.Load() != nil }

// wait returns when nobody is stopped, true, or when done is closed, false.
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
