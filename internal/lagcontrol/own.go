package lagcontrol

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// ownRecords knows which records in the log are this gate's: the offsets from Acked that are not
// committed yet. So several gates keep one bound without communication. In a new log, and after a
// restart, all records count as own until they are committed. The own uncommitted records in the log
// never exceed those known here plus those admitted and not settled.
type ownRecords struct {
	// The map is replaced and never changed: each record looks up a partition, and partitions are
	// seldom added.
	partitions atomic.Pointer[map[place]*ownPartition]
	mu         sync.Mutex // guards adding a partition, and all fields below

	// A record in doubt may be in the log although its offset is not known here. After its doubt it
	// is below the ends of the next reading, or never in the log. It is settled when all records
	// below these ends are committed. One batch of such records waits for that (leaving), and the
	// next is collected (gathering).
	gathering, leaving int64
	ends               map[place]int64 // when all below is committed, the leaving records are settled
}

type place struct {
	topic string
	id    int32
}

type ownPartition struct {
	mu          sync.Mutex
	spans       []span // in order, apart from each other, not below committed
	outstanding int64  // sum of the spans
	passed      int64  // own records that are committed
	committed   int64
	absences    int   // consecutive readings without the partition
	absent      bool  // absences have reached mostAbsences
	ignored     bool  // an own record went there while absent
	late        int64 // own records below committed that were acked since the last reading
	whole       bool  // at the next reading the whole log counts as own
}

// mostAbsences is how many consecutive readings may omit a partition that holds own records before
// it counts as gone.
const mostAbsences = 10

// span is the offsets from first up to, but not including, end.
type span struct{ first, end int64 }

func newOwnRecords() *ownRecords {
	o := &ownRecords{}
	o.partitions.Store(&map[place]*ownPartition{})
	return o
}

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

func (o *ownRecords) acked(topic string, partition int32, offset int64) {
	o.partition(place{topic, partition}).add(offset)
}

// learn takes a reading, and the number of records whose doubt had ended when the reading was
// requested (overdue). It returns how many records in doubt are settled now, and an error if own
// records no longer count because the readings lack their partitions. An offset that falls back
// proves a new log only if this reading was requested after the last one was processed (after is
// true). If whole is true, all records count as own.
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

// leave settles the records in doubt that are committed by now. In a log that began again, they
// wait until all that it holds now is committed. The lock is held.
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

// missing returns the partitions that are gone, and an error if they held own records.
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
	return gone, fmt.Errorf("%d records of this gate are in partitions that are missing from the last %d readings, and no longer count: %s; let the source read all topics of the producer",
		lost, mostAbsences, strings.Join(where[:min(len(where), 5)], ", "))
}

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

// add is idempotent. Most acks come in order and lengthen the last span.
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
	// at is the index of the first span that ends at or above the offset.
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

// read takes a reading and reports whether the log began again: its end and its committed offset
// are both below the last committed offset. Since the log began again, add may have counted acked
// records as committed. At the next reading they are in the log, and the whole log counts as own.
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

// commit ignores a committed offset that is lower than before: the gate no longer knows which
// records above it are its own. The lock is held.
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
