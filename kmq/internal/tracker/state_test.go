package tracker_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

type entry struct {
	epoch       int32
	deadline    int64 // ms
	notBefore   time.Duration
	source      int64
	holder      uint32
	taken       bool
	undelivered bool
	postponed   int
}

type model struct {
	open     map[int64]*entry
	now, log int64
	behind   int64
	local    time.Duration
	began    bool
	skipped  bool
	next     int64
	refused  int64
	late     map[int64]int64
	ended    map[int64]int32 // by record: the newest epoch
}

func newModel() *model {
	return &model{open: map[int64]*entry{}, refused: -1, late: map[int64]int64{}, ended: map[int64]int32{}}
}

// skip handles a gap of more than two minutes in which a record was due.
func (m *model) skip(log int64, local time.Duration) {
	first := m.earliest()
	if !m.began || first == nil || log-m.log-max(0, first.deadline-m.now) <= 120_000 {
		return
	}
	for _, e := range m.open {
		if !e.taken && e.notBefore == 0 {
			e.notBefore = m.local + time.Duration(e.deadline-m.now)*time.Millisecond
		}
	}
	m.now += min(log-m.log, (local - m.local).Milliseconds())
	m.log, m.skipped = log, true
}

func (m *model) apply(offset, log int64, seen tracker.Seen, k *marker.Marker) {
	m.skip(log, seen.At)
	if !m.began || log < m.log-2000 {
		m.log = log
	}
	m.now += max(0, log-m.log)
	m.log = max(m.log, log)
	m.behind = m.log - log
	m.began, m.local, m.next = true, seen.At, offset+1
	if k == nil {
		if m.refused < 0 {
			m.refused = offset
		}
		return
	}
	deadline, notBefore := m.now+k.Duration.Milliseconds()+1, time.Duration(0)
	if seen.Live {
		notBefore = seen.At + k.Duration
	}
	for r := k.Offset; r < k.Offset+int64(k.Count); r++ {
		e := m.open[r]
		switch k.Type {
		case marker.Start:
			if last, ended := m.ended[r]; ended && k.Epoch <= last || e != nil && k.Epoch < e.epoch {
				continue
			}
			if e != nil && k.Epoch > e.epoch {
				e = nil // the log was cut
			}
			renewed := &entry{epoch: k.Epoch, deadline: deadline, notBefore: notBefore, source: offset, holder: k.Holder}
			if e != nil && deadline < e.deadline {
				renewed.deadline, renewed.source = e.deadline, e.source
			}
			if e != nil {
				renewed.notBefore, renewed.postponed = max(notBefore, e.notBefore), e.postponed
			}
			m.open[r] = renewed
		case marker.End:
			m.ended[r] = k.Epoch
			if e == nil || e.epoch != k.Epoch {
				continue
			}
			if e.taken && (k.Reason == marker.Copied || k.Reason == marker.DeadLettered) {
				m.late[m.now-e.deadline]++
			}
			delete(m.open, r)
		case marker.Extend, marker.Release:
			if e != nil && !e.taken && e.holder == k.Holder {
				e.deadline, e.notBefore, e.undelivered = deadline, notBefore, k.Undelivered
			}
		}
	}
}

func (m *model) committable() int64 {
	low := m.next
	for _, e := range m.open {
		low = min(low, e.source)
	}
	if m.refused >= 0 {
		low = min(low, m.refused)
	}
	return low
}

func (m *model) earliest() (first *entry) {
	for _, e := range m.open {
		if !e.taken && (first == nil || e.before(first)) {
			first = e
		}
	}
	return first
}

func (e *entry) before(o *entry) bool {
	return e.deadline < o.deadline || e.deadline == o.deadline && e.notBefore < o.notBefore
}

// due compares what Due has returned. The order of records with the same deadline is open.
func (m *model) due(t *rapid.T, got []tracker.Due, most int) {
	late := func() *entry {
		if e := m.earliest(); e != nil && e.deadline <= m.now && e.notBefore <= m.local {
			return e
		}
		return nil
	}
	for _, d := range got {
		e, first := m.open[d.Offset], late()
		if e == nil || e.taken || first == nil || first.before(e) || d.Undelivered != e.undelivered || d.Epoch != e.epoch {
			t.Fatalf("due %+v, which is %+v; the first is %+v", d, e, first)
		}
		e.taken = true
	}
	if e := late(); len(got) > most || len(got) < most && e != nil {
		t.Fatalf("%d of %d are due, not %+v", len(got), most, e)
	}
}

const places = 24

func same(t *rapid.T, m *model, s *tracker.State) {
	open := s.Open()
	oldest := int64(-1)
	for r := range m.open {
		if oldest < 0 || r < oldest {
			oldest = r
		}
	}
	if open != len(m.open) {
		t.Fatalf("%d open, want %d", open, len(m.open))
	}
	for r := range int64(places + 8) {
		if e := m.open[r]; s.Taken(r) != (e != nil && e.taken) {
			t.Fatalf("record %d: taken is %v", r, s.Taken(r))
		}
	}
	if got := s.Committable(); got != m.committable() {
		t.Fatalf("committable %d, want %d", got, m.committable())
	}
	if got, ok := s.Oldest(); ok != (oldest >= 0) || ok && got != oldest {
		t.Fatalf("oldest %d, %v; want %d", got, ok, oldest)
	}
	var locked int64
	for _, r := range s.Ranges() {
		locked += r.Len()
	}
	if locked != int64(open) {
		t.Fatalf("%d records in ranges, %d open", locked, open)
	}
	first := m.earliest()
	at, tick, ok := s.Next()
	switch {
	case ok != (first != nil):
		t.Fatalf("next: %v", ok)
	case !ok:
	case tick != (first.deadline > m.now || first.notBefore > m.local):
		t.Fatalf("next: tick %v, deadline %d at %d, not before %v at %v", tick, first.deadline, m.now, first.notBefore, m.local)
	case first.deadline <= m.now && at != first.notBefore:
		t.Fatalf("next at %v, want %v", at, first.notBefore)
	case first.deadline > m.now && at != max(first.notBefore, m.local+time.Duration(first.deadline-m.now+m.behind)*time.Millisecond):
		t.Fatalf("next at %v, deadline in %d ms after %v", at, first.deadline-m.now, m.local)
	}
}

func drawMarker(t *rapid.T) *marker.Marker {
	m := &marker.Marker{Offset: -1, Type: rapid.SampledFrom([]marker.Type{
		marker.Start, marker.Start, marker.Start, marker.End, marker.End, marker.Extend, marker.Release, marker.Tick,
	}).Draw(t, "type")}
	if m.Type == marker.Tick {
		return m
	}
	m.Offset = rapid.Int64Range(0, places).Draw(t, "record")
	m.Count = rapid.Int32Range(1, 8).Draw(t, "count")
	if m.Type == marker.Start || m.Type == marker.End {
		m.Epoch = rapid.SampledFrom([]int32{0, 0, 0, 1}).Draw(t, "epoch")
	}
	if m.Type == marker.End {
		m.Reason = marker.Reason(rapid.IntRange(0, 3).Draw(t, "reason"))
		return m
	}
	m.Duration = time.Duration(rapid.IntRange(0, 20).Draw(t, "ms")) * time.Millisecond
	m.Holder = rapid.Uint32Range(1, 2).Draw(t, "holder")
	m.Undelivered = m.Type == marker.Release && rapid.Bool().Draw(t, "undelivered")
	return m
}

// A state rebuilt from the committable offset has all open records, none of them earlier.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type read struct {
			offset, log int64
			seen        tracker.Seen
			m           *marker.Marker
		}
		var history []read
		late := map[int64]int64{}
		m, s, exact := newModel(), tracker.New(0), true
		s.Late = func(by time.Duration) { late[by.Milliseconds()]++ }
		offset, log, local := int64(0), int64(1_000_000), time.Duration(1)
		take := func(k *marker.Marker) {
			offset += rapid.Int64Range(1, 2).Draw(t, "gap") // transactions take offsets too
			log += rapid.SampledFrom([]int64{0, 0, 1, 3, 10, 1000, 120_010, 3_600_000, -1, -500, -5000}).Draw(t, "log")
			local += time.Duration(rapid.IntRange(0, 5).Draw(t, "local")) * time.Millisecond
			exact = exact && log >= m.log
			seen := tracker.Seen{At: local, Live: rapid.Bool().Draw(t, "live")}
			history = append(history, read{offset, log, seen, k})
			m.apply(offset, log, seen, k)
			if k == nil {
				s.Refuse(offset, time.UnixMilli(log), seen)
			} else {
				s.Apply(offset, time.UnixMilli(log), seen, *k)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"":       func(t *rapid.T) { same(t, m, s) },
			"marker": func(t *rapid.T) { take(drawMarker(t)) },
			"refuse": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") == 0 {
					take(nil)
				}
			},
			"postpone": func(t *rapid.T) {
				from, n := rapid.Int64Range(0, places).Draw(t, "record"), rapid.Int64Range(1, 8).Draw(t, "count")
				local += time.Duration(rapid.IntRange(0, 5).Draw(t, "local")) * time.Millisecond
				for r := from; r < from+n; r++ {
					if e := m.open[r]; e != nil && e.taken {
						e.deadline = m.now + max(0, (local-m.local).Milliseconds()-m.behind) + min(int64(3)<<e.postponed, 20)
						e.taken, e.postponed = false, min(e.postponed+1, 20)
					}
				}
				for r := from; r < from+n; r++ {
					s.Postpone(r, 3*time.Millisecond, 20*time.Millisecond, local)
				}
			},
			"due": func(t *rapid.T) {
				most := rapid.IntRange(1, 12).Draw(t, "most")
				got := s.Due(most)
				exact = exact && len(got) == 0
				m.due(t, got, most)
			},
		})
		if fmt.Sprint(late) != fmt.Sprint(m.late) {
			t.Fatalf("late %v, want %v", late, m.late)
		}

		again := newModel()
		for _, r := range history {
			if r.offset >= s.Committable() {
				again.apply(r.offset, r.log, r.seen, r.m)
			}
		}
		for r, e := range m.open {
			a := again.open[r]
			if a == nil {
				t.Fatalf("rebuilt from %d: record %d is not open", s.Committable(), r)
			}
			exact := exact && !m.skipped && !again.skipped && m.refused < 0
			if got, want := a.deadline-again.now, e.deadline-m.now; exact && (got < want || a.undelivered && !e.undelivered) {
				t.Fatalf("rebuilt from %d: record %d is due in %d ms, want %d", s.Committable(), r, got, want)
			}
		}
	})
}

func at(ms int64) time.Time { return time.UnixMilli(1_700_000_000_000 + ms) }

func live(ms int64) tracker.Seen {
	return tracker.Seen{At: time.Duration(ms) * time.Millisecond, Live: true}
}

func start(offset int64, count int32, d time.Duration) marker.Marker {
	return marker.Marker{Type: marker.Start, Offset: offset, Count: count, Duration: d, Holder: 1}
}

var tick = marker.Marker{Type: marker.Tick, Offset: -1}

// Invariant 8: no step of a broker's clock makes a record early, and a step back delays nothing.
func TestClockSteps(t *testing.T) {
	s := tracker.New(0)
	s.Apply(0, at(0), live(0), start(10, 1, 30*time.Second))
	s.Apply(1, at(3_600_000), live(10), tick)
	if due := s.Due(10); due != nil {
		t.Errorf("due early after a step forward: %v", due)
	}
	if next, needsTick, ok := s.Next(); next != 30_001*time.Millisecond || !needsTick || !ok {
		t.Errorf("next at %v, %v, %v", next, needsTick, ok)
	}
	s.Apply(2, at(3_600_000+29_991), live(30_001), tick)
	if due := s.Due(10); len(due) != 1 {
		t.Errorf("not due after its time: %v", due)
	}

	s = tracker.New(0)
	s.Apply(0, at(3_600_000), live(0), start(10, 1, 30*time.Second))
	s.Apply(1, at(0), live(10), tick)
	s.Apply(2, at(0), live(10), start(11, 1, 30*time.Second))
	s.Apply(3, at(30_000), live(30_010), tick)
	if due := s.Due(10); due != nil {
		t.Errorf("due early after a step back: %v", due)
	}
	s.Apply(4, at(30_001), live(30_011), tick)
	if due := s.Due(10); len(due) != 2 {
		t.Errorf("held up by a step back: %v", due)
	}
}

// With a clock set forward, a record is due only after a marker that was read at its deadline or later.
func TestAClockAheadHidesNoExtension(t *testing.T) {
	s := tracker.New(0)
	s.Apply(0, at(0), live(0), start(10, 1, 2*time.Second))
	s.Apply(1, at(2500), live(10), tick) // the leader's clock is ahead
	if next, needsTick, ok := s.Next(); next != 2*time.Second || !needsTick || !ok {
		t.Errorf("next at %v, %v, %v; want a marker of two seconds or later", next, needsTick, ok)
	}
	if due := s.Due(10); due != nil {
		t.Errorf("due without it: %v", due)
	}
	extend := marker.Marker{Type: marker.Extend, Offset: 10, Count: 1, Duration: 2 * time.Second, Holder: 1}
	s.Apply(2, at(4400), live(2005), extend) // written at 1,900, read late
	s.Apply(3, at(4510), live(2010), tick)
	if due := s.Due(10); due != nil {
		t.Errorf("due though it was extended: %v", due)
	}
	s.Apply(4, at(6510), live(4010), tick)
	if due := s.Due(10); len(due) != 1 {
		t.Errorf("not due after its time: %v", due)
	}
}

func replayed(ms int64) tracker.Seen {
	return tracker.Seen{At: time.Duration(ms) * time.Millisecond}
}

// After an hour without markers, records wait for the rest of their time on the tracker's clock.
func TestTakeoverAcrossAStep(t *testing.T) {
	const hour = 3_600_000
	for name, after := range map[string]struct {
		seen tracker.Seen
		due  int64 // ms on the clock of the tracker, which read the start at 2,000
	}{
		"both are read after the fact":       {replayed(2000), 32_001},
		"the step is seen":                   {live(3000), 32_001},
		"the tracker waited, and then wrote": {live(32_001), 32_001},
	} {
		t.Run(name, func(t *testing.T) {
			s := tracker.New(0)
			s.Apply(0, at(0), replayed(2000), start(10, 1, 30*time.Second))
			s.Apply(1, at(hour), after.seen, tick)
			read := after.seen.At.Milliseconds()
			if next, _, ok := s.Next(); !ok || max(next, after.seen.At) != live(after.due).At {
				t.Errorf("next at %v, want %d ms", next, after.due)
			}
			if early := after.due - 1; read < early {
				s.Apply(2, at(hour+early-read), live(early), tick)
				if due := s.Due(10); due != nil {
					t.Errorf("due early: %v", due)
				}
			}
			s.Apply(3, at(hour+after.due-read), live(after.due), tick)
			if due := s.Due(10); len(due) != 1 {
				t.Errorf("not due after its time: %v", due)
			}
		})
	}
}

func TestOutageHoldsUpNothingElse(t *testing.T) {
	s := tracker.New(0)
	s.Apply(0, at(0), replayed(0), start(10, 1, time.Hour))
	s.Apply(1, at(0), replayed(0), start(11, 1, 30*time.Second))
	s.Apply(2, at(7_200_000), live(1000), start(12, 1, time.Second))
	s.Apply(3, at(7_201_001), live(2001), tick)
	if due := s.Due(10); len(due) != 1 || due[0].Offset != 12 {
		t.Errorf("due: %v, want record 12", due)
	}
}

// Records that were due in the gap are due at once.
func TestTakeoverAfterAKill(t *testing.T) {
	s := tracker.New(0)
	s.Apply(0, at(0), replayed(0), start(10, 1, 30*time.Second))
	s.Apply(1, at(90_000), replayed(0), start(11, 1, 30*time.Second))
	if due := s.Due(10); len(due) != 1 || due[0].Offset != 10 {
		t.Errorf("due: %v, want record 10", due)
	}
}

// Invariant 8: with any takeover time and clock steps of an hour, nothing is early.
func TestNeverEarlyAcrossATakeover(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		takeover := rapid.Int64Range(0, 200_000).Draw(t, "takeover")
		lentUntil := map[int64]int64{} // in true time, as on the tracker's clock
		s := tracker.New(0)
		now, off, offset, read := int64(0), int64(0), int64(0), int64(0)
		for range rapid.IntRange(1, 40).Draw(t, "markers") {
			now += rapid.Int64Range(0, 20_000).Draw(t, "after")
			off += rapid.SampledFrom([]int64{0, 0, 0, 3_600_000, -3_600_000}).Draw(t, "step")
			seen := replayed(takeover)
			if now >= takeover {
				read = max(read, now+rapid.Int64Range(0, 500).Draw(t, "lag"))
				seen = live(read)
			}
			m := tick
			if rapid.Bool().Draw(t, "start") {
				ms := rapid.Int64Range(1, 60_000).Draw(t, "ms")
				m = start(offset, 1, time.Duration(ms)*time.Millisecond)
				lentUntil[offset] = now + ms
			}
			s.Apply(offset, at(now+off), seen, m)
			offset++
			for _, d := range s.Due(100) {
				if until := live(lentUntil[d.Offset]).At; seen.At < until {
					t.Fatalf("record %d is due at %v, and lent until %v", d.Offset, seen.At, until)
				}
			}
		}
	})
}

// Invariant 2: the commit does not pass the lowest start without an end.
func TestCommittable(t *testing.T) {
	s := tracker.New(0)
	end := func(offset int64, count int32) marker.Marker {
		return marker.Marker{Type: marker.End, Offset: offset, Count: count}
	}
	for _, c := range []struct {
		m    marker.Marker
		want int64
	}{
		{start(100, 10, time.Second), 0},
		{start(110, 10, time.Second), 0},
		{end(110, 10), 0},
		{end(101, 9), 0},
		{start(120, 5, time.Second), 0},
		{end(100, 1), 4},
		{start(120, 5, time.Second), 6},
		{end(120, 5), 8},
	} {
		s.Apply(s.Position(), at(s.Position()), live(s.Position()), c.m)
		if got := s.Committable(); got != c.want {
			t.Errorf("after %v of %d: %d, want %d", c.m.Type, c.m.Offset, got, c.want)
		}
	}
}

func TestMemoryIsOfWhatIsOpen(t *testing.T) {
	s := tracker.New(0)
	s.Apply(0, at(0), live(0), start(0, 1, time.Hour))
	for i := int64(1); i < 100_000; i++ {
		s.Apply(2*i, at(i), live(i), start(i*10, 10, time.Second))
		s.Apply(2*i+1, at(i), live(i), marker.Marker{Type: marker.End, Offset: i * 10, Count: 10})
	}
	if open := s.Open(); open != 1 || len(s.Ranges()) != 1 || s.Committable() != 0 {
		t.Errorf("%d open, in %v", open, s.Ranges())
	}
}

func BenchmarkBatches(b *testing.B) {
	s := tracker.New(0)
	next, offset := int64(0), int64(0)
	const poll, batch, open = 500, 10, 20
	apply := func(m marker.Marker) {
		s.Apply(offset, at(offset), live(offset), m)
		offset++
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		apply(start(next, poll, 30*time.Second))
		next += poll
		if old := next - open*poll; old >= 0 {
			for i := int64(0); i < poll; i += batch {
				apply(marker.Marker{Type: marker.End, Offset: old + (i*7)%poll, Count: batch})
			}
		}
		n += poll
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/record")
}

func BenchmarkDropped(b *testing.B) {
	s := tracker.New(0)
	next, offset := int64(0), int64(0)
	apply := func(m marker.Marker) {
		s.Apply(offset, at(offset/100), live(offset/100), m)
		offset++
	}
	b.ReportAllocs()
	for b.Loop() {
		apply(start(next, 10, 15*time.Second))
		for i := int64(0); i < 10; i += 2 {
			apply(marker.Marker{Type: marker.End, Offset: next + i, Count: 1})
		}
		next += 10
		for _, d := range s.Due(1000) {
			apply(marker.Marker{Type: marker.End, Offset: d.Offset, Count: 1, Reason: marker.Copied})
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*10), "ns/record")
}

// A start of a record that has ended is ignored, unless the log was cut and has another record there.
func TestStartOfAnEndedRecord(t *testing.T) {
	lock := func(s *tracker.State, epoch int32) {
		s.Apply(s.Position(), at(s.Position()), tracker.Seen{}, marker.Marker{Type: marker.Start, Offset: 7, Count: 1, Duration: time.Second, Epoch: epoch})
	}
	s := tracker.New(0)
	lock(s, 5)
	s.Apply(1, at(1), tracker.Seen{}, marker.Marker{Type: marker.End, Offset: 7, Count: 1, Epoch: 5})
	lock(s, 5)
	if s.Open() != 0 {
		t.Error("it is open again")
	}
	lock(s, 6)
	s.Apply(s.Position(), at(9), tracker.Seen{}, marker.Marker{Type: marker.End, Offset: 7, Count: 1, Epoch: 5})
	if s.Open() != 1 {
		t.Error("another record was ended with it")
	}
}

// The newest of two holders can extend or release a record, which is due after both deadlines.
func TestNewestStartHolds(t *testing.T) {
	at := time.UnixMilli
	two := func() *tracker.State {
		s := tracker.New(0)
		s.Apply(0, at(0), tracker.Seen{}, marker.Marker{Type: marker.Start, Offset: 7, Count: 1, Duration: 30 * time.Second, Holder: 1})
		s.Apply(1, at(0), tracker.Seen{}, marker.Marker{Type: marker.Extend, Offset: 7, Count: 1, Duration: time.Minute, Holder: 1})
		s.Apply(2, at(5000), tracker.Seen{}, marker.Marker{Type: marker.Start, Offset: 7, Count: 1, Duration: 30 * time.Second, Holder: 2})
		return s
	}
	dueAt := func(s *tracker.State, ms int64) bool {
		s.Apply(s.Position(), at(ms), tracker.Seen{}, marker.Marker{Type: marker.Tick, Offset: -1})
		return len(s.Due(10)) == 1
	}
	s := two()
	if dueAt(s, 59_000) || !dueAt(s, 60_001) {
		t.Error("the later deadline does not hold")
	}
	s = two()
	s.Apply(3, at(6000), tracker.Seen{}, marker.Marker{Type: marker.Extend, Offset: 7, Count: 1, Duration: 5 * time.Minute, Holder: 2})
	if dueAt(s, 305_000) || !dueAt(s, 306_001) {
		t.Error("the second holder's extension does not hold")
	}
	s = two()
	s.Apply(3, at(6000), tracker.Seen{}, marker.Marker{Type: marker.Extend, Offset: 7, Count: 1, Duration: 5 * time.Minute, Holder: 1})
	if s.Apply(4, at(7000), tracker.Seen{}, marker.Marker{Type: marker.Release, Offset: 7, Count: 1, Holder: 2}); !dueAt(s, 7001) {
		t.Error("the second holder can't give it back")
	}
}
