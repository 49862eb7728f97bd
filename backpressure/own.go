package backpressure

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
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
//
// A topic may be deleted, and made again with offsets from 0; a process may be started
// again, and its predecessor's records are in the log. If it cannot be known whose records
// the log of a partition holds, all of them count as own ones until they are committed: the
// bound holds, and the gate admits less for a while.
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
	absences    int   // readings since the last that held the partition
	absent      bool  // for so many that it counts no more
	ignored     bool  // an own record went there since
	late        int64 // own records that came below committed since the last reading
	whole       bool  // at the next reading all of the log is to count as own
}

// mostAbsences is how many readings one after the other may leave out a partition
// that own records went to, until it is taken to be gone, or never read.
const mostAbsences = 10

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
// of such records are settled now, and an error if own records are not counted any
// more because the readings do not hold their partitions. What falls back shows that
// a log began again only if the reading was asked for after the last was taken in. With
// whole all that the reading shows counts as own.
func (o *ownRecords) learn(reading []Partition, overdue int64, after, whole bool) (settled int64, unread error) {
	var again map[place]bool
	for _, r := range reading {
		at := place{r.Topic, r.ID}
		if o.partition(at).read(r, after, whole) {
			if again == nil {
				again = make(map[place]bool)
			}
			again[at] = true
		}
	}
	gone, unread := o.missing(reading)
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, at := range gone {
		delete(o.ends, at)
	}
	return o.leave(reading, overdue, again), unread
}

// leave lets those in doubt go that the reading says are committed, if they are
// in the log at all. In a log that began again, they wait for what it holds now. The
// lock is held.
func (o *ownRecords) leave(reading []Partition, overdue int64, again map[place]bool) (settled int64) {
	o.gathering += overdue
	for _, r := range reading {
		at := place{r.Topic, r.ID}
		end, waits := o.ends[at]
		if waits && again[at] {
			o.ends[at], end = r.End, r.End
		}
		if waits && r.Committed >= end {
			delete(o.ends, at)
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

// missing counts the partitions that the reading does not hold. It returns those
// that are gone by now, and an error that names one if own records went there.
func (o *ownRecords) missing(reading []Partition) (gone []place, unread error) {
	known := *o.partitions.Load()
	if len(known) == len(reading) {
		return nil, nil
	}
	held := make(map[place]bool, len(reading))
	for _, r := range reading {
		held[place{r.Topic, r.ID}] = true
	}
	var lost int64
	var where []string
	for at, p := range known {
		if held[at] {
			continue
		}
		absent, n := p.miss()
		if absent {
			gone = append(gone, at)
		}
		if n > 0 {
			lost += n
			where = append(where, fmt.Sprintf("%s/%d", at.topic, at.id))
		}
	}
	if lost == 0 {
		return gone, nil
	}
	slices.Sort(where)
	return gone, fmt.Errorf("%d records of this gate are in partitions that the last %d readings do not hold, and do not count any more: %s; does the source read the topic that is produced to?",
		lost, mostAbsences, strings.Join(where[:min(len(where), 5)], ", "))
}

// count is the number of own records that are not committed, and of those that are.
func (o *ownRecords) count() (outstanding, committed int64) {
	for _, p := range *o.partitions.Load() {
		p.mu.Lock()
		outstanding += p.outstanding
		if p.whole {
			outstanding += p.late
		}
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
	if p.absent {
		p.ignored = true
		return
	}
	if offset < p.committed {
		p.passed++ // the consumers were faster than the acknowledgement
		p.late++
		return
	}
	if last := len(p.spans) - 1; last >= 0 && p.spans[last].end == offset {
		p.spans[last].end++
		p.outstanding++
		return
	}
	// at is the first span that ends at or above the offset: it holds it, touches it
	// or lies wholly above.
	at, _ := slices.BinarySearchFunc(p.spans, offset,
		func(s span, offset int64) int { return cmp.Compare(s.end, offset) })
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

// read takes what a reading tells of the partition. It tells whether the log began
// again: it ends below what was committed before, and less is committed. Then
// acknowledgements since may have been taken for old records, and those that were
// sent before the reading came are in the log of the next one at the latest. With whole
// all of the log counts as own.
func (p *ownPartition) read(r Partition, after, whole bool) (again bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	again = after && r.End < p.committed && r.Committed < p.committed
	back := p.absent && p.ignored
	p.absences, p.absent, p.ignored = 0, false, false
	if again {
		p.spans, p.outstanding, p.committed = nil, 0, r.Committed
	}
	whole = whole || p.whole || back || again
	if p.whole = again; !again {
		p.late = 0
	}
	p.commit(r.Committed)
	if whole && r.End > p.committed {
		p.spans = cover(p.spans, span{p.committed, r.End})
		p.outstanding = 0
		for _, s := range p.spans {
			p.outstanding += s.end - s.first
		}
	}
	return again
}

// miss notes that a reading does not hold the partition. It tells whether it is
// taken to be gone, and how many own records are not counted any more from now on.
func (p *ownPartition) miss() (absent bool, lost int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.absences++
	if p.absences < mostAbsences {
		return false, 0
	}
	if !p.absent {
		lost = p.outstanding
		p.absent, p.ignored = true, lost > 0
		p.spans, p.outstanding = nil, 0
		p.committed, p.late, p.whole = 0, 0, false
	}
	return true, lost
}

// cover adds a span to spans that are in order and apart from each other.
func cover(spans []span, s span) []span {
	from, _ := slices.BinarySearchFunc(spans, s.first,
		func(s span, first int64) int { return cmp.Compare(s.end, first) })
	to := from
	for to < len(spans) && spans[to].first <= s.end {
		s.first, s.end = min(s.first, spans[to].first), max(s.end, spans[to].end)
		to++
	}
	return slices.Replace(spans, from, to, s)
}

// commit drops what lies below the committed offset. One that falls back is
// ignored: what was dropped is not known any more. The lock is held.
func (p *ownPartition) commit(committed int64) {
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
