package send

import (
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// A slot is one record's place while it is in flight: the record itself with its
// buffer, used again for the next record. Only the worker touches it; what became of
// the record comes apart (completion).
type slot struct {
	record driver.Record
	index  int64 // in the arrival process
	*flight
}

// flight is what is asked of a record when it comes back. By then the slot has left
// the processor's cache, the client's own writing to its record included; the flights
// of a slab lie together, eight times as close.
type flight struct {
	sequence  uint64
	intended  int64
	actual    int64
	partition int32
	bytes     int32
}

func (f *flight) measured() bool { return f.intended >= 0 }

// completion is what the client reported of one record.
type completion struct {
	tag     uint64
	acked   int64 // when; of any outcome
	offset  int64
	err     error
	outcome driver.Outcome
}

// slabSize is how many slots are made at once; slots are made as they are first
// needed and kept for the rest of the run.
const slabSize = 256

type slab struct {
	slots   [slabSize]slot
	flights [slabSize]flight
}

// slots is a worker's supply of slots. The worker takes from free and is the
// only one to do so; the client's goroutines report what is done.
type slots struct {
	worker uint64
	slabs  []*slab // as long as it will ever be
	made   int
	slack  int // slots of the last slab beyond the limit
	free   []*slot

	mu    sync.Mutex
	done  []completion
	spare []completion // memory for done
	// wake is filled when something is reported while the worker waits for it.
	waiting bool
	wake    chan struct{}
}

// newSlots returns a worker's supply of limit slots.
func newSlots(worker, limit int) *slots {
	slabs := (max(limit, 1) + slabSize - 1) / slabSize
	return &slots{
		worker: uint64(worker), slabs: make([]*slab, slabs), slack: slabs*slabSize - max(limit, 1),
		wake: make(chan struct{}, 1),
	}
}

// limit is the number of slots that there will ever be.
func (s *slots) limit() int { return len(s.slabs)*slabSize - s.slack }

// available is the number of records that could be taken now.
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

// tagWorkerShift is where a record's tag keeps the worker's number, so that a
// client shared by several workers gives each its own back.
const tagWorkerShift = 40

// workerOf is the number of the worker that a record belongs to.
func workerOf(tag uint64) int { return int(tag >> tagWorkerShift) }

// landed gives back the slot whose record was handed back by the client, and returns what
// is known of the record, good until the slot is taken again.
func (s *slots) landed(tag uint64) *flight {
	at := tag & (1<<tagWorkerShift - 1)
	slab := s.slabs[at/slabSize]
	s.free = append(s.free, &slab.slots[at%slabSize])
	return &slab.flights[at%slabSize]
}

// report adds to what is done. It is called on the client's goroutines.
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

// takeDone takes all that is done, in the order of the reports. It is good until
// the next call.
func (s *slots) takeDone() []completion {
	s.mu.Lock()
	defer s.mu.Unlock()
	taken := s.done
	s.done, s.spare = s.spare[:0], taken
	return taken
}

// await makes report fill wake until it is called with false. It returns whether
// something is done already.
func (s *slots) await(waiting bool) (done bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = waiting
	return len(s.done) > 0
}
