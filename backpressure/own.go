package backpressure

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
)

// ownRecords knows which records in the log are this gate's: the offsets it was
// told by Acked and that are not committed yet. With it, several gates keep one
// bound without a word between them: each keeps its own records to its share,
// and the sum is what the bound says.
//
// At any time this gate's records that are in the log and not committed are at
// most those that it knows here and those that are admitted and not settled.
type ownRecords struct {
	// A partition is added once and found for each record, so the map is replaced
	// and never changed.
	partitions atomic.Pointer[map[place]*ownPartition]
	mu         sync.Mutex // guards adding, and all below

	// A record in doubt may have come into the log unseen: it has no offset here.
	// When it can come no more it lies below the ends of the next reading, and when
	// all of them are committed it is gone. One group waits for that and one
	// gathers, so there are never more than two.
	gathering, leaving int64
	ends               map[place]int64 // of the reading that the leaving wait for
}

// place is a partition of a topic.
type place struct {
	topic string
	id    int32
}

// ownPartition holds this gate's offsets of one partition.
type ownPartition struct {
	mu          sync.Mutex
	spans       []span // in order, apart from each other, not below committed
	outstanding int64  // their sum
	passed      int64  // own records that are committed
	committed   int64
}

// span is offsets from first to below end.
type span struct{ first, end int64 }

func newOwnRecords() *ownRecords {
	o := &ownRecords{}
	o.partitions.Store(&map[place]*ownPartition{})
	return o
}

// partition finds a partition or adds it.
func (o *ownRecords) partition(at place) *ownPartition {
	if p, known := (*o.partitions.Load())[at]; known {
		return p
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	known := *o.partitions.Load()
	if p, ok := known[at]; ok {
		return p
	}
	more, p := maps.Clone(known), &ownPartition{}
	more[at] = p
	o.partitions.Store(&more)
	return p
}

// acked takes the offset of an own record.
func (o *ownRecords) acked(topic string, partition int32, offset int64) {
	o.partition(place{topic, partition}).add(offset)
}

// learn takes a reading and the number of records that were in doubt and, when
// the reading was asked for, could come into the log no more. It returns how many
// of such records are settled now.
func (o *ownRecords) learn(reading []Partition, overdue int64) (settled int64) {
	for _, r := range reading {
		o.partition(place{r.Topic, r.ID}).commit(r.Committed)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.gathering += overdue
	for _, r := range reading {
		if end, waits := o.ends[place{r.Topic, r.ID}]; waits && r.Committed >= end {
			delete(o.ends, place{r.Topic, r.ID})
		}
	}
	if len(o.ends) > 0 {
		return 0
	}
	settled, o.leaving, o.gathering = o.leaving, o.gathering, 0
	if o.leaving == 0 {
		return settled
	}
	o.ends = make(map[place]int64, len(reading))
	for _, r := range reading {
		o.ends[place{r.Topic, r.ID}] = r.End
	}
	return settled
}

// count is the number of own records that are not committed, and of those that are.
func (o *ownRecords) count() (outstanding, committed int64) {
	for _, p := range *o.partitions.Load() {
		p.mu.Lock()
		outstanding += p.outstanding
		committed += p.passed
		p.mu.Unlock()
	}
	return outstanding, committed
}

// add takes an offset. Acks mostly come in order, so it mostly lengthens the last
// span; an offset that is known already is taken once.
func (p *ownPartition) add(offset int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if offset < p.committed {
		p.passed++ // the consumers were faster than the acknowledgement
		return
	}
	if last := len(p.spans) - 1; last >= 0 && p.spans[last].end == offset {
		p.spans[last].end++
		p.outstanding++
		return
	}
	// at is the first span that ends at or above the offset: it holds it, touches it
	// or lies wholly above.
	at, _ := slices.BinarySearchFunc(p.spans, offset, func(s span, offset int64) int { return cmp.Compare(s.end, offset) })
	switch {
	case at < len(p.spans) && p.spans[at].first <= offset && offset < p.spans[at].end:
		return
	case at < len(p.spans) && p.spans[at].end == offset:
		p.spans[at].end++
		if at+1 < len(p.spans) && p.spans[at+1].first == p.spans[at].end {
			p.spans[at].end = p.spans[at+1].end
			p.spans = slices.Delete(p.spans, at+1, at+2)
		}
	case at < len(p.spans) && p.spans[at].first == offset+1:
		p.spans[at].first--
	default:
		p.spans = slices.Insert(p.spans, at, span{offset, offset + 1})
	}
	p.outstanding++
}

// commit drops what lies below the committed offset. One that falls back is
// ignored: what was dropped is not known any more.
func (p *ownPartition) commit(committed int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.committed = max(p.committed, committed)
	below := 0
	for i := range p.spans {
		s := &p.spans[i]
		if s.first >= p.committed {
			break
		}
		gone := min(s.end, p.committed) - s.first
		s.first += gone
		p.outstanding -= gone
		p.passed += gone
		if s.first == s.end {
			below++
		}
	}
	p.spans = slices.Delete(p.spans, 0, below)
}
