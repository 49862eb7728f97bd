// Package tracker computes from the markers of one partition which records are locked and when each
// is due for redelivery. It is pure.
//
// It uses the log's time: a record locked at time t for d is due once a marker of time t+d has been
// read. By then every earlier marker, such as the record's end, has been read too, however late the
// reader is. In an idle partition a Tick moves the time forward.
//
// Brokers' clocks can be set, and leaders change. So the tracker adds up the time between markers.
// A marker that was read at the time of its append has a second bound: its records are not due
// before the same time has passed on the reader's clock. So a clock set forward makes nothing
// early.
//
// Markers that were read later have no such bound. But a tracker writes ticks as soon as a record
// is due. If the log's time jumps far past a deadline, either no tracker ran or a clock was set. To
// be never early, the state then trusts the reader's clock. It cannot recognise a jump that passes
// no deadline, or passes one by less than untendedFor.
//
// Files to know: state.go, spans.go.
package tracker

import (
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// State holds the locked records of one partition. Its memory grows with the locked ranges. It is not safe for
// concurrent use.
type State struct {
	// Late, unless nil, is called when the end of records that Due returned is read. It gets their
	// number and the time from their deadline to the end's append.
	Late func(records int64, by time.Duration)

	spans   spans
	due     deadlines
	sources sources
	clock   clock

	next    int64
	refused int64 // first unreadable marker; -1: none
	open    int64
	taken   int64
}

// New returns the state of a partition whose markers will be read from offset next.
func New(next int64) *State { return &State{next: next, refused: -1} }

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

// Refuse processes an unreadable marker. Committable stays at or below it, so that a later version
// can read the marker.
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

// untendedFor is how long a partition may have no tracker. It covers the time until the group
// notices a killed tracker (45 s by default) and a retry of a failed delivery (within a minute).
const untendedFor = 120_000 // ms

func (s *State) untended(gap int64) bool {
	first := s.due.first()
	return first != nil && gap-max(0, first.deadline-s.clock.now) > untendedFor
}

// bound makes records whose markers were not read live wait for the rest of their time on the
// reader's clock.
func (s *State) bound() {
	for _, sp := range s.due.heap {
		if sp.notBefore == 0 {
			sp.notBefore = s.clock.local + time.Duration(sp.deadline-s.clock.now)*time.Millisecond
		}
	}
}

type loan struct {
	deadline  int64         // on the log's clock
	notBefore time.Duration // on the reader's clock; 0: no bound
	holder    uint32
}

// Log times are in whole milliseconds, so deadline adds one.
func (s *State) deadline(m marker.Marker, seen Seen) loan {
	l := loan{deadline: s.clock.now + m.Duration.Milliseconds() + 1, holder: m.Holder}
	if seen.Live {
		l.notBefore = seen.At + m.Duration
	}
	return l
}

// start locks [from, to). Records may already be locked if a member crashed or was removed, and
// another member delivers them too. Then the newest start names the holder, and the later deadline
// applies.
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
		l.deadline, src = sp.deadline, sp.src
	}
	src.uses++
	s.sources.drop(sp.src)
	sp.src, sp.loan, sp.undelivered = src, l, false
	s.reschedule(sp)
}

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

// Ended removes records that Due returned and whose end is durable, before the end is read. A
// record that was locked again since Due returned it stays open: its new start may be behind the
// end. local is a reading of the clock of [Seen].
func (s *State) Ended(m marker.Marker, local time.Duration) {
	now := s.clock.now
	s.clock.now += max(0, (local-s.clock.local).Milliseconds()-s.clock.behind)
	for at, to := m.Offset, m.Offset+int64(m.Count); at < to; {
		_, sp := s.spans.seek(at)
		if sp == nil {
			break
		}
		next := min(sp.to, to)
		if sp.taken {
			s.end(at, next, m.Reason)
		}
		at = next
	}
	s.clock.now = now
}

// change sets another deadline for records of [from, to) that m's holder has locked, unless Due has returned them.
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

// Due is a range of records to redeliver.
type Due struct {
	window.Range
	Undelivered bool // given back without a delivery
}

// Due returns due records, the most overdue first, each only once; the parameter most bounds their
// number. They stay open until their end is read; check [State.Taken] before redelivering one.
//
// A record that waits for the reader's clock also waits for a later marker. Otherwise, if a clock
// was set forward, the record could be due before its holder's earlier markers are read.
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

// Postpone makes records of [from, to) that Due returned due again later. The delay doubles each
// time, from the parameter first up to most. local is on the clock of [Seen].
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

// Taken reports whether a record that Due returned is still to be redelivered.
func (s *State) Taken(offset int64) bool {
	_, sp := s.spans.seek(offset)
	return sp != nil && sp.from <= offset && sp.taken
}

// Committable returns the offset of the oldest start with open records or of the first unreadable marker, or else the
// next offset.
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

// Next returns when the next record is due by the reader's clock, possibly in the past. tick reports whether the log
// then needs a tick. ok is false if nothing is locked.
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

// Position returns the next marker's offset.
func (s *State) Position() int64 { return s.next }

// Open returns how many records are locked, and how many of them Due has returned.
func (s *State) Open() (open, taken int64) { return s.open, s.taken }

// Spans returns the number of locked ranges, which measures the memory.
func (s *State) Spans() int { return s.spans.n }

// Refused returns the offset of the first unreadable marker.
func (s *State) Refused() (int64, bool) { return s.refused, s.refused >= 0 }

// Oldest returns the lowest locked offset of the queue's partition.
func (s *State) Oldest() (record int64, ok bool) {
	_, sp := s.spans.seek(0)
	if sp == nil {
		return 0, false
	}
	return sp.from, true
}

// OldestStart returns the append time of the oldest start with open records.
func (s *State) OldestStart() (at time.Time, ok bool) {
	first := s.sources.first()
	if first == nil {
		return time.Time{}, false
	}
	return first.appended, true
}

// The log's time may fall back by jitter and still count as the same clock. The tracker's time then stops until the
// log catches up; after a larger step it follows the new time.
const jitter = 2000 // ms

type clock struct {
	began  bool
	now    int64         // ms since the first marker
	log    int64         // the log's time at now, ms
	behind int64         // ms from the newest marker's time to log
	local  time.Duration // the reader's time at the newest marker
}

func (c *clock) gap(log int64) int64 {
	if !c.began {
		return 0
	}
	return max(0, log-c.log)
}

// skip counts only the time that passed on the reader's clock.
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
