// Package tracker computes from the markers of one partition which records are locked and when each
// is due for redelivery. It is pure.
//
// It uses the log's time: a record locked at time t for d is due once a marker of time t+d has been
// read. By then every earlier marker, such as the record's end, has been read too, however late the
// reader is. In an idle partition a Tick moves the time forward.
//
// Brokers' clocks can be set, and leaders change. See [clock] and [State.bound] for what keeps a
// record from being early.
//
// Files to know: state.go, clock.go, ended.go.
package tracker

import (
	"cmp"
	"container/heap"
	"container/list"
	"slices"
	"sort"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// State holds the locked records of one partition. Its memory grows with the number of ranges of locked
// records. It is not
// safe for concurrent use.
type State struct {
	// Late, unless nil, is called when the end of a record that Due returned is known. It gets the time
	// from the record's deadline to the end's append.
	Late func(by time.Duration)

	spans []span    // of all locked records, by offset
	locks list.List // of *lock, by start
	due   deadlines
	ended ended
	clock clock

	next    int64
	refused int64 // first unreadable marker; -1: none
}

// span is a range of locked records; to is excluded.
type span struct {
	from, to int64
	lock     *lock
}

// lock is what spans of one start have in common.
type lock struct {
	start    int64 // its marker's offset
	from, to int64 // all its spans are between them
	loan
	epoch       int32
	taken       bool
	undelivered bool
	postponed   uint8
	uses        int // spans
	at          *list.Element
	place       int // in the deadlines
}

type loan struct {
	deadline  int64         // on the log's clock
	notBefore time.Duration // on the reader's clock; 0: no bound
	holder    uint32
}

// New returns the state of a partition whose markers will be read from offset next.
func New(next int64) *State {
	return &State{next: next, refused: -1}
}

// Seen says when a marker was read.
type Seen struct {
	// At is the time of the read on a monotonic clock.
	At time.Duration
	// Live: the marker was read at the time of its append, so its records are not due before their
	// time has also passed on the clock of At.
	Live bool
}

// Apply processes the next marker, its offset and the broker's append time.
func (s *State) Apply(offset int64, appended time.Time, seen Seen, m marker.Marker) {
	s.pass(offset, appended, seen)
	from, to := m.Offset, m.Offset+int64(m.Count)
	switch m.Type {
	case marker.Start:
		l := s.add(lock{start: offset, from: from, to: to, epoch: m.Epoch, loan: s.loan(m, seen)}, s.locks.Back())
		for from < to {
			gone, until := s.ended.has(from, m.Epoch)
			until = min(until, to)
			if !gone {
				s.begin(from, until, l)
			}
			from = until
		}
		s.release(l)
	case marker.End:
		s.end(m, to)
		s.ended.add(from, to, m.Epoch)
	case marker.Extend, marker.Release:
		s.cut(to)
		for i := s.cut(from); i < len(s.spans) && s.spans[i].from < to; i++ {
			if l := *s.spans[i].lock; l.holder == m.Holder && !l.taken {
				l.loan, l.undelivered = s.loan(m, seen), m.Undelivered
				s.change(i, l, l.at)
			}
		}
	case marker.Tick:
	}
}

// Refuse processes an unreadable marker, and reports whether it is the first. Committable stays at or below it, so that
// a later version can read the marker.
func (s *State) Refuse(offset int64, appended time.Time, seen Seen) (first bool) {
	s.pass(offset, appended, seen)
	if first = s.refused < 0; first {
		s.refused = offset
	}
	return first
}

// Log times are in whole milliseconds, so loan adds one.
func (s *State) loan(m marker.Marker, seen Seen) loan {
	l := loan{deadline: s.clock.now + m.Duration.Milliseconds() + 1, holder: m.Holder}
	if seen.Live {
		l.notBefore = seen.At + m.Duration
	}
	return l
}

// sameRecord reports whether two leader epochs of one offset may be those of one record.
func sameRecord(a, b int32) bool { return a == b || a < 0 || b < 0 }

// begin locks records. It ignores a start of records that the log has lost. Records may already be locked if a member
// crashed or was removed, and another member delivers them too. Then the newest start names the holder, and the later
// deadline applies.
func (s *State) begin(from, to int64, l *lock) {
	s.cut(to)
	for i := s.cut(from); from < to; i++ {
		switch {
		case i == len(s.spans) || s.spans[i].from > from:
			until := to
			if i < len(s.spans) {
				until = min(to, s.spans[i].from)
			}
			s.insert(i, span{from, until, l})
		case sameRecord(s.spans[i].lock.epoch, l.epoch):
			s.renew(i, l)
		case l.epoch > s.spans[i].lock.epoch: // the log was cut: other records are at these offsets
			s.use(i, l)
		}
		from = s.spans[i].to
	}
}

func (s *State) renew(i int, l *lock) {
	before, next := s.spans[i].lock, *l
	next.epoch, next.postponed = before.epoch, before.postponed
	next.notBefore = max(l.notBefore, before.notBefore)
	at := l.at
	if l.deadline < before.deadline {
		next.deadline, next.start, at = before.deadline, before.start, before.at
	}
	s.change(i, next, at)
}

// end unlocks the records up to an offset that an end marker is of.
func (s *State) end(m marker.Marker, to int64) {
	for i := s.seek(m.Offset); i < len(s.spans) && s.spans[i].from < to; i++ {
		sp := &s.spans[i]
		if !sameRecord(sp.lock.epoch, m.Epoch) {
			continue
		}
		if sp.lock.taken && s.Late != nil && (m.Reason == marker.Copied || m.Reason == marker.DeadLettered) {
			for range min(sp.to, to) - max(sp.from, m.Offset) {
				s.Late(time.Duration(s.clock.now-sp.lock.deadline) * time.Millisecond)
			}
		}
		switch {
		case sp.from >= m.Offset && sp.to <= to:
			s.remove(i)
			i--
		case sp.from >= m.Offset:
			sp.from = to
		case sp.to <= to:
			sp.to = m.Offset
		default:
			s.cut(to)
			s.spans[i].to = m.Offset
		}
	}
}

// seek returns the index of the first span that ends behind an offset.
func (s *State) seek(offset int64) int {
	n := len(s.spans)
	if n == 0 || s.spans[n-1].to <= offset {
		return n
	}
	return sort.Search(n, func(i int) bool { return s.spans[i].to > offset })
}

// cut divides the span with the record at an offset before this record. It returns the index of the first span from
// the offset on.
func (s *State) cut(offset int64) int {
	i := s.seek(offset)
	if i == len(s.spans) || s.spans[i].from >= offset {
		return i
	}
	rest := s.spans[i]
	rest.from, s.spans[i].to = offset, offset
	s.insert(i+1, rest)
	return i + 1
}

func (s *State) insert(i int, sp span) {
	s.spans = slices.Insert(s.spans, i, sp)
	sp.lock.uses++
}

func (s *State) remove(i int) {
	l := s.spans[i].lock
	if i < len(s.spans)/2 { // most are in front
		copy(s.spans[1:], s.spans[:i])
		s.spans[0] = span{}
		s.spans = s.spans[1:]
	} else {
		s.spans = slices.Delete(s.spans, i, i+1)
	}
	s.release(l)
}

// add returns a new lock, which the caller uses. It is behind another lock of its start, or of the one before.
func (s *State) add(l lock, behind *list.Element) *lock {
	l.uses = 1
	if behind == nil {
		l.at = s.locks.PushBack(&l)
	} else {
		l.at = s.locks.InsertAfter(&l, behind)
	}
	if !l.taken {
		heap.Push(&s.due, &l)
	}
	return &l
}

// change gives a span a lock of its own.
func (s *State) change(i int, l lock, behind *list.Element) {
	l.from, l.to = s.spans[i].from, s.spans[i].to
	own := s.add(l, behind)
	s.use(i, own)
	s.release(own)
}

func (s *State) use(i int, l *lock) {
	l.uses++
	s.release(s.spans[i].lock)
	s.spans[i].lock = l
}

func (s *State) release(l *lock) {
	if l.uses--; l.uses > 0 {
		return
	}
	s.locks.Remove(l.at)
	if !l.taken {
		heap.Remove(&s.due, l.place)
	}
}

// Due is a record to redeliver.
type Due struct {
	Offset      int64
	Epoch       int32
	Undelivered bool // given back without a delivery
}

// Due returns due records, the most overdue first, each only once; the parameter most bounds their
// number. They stay open until their end is read; check [State.Taken] before redelivering one.
//
// A record that waits for the reader's clock also waits for a later marker. Otherwise, if a clock
// was set forward, the record could be due before its holder's earlier markers are read.
func (s *State) Due(most int) []Due {
	var out []Due
	for len(out) < most && len(s.due) > 0 {
		l := s.due[0]
		if l.deadline > s.clock.now || l.notBefore > s.clock.local {
			break
		}
		next := *l
		next.taken = true
		taken := s.add(next, l.at)
		for i := s.seek(l.from); i < len(s.spans) && s.spans[i].from < l.to && len(out) < most; i++ {
			if s.spans[i].lock != l {
				continue
			}
			s.cut(min(s.spans[i].to, s.spans[i].from+int64(most-len(out))))
			s.use(i, taken)
			for o := s.spans[i].from; o < s.spans[i].to; o++ {
				out = append(out, Due{Offset: o, Epoch: l.epoch, Undelivered: l.undelivered})
			}
		}
		s.release(taken)
	}
	return out
}

// Postpone makes a record that Due returned due again later. The delay doubles each time, from the
// parameter first up to most. local is on the clock of [Seen].
func (s *State) Postpone(offset int64, first, most, local time.Duration) {
	if !s.Taken(offset) {
		return
	}
	s.cut(offset + 1)
	i := s.cut(offset)
	l := *s.spans[i].lock
	l.deadline = s.clock.now + s.clock.passed(local) + min(first<<l.postponed, most).Milliseconds()
	l.taken, l.postponed = false, min(l.postponed+1, 20)
	s.change(i, l, l.at)
}

// Taken reports whether a record that Due returned is still to be redelivered.
func (s *State) Taken(offset int64) bool {
	i := s.seek(offset)
	return i < len(s.spans) && s.spans[i].from <= offset && s.spans[i].lock.taken
}

// Committable returns the offset of the oldest start with open records or of the first unreadable marker, or else the
// next offset.
func (s *State) Committable() int64 {
	low := s.next
	if first := s.locks.Front(); first != nil {
		low = first.Value.(*lock).start
	}
	if s.refused >= 0 {
		low = min(low, s.refused)
	}
	return low
}

// Next returns when the next record is due by the reader's clock, possibly in the past. tick reports whether the log
// then needs a tick. ok is false if nothing is locked.
func (s *State) Next() (at time.Duration, tick, ok bool) {
	if len(s.due) == 0 {
		return 0, false, false
	}
	r := s.due[0]
	left := r.deadline - s.clock.now
	if left <= 0 {
		return r.notBefore, r.notBefore > s.clock.local, true
	}
	left += s.clock.behind
	return max(s.clock.local+time.Duration(left)*time.Millisecond, r.notBefore), true, true
}

// Position returns the next marker's offset.
func (s *State) Position() int64 { return s.next }

// Open returns how many records are locked.
func (s *State) Open() int {
	n := int64(0)
	for _, sp := range s.spans {
		n += sp.to - sp.from
	}
	return int(n)
}

// Oldest returns the lowest locked offset of the queue's partition.
func (s *State) Oldest() (offset int64, ok bool) {
	if len(s.spans) == 0 {
		return 0, false
	}
	return s.spans[0].from, true
}

// Ranges returns the ranges of locked records, in rising order.
func (s *State) Ranges() []window.Range {
	var all []window.Range
	for _, sp := range s.spans {
		if n := len(all) - 1; n >= 0 && all[n].To == sp.from {
			all[n].To = sp.to
		} else {
			all = append(all, window.Range{From: sp.from, To: sp.to})
		}
	}
	return all
}

// deadlines is a heap of the locks that Due has not returned.
type deadlines []*lock

func (d deadlines) Len() int { return len(d) }

func (d deadlines) Less(i, j int) bool {
	a, b := d[i], d[j]
	return cmp.Or(cmp.Compare(a.deadline, b.deadline), cmp.Compare(a.notBefore, b.notBefore), cmp.Compare(a.from, b.from)) < 0
}

func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

func (d *deadlines) Push(x any) {
	l := x.(*lock)
	l.place = len(*d)
	*d = append(*d, l)
}

func (d *deadlines) Pop() any {
	n := len(*d) - 1
	l := (*d)[n]
	(*d)[n] = nil
	*d = (*d)[:n]
	return l
}
