package franz

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

// The bounds of slabs, in records of about 190 bytes.
const (
	minSlab = 32      // a smaller batch is not worth the lookup
	maxLent = 1 << 18 // 50 MB
	maxFree = 1 << 17 // 25 MB
)

// slabs reuses the memory into which the client decodes fetched batches; it is a kgo.PoolRecords. The client's own
// way (kgo.Record.Recycle) costs an atomic operation and a cleared record for each record. slabs takes back a whole
// batch at once, and only serves polls that return whole batches.
//
// A slab is identified by its first record, which begins a batch in a poll. A slab never comes back
// if the client drops its batch (at a rebalance, for a paused partition) or returns only a part. So
// when too many records are lent, slabs forgets all lent slabs, and the garbage collector frees
// them.
type slabs struct {
	mu          sync.Mutex
	free        [][]kgo.Record // cleared
	freeRecords int
	lent        map[*kgo.Record]loan
	lentRecords int
}

type loan struct {
	slab []kgo.Record
	used int
}

var _ kgo.PoolRecords = (*slabs)(nil)

// GetRecords returns nil for a small n; then the client allocates.
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

// The caller of takeFree holds the lock.
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

func (s *slabs) PutRecords(slab []kgo.Record) {
	if len(slab) > 0 {
		s.giveBack(&slab[0])
	}
}

// After giveBack, none of the slabs' records may be used.
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

// keep adds a slab to the free ones, up to maxFree. The caller holds the lock.
func (s *slabs) keep(l loan) {
	if s.freeRecords+len(l.slab) > maxFree {
		return
	}
	clear(l.slab[:l.used]) // a free slab must not keep fetched bytes alive
	s.free = append(s.free, l.slab)
	s.freeRecords += len(l.slab)
}
