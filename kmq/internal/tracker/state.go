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
	"container/heap"
	"container/list"
	"maps"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// State holds the locked records of one partition. Its memory grows with the number of locked records. It is not
// safe for concurrent use.
type State struct {
	// Late, unless nil, is called when the end of a record that Due returned is known. It gets the time
	// from the record's deadline to the end's append.
	Late func(by time.Duration)

	open   map[int64]*record // by offset
	due    deadlines
	starts list.List // of *start, by offset: those with open records
	ended  ended
	clock  clock

	next    int64
	refused int64 // first unreadable marker; -1: none
}

type record struct {
	offset int64
	epoch  int32
	start  *list.Element
	loan
	taken       bool
	undelivered bool
	postponed   uint8
	place       int // in the deadlines; -1: not there
}

type loan struct {
	deadline  int64         // on the log's clock
	notBefore time.Duration // on the reader's clock; 0: no bound
	holder    uint32
}

type start struct {
	offset  int64
	records int // open
}

// New returns the state of a partition whose markers will be read from offset next.
func New(next int64) *State {
	return &State{open: make(map[int64]*record), next: next, refused: -1}
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
	to := m.Offset + int64(m.Count)
	switch m.Type {
	case marker.Start:
		at := s.starts.PushBack(&start{offset: offset})
		for o := m.Offset; o < to; o++ {
			s.lock(o, m.Epoch, at, s.loan(m, seen))
		}
		if at.Value.(*start).records == 0 {
			s.starts.Remove(at)
		}
	case marker.End:
		for o := m.Offset; o < to; o++ {
			r := s.open[o]
			if r == nil || !sameRecord(r.epoch, m.Epoch) {
				continue
			}
			if r.taken && s.Late != nil && (m.Reason == marker.Copied || m.Reason == marker.DeadLettered) {
				s.Late(time.Duration(s.clock.now-r.deadline) * time.Millisecond)
			}
			s.remove(r)
		}
		s.ended.add(m.Offset, to, m.Epoch)
	case marker.Extend, marker.Release:
		for o := m.Offset; o < to; o++ {
			if r := s.open[o]; r != nil && r.holder == m.Holder && !r.taken {
				r.loan, r.undelivered = s.loan(m, seen), m.Undelivered
				s.reschedule(r)
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

// lock locks a record. It ignores a start of a record that has ended, or that the log has lost. A
// record may already be locked if a member crashed or was removed, and another member delivers it
// too. Then the newest start names the holder, and the later deadline applies.
func (s *State) lock(offset int64, epoch int32, at *list.Element, l loan) {
	r := s.open[offset]
	switch {
	case s.ended.has(offset, epoch):
		return
	case r != nil && !sameRecord(r.epoch, epoch):
		if epoch < r.epoch {
			return
		}
		s.remove(r) // the log was cut: another record is at this offset
		r = nil
	}
	if r == nil {
		r = &record{offset: offset, epoch: epoch, start: at, loan: l, place: -1}
		s.open[offset] = r
		at.Value.(*start).records++
		heap.Push(&s.due, r)
		return
	}
	l.notBefore = max(l.notBefore, r.notBefore)
	if l.deadline < r.deadline {
		l.deadline = r.deadline
	} else {
		s.release(r.start)
		r.start = at
		at.Value.(*start).records++
	}
	r.loan, r.undelivered = l, false
	s.reschedule(r)
}

func (s *State) release(at *list.Element) {
	of := at.Value.(*start)
	if of.records--; of.records == 0 {
		s.starts.Remove(at)
	}
}

func (s *State) remove(r *record) {
	delete(s.open, r.offset)
	if !r.taken {
		heap.Remove(&s.due, r.place)
	}
	s.release(r.start)
}

func (s *State) reschedule(r *record) {
	if r.taken {
		r.taken = false
		heap.Push(&s.due, r)
		return
	}
	heap.Fix(&s.due, r.place)
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
		r := s.due[0]
		if r.deadline > s.clock.now || r.notBefore > s.clock.local {
			break
		}
		heap.Pop(&s.due)
		r.taken = true
		out = append(out, Due{Offset: r.offset, Epoch: r.epoch, Undelivered: r.undelivered})
	}
	return out
}

// Postpone makes a record that Due returned due again later. The delay doubles each time, from the
// parameter first up to most. local is on the clock of [Seen].
func (s *State) Postpone(offset int64, first, most, local time.Duration) {
	r := s.open[offset]
	if r == nil || !r.taken {
		return
	}
	r.deadline = s.clock.now + s.clock.passed(local) + min(first<<r.postponed, most).Milliseconds()
	r.postponed = min(r.postponed+1, 20)
	s.reschedule(r)
}

// Taken reports whether a record that Due returned is still to be redelivered.
func (s *State) Taken(offset int64) bool {
	r := s.open[offset]
	return r != nil && r.taken
}

// Committable returns the offset of the oldest start with open records or of the first unreadable marker, or else the
// next offset.
func (s *State) Committable() int64 {
	low := s.next
	if first := s.starts.Front(); first != nil {
		low = first.Value.(*start).offset
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
func (s *State) Open() int { return len(s.open) }

// Oldest returns the lowest locked offset of the queue's partition. It looks at all locked records.
func (s *State) Oldest() (offset int64, ok bool) {
	for o := range s.open {
		if !ok || o < offset {
			offset, ok = o, true
		}
	}
	return offset, ok
}

// Ranges returns the ranges of locked records, in rising order.
func (s *State) Ranges() []window.Range {
	var all []window.Range
	for _, o := range slices.Sorted(maps.Keys(s.open)) {
		if n := len(all) - 1; n >= 0 && all[n].To == o {
			all[n].To++
		} else {
			all = append(all, window.Range{From: o, To: o + 1})
		}
	}
	return all
}

// deadlines is a heap of the records that Due has not returned.
type deadlines []*record

func (d deadlines) Len() int { return len(d) }

func (d deadlines) Less(i, j int) bool {
	return d[i].deadline < d[j].deadline || d[i].deadline == d[j].deadline && d[i].offset < d[j].offset
}

func (d deadlines) Swap(i, j int) {
	d[i], d[j] = d[j], d[i]
	d[i].place, d[j].place = i, j
}

func (d *deadlines) Push(x any) {
	r := x.(*record)
	r.place = len(*d)
	*d = append(*d, r)
}

func (d *deadlines) Pop() any {
	n := len(*d) - 1
	r := (*d)[n]
	(*d)[n], r.place = nil, -1
	*d = (*d)[:n]
	return r
}
