package franz

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The bounds of slabs, in records of about 190 bytes.
const (
	minSlab = 32      // a smaller batch is not worth the looking up
	maxLent = 1 << 18 // 50 MB
	maxFree = 1 << 17 // 25 MB
)

// slabs is the memory that the client decodes fetched batches into, used again
// from poll to poll: it is a kgo.PoolRecords. The client has a way to give such
// memory back (kgo.Record.Recycle), at the cost of an atomic operation and a
// cleared record for each record; a poll gives back a whole batch at once. So it
// is only for polls that return whole batches.
//
// A slab is known by its first record, which is looked up when a poll finds it at
// the beginning of a batch. Slabs whose batch the client dropped (at a rebalance,
// for a paused partition), or returned only in part, never come back. So once too
// much is lent, all of it is forgotten: what is forgotten is ordinary garbage.
type slabs struct {
	mu          sync.Mutex
	free        [][]kgo.Record // cleared
	freeRecords int
	lent        map[*kgo.Record]loan
	lentRecords int
}

// loan is a slab and how much of it was asked for.
type loan struct {
	slab []kgo.Record
	used int
}

var _ kgo.PoolRecords = (*slabs)(nil)

// GetRecords lends memory for n records, or none: then the client makes some.
func (s *slabs) GetRecords(n int) []kgo.Record {
	if n < minSlab {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slab := s.takeFree(n)
	if s.lentRecords += len(slab); s.lentRecords > maxLent || s.lent == nil {
		s.lent, s.lentRecords = make(map[*kgo.Record]loan), len(slab)
	}
	s.lent[&slab[0]] = loan{slab: slab, used: n}
	return slab
}

// takeFree takes the slab that was used last, if it is large enough, or makes
// one. The caller holds the lock.
func (s *slabs) takeFree(n int) []kgo.Record {
	last := len(s.free) - 1
	if last < 0 {
		return make([]kgo.Record, n)
	}
	slab := s.free[last]
	s.free = s.free[:last]
	s.freeRecords -= len(slab)
	if len(slab) < n {
		return make([]kgo.Record, n)
	}
	return slab
}

// PutRecords is called by the client for a batch of which it kept no record.
func (s *slabs) PutRecords(slab []kgo.Record) {
	if len(slab) > 0 {
		s.giveBack(&slab[0])
	}
}

// giveBack takes back the slabs that begin with these records, if they are slabs.
// Nobody may use a record of theirs any more.
func (s *slabs) giveBack(firsts ...*kgo.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, first := range firsts {
		if l, ok := s.lent[first]; ok {
			delete(s.lent, first)
			s.lentRecords -= len(l.slab)
			s.keep(l)
		}
	}
}

// keep puts a slab to the free ones, if there is room. The caller holds the lock.
func (s *slabs) keep(l loan) {
	if s.freeRecords+len(l.slab) > maxFree {
		return
	}
	clear(l.slab[:l.used]) // or it would hold on to the fetched bytes
	s.free = append(s.free, l.slab)
	s.freeRecords += len(l.slab)
}
