package sarama

import "sync"

// signal tells any number of goroutines that something has changed.
type signal struct {
	mu      sync.Mutex
	waiting chan struct{} // nil while nobody waits
}

// next is closed by the next send.
func (s *signal) next() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = make(chan struct{})
	}
	return s.waiting
}

// send wakes everyone who waits.
func (s *signal) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting != nil {
		close(s.waiting)
		s.waiting = nil
	}
}
