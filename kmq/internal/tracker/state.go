// Package tracker computes, from the markers of one partition, which records are lent and
// when each is due again. It is pure: markers and readings of a clock go in, what is due
// and what may be committed come out.
//
// Its now is the time of the log. A record that was lent at the log's time t for d is due
// once a marker of the time t+d has been read: then everything that was appended before
// t+d, an end of that record for one, has been read too, however far behind the reader is.
// A partition in which nothing happens is given a Tick to carry its time forward.
//
// Brokers' clocks are set, and leaders change. So the time that counts is what went by
// from one marker to the next; and what was read as it happened is besides not due before
// as much time has gone by on the reader's own clock, so that a clock set forward makes
// nothing early.
//
// What was read after the fact has no such bound. But whoever tracks a partition carries its
// time on as soon as something is due: so where the log's time passes a deadline and goes on
// for long without a marker, either nobody tracked or a clock was set. The two look the same,
// and never early comes first: over such a gap the reader's own clock is believed. A step that
// passes no deadline, or goes on for less than that beyond it, can't be told from time.
//
// Files to know: state.go, spans.go.
package tracker

import (
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// State is what is lent of one partition. Its memory grows with the ranges of records that
// are lent, not with the markers that were read. It is not safe for concurrent use.
type State struct {
	// Late is called, if it is set, when the end of records is read that this State had
	// given out as due: so many, and how long after their deadline that end was appended.
	Late func(records int64, by time.Duration)

	spans   spans
	due     deadlines
	sources sources
	clock   clock

	next    int64 // behind the newest marker
	refused int64 // the first marker that could not be read; -1: none
	open    int64 // records in spans
	taken   int64 // of these, given out as due
}

// New is the state of a partition whose markers will be read from offset next on.
func New(next int64) *State { return &State{next: next, refused: -1} }

// Seen is when a marker was read.
type Seen struct {
	// At is the reading of a monotonic clock.
	At time.Duration
	// Live: the marker was read as it was appended, and not after the fact; its records
	// are not due before their time has gone by on the clock of At too.
	Live bool
}

// Apply takes the next marker: its offset in the markers' partition, the time at which the
// broker appended it, and when it was read.
func (s *State) Apply(offset int64, appended time.Time, seen Seen, m marker.Marker) {
	s.pass(offset, appended, seen)
	from, to := m.Offset, m.Offset+int64(m.Count)
	switch m.Type {
	case marker.Start:
		src := s.sources.add(offset, appended)
		s.start(from, to, src, s.deadline(m, seen))
		s.sources.drop(src)
	case marker.End:
		s.end(from, to, m.Reason)
	case marker.Extend:
		s.change(from, to, m, s.deadline(m, seen))
	case marker.Release:
		s.change(from, to, m, s.deadline(m, seen))
	case marker.Tick:
	}
}

// Refuse takes a marker that can't be read. Nothing from it on is committed, so that a
// reader who can will read it.
func (s *State) Refuse(offset int64, appended time.Time, seen Seen) {
	s.pass(offset, appended, seen)
	if s.refused < 0 {
		s.refused = offset
	}
}

func (s *State) pass(offset int64, appended time.Time, seen Seen) {
	s.next = offset + 1
	log := appended.UnixMilli()
	if s.untended(s.clock.gap(log)) {
		s.bound()
		s.clock.skip(log, seen.At)
	}
	s.clock.read(log, seen.At)
}

// untendedFor is how long a partition may have no tracker: long enough for its group to
// notice that one was killed (45 s by default), and for one to try again what it could not
// deliver (within a minute).
const untendedFor = 120_000 // ms

// untended is whether nobody carried the log's time on over a gap between two markers,
// though something was due in it.
func (s *State) untended(gap int64) bool {
	first := s.due.first()
	return first != nil && gap-max(0, first.deadline-s.clock.now) > untendedFor
}

// bound has what was read after the fact wait for what remained of its time at the newest
// marker, on the reader's clock.
func (s *State) bound() {
	for _, sp := range s.due.heap {
		if sp.notBefore == 0 {
			sp.notBefore = s.clock.local + time.Duration(sp.deadline-s.clock.now)*time.Millisecond
		}
	}
}

// loan is for how long, and to whom, records are lent.
type loan struct {
	deadline  int64         // of the clock: due from here on
	notBefore time.Duration // on the reader's clock; 0: no bound
	holder    uint32
}

// deadline is when the records of a marker are due. The log's time is cut to milliseconds,
// so a marker may be up to one later than it says.
func (s *State) deadline(m marker.Marker, seen Seen) loan {
	l := loan{deadline: s.clock.now + m.Duration.Milliseconds() + 1, holder: m.Holder}
	if seen.Live {
		l.notBefore = seen.At + m.Duration
	}
	return l
}

// start lends [from, to). What is lent already is lent again: a member that crashed after
// it wrote a start, or was put out of the group, left its records to another, which writes
// a second one. The newest is the holder from then on; the later of both deadlines holds,
// because neither may find its records delivered early.
func (s *State) start(from, to int64, src *source, l loan) {
	if s.spans.endsBefore(from) {
		s.add(&span{from: from, to: to, src: src, loan: l})
		return
	}
	s.split(from)
	s.split(to)
	for at := from; at < to; {
		_, sp := s.spans.seek(at)
		switch {
		case sp == nil || sp.from >= to:
			s.add(&span{from: at, to: to, src: src, loan: l})
			return
		case sp.from > at:
			s.add(&span{from: at, to: sp.from, src: src, loan: l})
			at = sp.from
		default:
			s.renew(sp, src, l)
			at = sp.to
		}
	}
}

func (s *State) renew(sp *span, src *source, l loan) {
	l.notBefore = max(l.notBefore, sp.notBefore)
	if l.deadline < sp.deadline {
		l.deadline, src = sp.deadline, sp.src // to read it again, it takes the older start
	}
	src.uses++
	s.sources.drop(sp.src)
	sp.src, sp.loan, sp.undelivered = src, l, false
	s.reschedule(sp)
}

// end takes [from, to) out.
func (s *State) end(from, to int64, why marker.Reason) {
	for {
		at, sp := s.spans.seek(from)
		if sp == nil || sp.from >= to {
			return
		}
		if sp.from < from && sp.to > to {
			s.split(to)
			continue
		}
		low, high := max(from, sp.from), min(to, sp.to)
		s.ended(sp, high-low, why)
		switch {
		case low > sp.from:
			sp.to = low
		case high < sp.to:
			sp.from = high
			s.due.fix(sp)
		default:
			s.spans.remove(at)
			s.due.remove(sp)
			s.sources.drop(sp.src)
		}
	}
}

func (s *State) ended(sp *span, records int64, why marker.Reason) {
	s.open -= records
	if !sp.taken {
		return
	}
	s.taken -= records
	if s.Late != nil && (why == marker.Copied || why == marker.DeadLettered) {
		s.Late(records, time.Duration(s.clock.now-sp.deadline)*time.Millisecond)
	}
}

// Ended takes records out whose end is durable and not read yet: who wrote it need not
// wait for it. local is the reading of the clock of [Seen].
func (s *State) Ended(m marker.Marker, local time.Duration) {
	now := s.clock.now
	s.clock.now += max(0, (local-s.clock.local).Milliseconds()-s.clock.behind)
	s.end(m.Offset, m.Offset+int64(m.Count), m.Reason)
	s.clock.now = now
}

// change gives the open records of [from, to) another deadline, where they are lent to the
// one who asks: not those that were lent again since. Nor those given out as due: it is too
// late for them.
func (s *State) change(from, to int64, m marker.Marker, l loan) {
	s.split(from)
	s.split(to)
	for at := from; ; {
		_, sp := s.spans.seek(at)
		if sp == nil || sp.from >= to {
			return
		}
		at = sp.to
		if sp.holder != m.Holder || sp.taken {
			continue
		}
		sp.loan, sp.undelivered = l, m.Undelivered
		s.reschedule(sp)
	}
}

// split sees to it that no span reaches across at.
func (s *State) split(at int64) {
	_, sp := s.spans.seek(at)
	if sp == nil || sp.from >= at {
		return
	}
	rest := *sp
	rest.from, rest.place = at, 0
	sp.to = at
	s.addCounted(&rest)
}

func (s *State) add(sp *span) {
	s.open += sp.to - sp.from
	s.addCounted(sp)
}

// addCounted adds a span whose records are in open and taken already.
func (s *State) addCounted(sp *span) {
	at, _ := s.spans.seek(sp.from)
	s.spans.insert(at, sp)
	sp.src.uses++
	if !sp.taken {
		s.due.add(sp)
	}
}

func (s *State) reschedule(sp *span) {
	if sp.taken {
		sp.taken = false
		s.taken -= sp.to - sp.from
		s.due.add(sp)
		return
	}
	s.due.fix(sp)
}

// Due is a range of records to be delivered again.
type Due struct {
	window.Range
	Undelivered bool // given back without having been delivered
}

// Due gives out, once, so many records at the most that are due: the most overdue first. They
// stay open until their end is read. They are to be delivered again if [State.Taken] still says
// so at the time.
//
// What has to wait for the reader's clock waits for a marker that was read by then: a clock set
// forward would have it due before what the holder wrote of it meanwhile is read.
func (s *State) Due(most int64) []Due {
	var out []Due
	for most > 0 {
		sp := s.due.first()
		if sp == nil || sp.deadline > s.clock.now || sp.notBefore > s.clock.local {
			break
		}
		if sp.to-sp.from > most {
			s.split(sp.from + most)
		}
		s.due.remove(sp)
		sp.taken = true
		n := sp.to - sp.from
		s.taken += n
		most -= n
		out = append(out, Due{Range: window.Range{From: sp.from, To: sp.to}, Undelivered: sp.undelivered})
	}
	return out
}

// Postpone takes back what was given out as due of [from, to) and could not be delivered:
// it is due again after a while, which is longer each time, from first up to most. local is
// the reading of the clock of [Seen].
func (s *State) Postpone(from, to int64, first, most, local time.Duration) {
	s.split(from)
	s.split(to)
	for at := from; ; {
		_, sp := s.spans.seek(at)
		if sp == nil || sp.from >= to {
			return
		}
		at = sp.to
		if !sp.taken {
			continue
		}
		sp.deadline = s.clock.now + max(0, (local-s.clock.local).Milliseconds()-s.clock.behind) + min(first<<sp.postponed, most).Milliseconds()
		sp.postponed = min(sp.postponed+1, 20)
		s.reschedule(sp)
	}
}

// Taken is whether a record that was given out as due is still to be delivered: its end
// has not been read, and nobody else was lent it.
func (s *State) Taken(offset int64) bool {
	_, sp := s.spans.seek(offset)
	return sp != nil && sp.from <= offset && sp.taken
}

// Committable is the offset below which no marker is needed any more: that of the oldest
// start of which something is open, or of the first marker that could not be read; else
// the one behind the last.
func (s *State) Committable() int64 {
	low := s.next
	if first := s.sources.first(); first != nil {
		low = first.offset
	}
	if s.refused >= 0 {
		low = min(low, s.refused)
	}
	return low
}

// Next says when the next record is due, as far as the reader's clock can tell; tick: the
// log's time may have to be carried forward then, because it is not known to be there. It
// may be long past. There is none if ok is false.
func (s *State) Next() (at time.Duration, tick, ok bool) {
	sp := s.due.first()
	if sp == nil {
		return 0, false, false
	}
	left := sp.deadline - s.clock.now
	if left <= 0 {
		return sp.notBefore, sp.notBefore > s.clock.local, true
	}
	left += s.clock.behind
	return max(s.clock.local+time.Duration(left)*time.Millisecond, sp.notBefore), true, true
}

// Position is the offset of the marker to be read next.
func (s *State) Position() int64 { return s.next }

// Open is how many records are lent, Taken of them given out as due and not known to be
// delivered.
func (s *State) Open() (open, taken int64) { return s.open, s.taken }

// Spans is in how many ranges they are: the measure of the memory they take.
func (s *State) Spans() int { return s.spans.n }

// Refused is the offset of the first marker that could not be read.
func (s *State) Refused() (int64, bool) { return s.refused, s.refused >= 0 }

// Oldest is the lowest offset of the queue's partition that is lent.
func (s *State) Oldest() (record int64, ok bool) {
	_, sp := s.spans.seek(0)
	if sp == nil {
		return 0, false
	}
	return sp.from, true
}

// OldestStart is when the oldest start was appended of which something is open.
func (s *State) OldestStart() (at time.Time, ok bool) {
	first := s.sources.first()
	if first == nil {
		return time.Time{}, false
	}
	return first.appended, true
}

// jitter is how far the log's time may fall back and still be the same clock: brokers'
// clocks are corrected by little, and the next leader's differs by little. The time then
// stands still until it is caught up with, so that what is counted is never more than what
// went by. Beyond, the clock was set, and is followed from where it was set to.
const jitter = 2000 // ms

// clock adds up the time that goes by between markers.
type clock struct {
	began  bool
	now    int64         // ms that went by since the first marker
	log    int64         // the log's time that this is, in ms
	behind int64         // how far the newest marker is behind it
	local  time.Duration // when that was read
}

// gap is how far a marker is ahead of those that were read.
func (c *clock) gap(log int64) int64 {
	if !c.began {
		return 0
	}
	return max(0, log-c.log)
}

// skip follows the log's time to where it is ahead, and counts of that what went by here.
func (c *clock) skip(log int64, local time.Duration) {
	c.now += min(log-c.log, (local - c.local).Milliseconds())
	c.log = log
}

func (c *clock) read(log int64, local time.Duration) {
	c.local = local
	switch {
	case !c.began || c.log-log > jitter:
		c.began, c.log = true, log
	case log > c.log:
		c.now += log - c.log
		c.log = log
	}
	c.behind = c.log - log
}
