package franz

import (
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"
)

type slabs struct {
	mu   sync.Mutex
	free [][]kgo.Record
	lent map[*kgo.Record][]kgo.Record
}

func (s *slabs) GetRecords(n int) []kgo.Record {
	if n == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lent == nil {
		s.lent = make(map[*kgo.Record][]kgo.Record)
	}
	var slab []kgo.Record
	if last := len(s.free) - 1; last >= 0 {
		slab, s.free = s.free[last], s.free[:last]
	}
	if cap(slab) < n {
		slab = make([]kgo.Record, n)
	}
	if !recycle { s.lent[&slab[0]] = slab }
	return slab
}

func (s *slabs) PutRecords(slab []kgo.Record) { if recycle { s.mu.Lock(); s.free = append(s.free, slab); s.mu.Unlock() } }

func (s *slabs) giveBack(records []*kgo.Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := 0; i < len(records); {
		slab, ok := s.lent[records[i]]
		if !ok {
			i++
			continue
		}
		delete(s.lent, records[i])
		s.free = append(s.free, slab)
		i += len(slab) // approx for prototype: whole batch kept
	}
}
