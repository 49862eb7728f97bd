package send

import (
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// A slot holds one record in flight and its buffer. Only the worker touches it.
type slot struct {
	record driver.Record
	index  int64
	*flight
}

// flight holds what the worker needs to complete a record. By then the record's slot has left the
// processor's cache. So a slab keeps flights apart from slots, eight times as dense.
type flight struct {
	sequence  uint64
	intended  int64
	actual    int64
	partition int32
	bytes     int32
}

func (f *flight) measured() bool { return f.intended >= 0 }

type completion struct {
	tag     uint64
	acked   int64 // time of the report, whatever the outcome
	offset  int64
	err     error
	outcome driver.Outcome
}

// slots made at once, when first needed
const slabSize = 256

type slab struct {
	slots   [slabSize]slot
	flights [slabSize]flight
}

// Only the worker takes from free; the client's goroutines append to done.
type slots struct {
	worker uint64
	slabs  []*slab
	made   int
	slack  int
	free   []*slot

	mu    sync.Mutex
	done  []completion
	spare []completion
	// report fills wake if waiting is set.
	waiting bool
	wake    chan struct{}
}

func newSlots(worker, limit int) *slots {
	slabs := (max(limit, 1) + slabSize - 1) / slabSize
	return &slots{
		worker: uint64(worker), slabs: make([]*slab, slabs), slack: slabs*slabSize - max(limit, 1),
		wake: make(chan struct{}, 1),
	}
}

func (s *slots) limit() int { return len(s.slabs)*slabSize - s.slack }

func (s *slots) available() int {
	return len(s.free) + (len(s.slabs)-s.made)*slabSize - s.slack
}

func (s *slots) take() *slot {
	if len(s.free) == 0 {
		s.grow()
	}
	last := len(s.free) - 1
	taken := s.free[last]
	s.free = s.free[:last]
	return taken
}

func (s *slots) grow() {
	slab := &slab{}
	for i := range slab.slots {
		slot := &slab.slots[i]
		slot.record.Tag = s.worker<<tagWorkerShift | uint64(s.made*slabSize+i)
		slot.flight = &slab.flights[i]
		s.free = append(s.free, slot)
	}
	s.slabs[s.made] = slab
	s.made++
}

// tagWorkerShift is the lowest bit of the worker's number in a record's tag (tag-names-the-slot).
const tagWorkerShift = 40

func workerOf(tag uint64) int { return int(tag >> tagWorkerShift) }

// landed frees a completed record's slot; the flight is valid until the slot is taken again.
func (s *slots) landed(tag uint64) *flight {
	at := tag & (1<<tagWorkerShift - 1)
	slab := s.slabs[at/slabSize]
	s.free = append(s.free, &slab.slots[at%slabSize])
	return &slab.flights[at%slabSize]
}

func (s *slots) report(d completion) {
	s.mu.Lock()
	s.done = append(s.done, d)
	waiting := s.waiting
	s.mu.Unlock()
	if waiting {
		select {
		case s.wake <- struct{}{}:
		default:
		}
	}
}

// The completions of takeDone are valid until the next call.
func (s *slots) takeDone() []completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.done
	s.done, s.spare = s.spare[:0], taken
	return taken
}

func (s *slots) await(waiting bool) (done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = waiting
	return len(s.done) > 0
}
