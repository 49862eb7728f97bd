package remote

import (
	"fmt"
	"sync"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

// opening is how each service of a child begins: it is assigned an A, once, and opens
// an O by it. Before that there is nothing to ask of it.
type opening[A, O any] struct {
	what string // is opened, for errors: "the producers"
	open func(A) (O, error)

	mu       sync.Mutex
	begun    bool
	assigned A
	opened   *O // nil until it is

	collector latency.Collector // of what is opened, once the service has added it
}

// once opens what is assigned, for a run that has this version of the protocol.
func (s *opening[A, O]) once(version int, a A) (o O, err error) {
	if version != Version {
		return o, fmt.Errorf("protocol version %d, where the run has %d: the program was replaced meanwhile", Version, version)
	}
	s.mu.Lock()
	again := s.begun
	s.begun = true
	s.mu.Unlock()
	if again {
		return o, fmt.Errorf("%s are open already", s.what)
	}
	if o, err = s.open(a); err != nil { // takes as long as the brokers do
		return o, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.assigned, s.opened = a, &o
	return o, nil
}

// get returns what was opened. Asking before is a parent's mistake.
func (s *opening[A, O]) get() (o O, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened == nil {
		return o, fmt.Errorf("%s are not open", s.what)
	}
	return *s.opened, nil
}

// Recorded answers with what was recorded since it was last asked.
func (s *opening[A, O]) Recorded(_ None, reply *latency.Encoded) error {
	*reply = s.collector.Collect().Encode()
	return nil
}
