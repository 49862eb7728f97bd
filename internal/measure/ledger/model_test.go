package ledger

import (
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type model struct {
	senders   []*Sender
	receivers []*Receiver
	lanes     map[lane][]*modelRecord
	sides     []modelSide
	position  []int64
	exact     bool // no bound was hit
}

type lane struct {
	producer  int
	partition int32
}

type modelRecord struct {
	measured bool
	fate     fateName
	offset   int64
	arrived  bool
}

type fateName string

const (
	inFlight fateName = "in flight"
	acked    fateName = "acked"
	failed   fateName = "failed"
	unknown  fateName = "unknown"
)

type modelSide struct {
	latest   int
	received [numBooks]received
}

func newModel(t *rapid.T) *model {
	producers := rapid.IntRange(1, 3).Draw(t, "producers")
	partitions := rapid.IntRange(1, 2).Draw(t, "partitions")
	limit := rapid.SampledFrom([]int{1, 2, 5, maxSpans}).Draw(t, "limit")
	m := &model{
		lanes:    map[lane][]*modelRecord{},
		sides:    make([]modelSide, partitions),
		position: make([]int64, partitions),
		exact:    true,
	}
	for p := range producers {
		m.senders = append(m.senders, newSender(p, partitions, limit))
	}
	for p := range partitions {
		m.receivers = append(m.receivers, newReceiver(int32(p), producers, limit))
	}
	return m
}

func (m *model) drawLane(t *rapid.T) lane {
	return lane{
		rapid.IntRange(0, len(m.senders)-1).Draw(t, "producer"),
		int32(rapid.IntRange(0, len(m.receivers)-1).Draw(t, "partition")),
	}
}

// From the first measured record of a lane, all are measured.
func (m *model) admit(t *rapid.T) {
	l := m.drawLane(t)
	measured := rapid.Bool().Draw(t, "measured")
	for range rapid.IntRange(1, 20).Draw(t, "records") {
		records := m.lanes[l]
		if len(records) > 0 && records[len(records)-1].measured {
			measured = true
		}
		if seq := m.senders[l.producer].Next(l.partition, measured); seq != uint64(len(records)) {
			t.Fatalf("lane %v: sequence %d, want %d", l, seq, len(records))
		}
		m.lanes[l] = append(records, &modelRecord{measured: measured, fate: inFlight, offset: -1})
	}
}

func (m *model) settle(t *rapid.T) {
	l := m.drawLane(t)
	fate := rapid.SampledFrom([]fateName{acked, acked, acked, failed, unknown}).Draw(t, "fate")
	for seq, r := range m.lanes[l] {
		if r.fate == inFlight && rapid.Bool().Draw(t, "now") {
			m.settleAs(l, uint64(seq), fate, rapid.Int64Range(-1, 50).Draw(t, "offset"))
		}
	}
}

func (m *model) settleAs(l lane, seq uint64, fate fateName, offset int64) {
	r, s := m.lanes[l][seq], m.senders[l.producer]
	r.fate = fate
	switch fate {
	case acked:
		r.offset = offset
		s.Acked(l.partition, seq, offset)
	case failed:
		s.Failed(l.partition, seq)
	default:
		s.Unknown(l.partition, seq)
	}
}

func (m *model) deliver(t *rapid.T) {
	l := m.drawLane(t)
	if len(m.lanes[l]) == 0 {
		return
	}
	for range rapid.IntRange(1, 20).Draw(t, "arrivals") {
		seq := rapid.IntRange(0, len(m.lanes[l])-1).Draw(t, "seq")
		m.deliverOne(t, l, seq)
	}
}

func (m *model) sweep(t *rapid.T) {
	l := m.drawLane(t)
	for seq := range m.lanes[l] {
		if rapid.IntRange(0, 2).Draw(t, "drop") > 0 {
			m.deliverOne(t, l, seq)
		}
	}
}

func (m *model) deliverOne(t *rapid.T, l lane, seq int) {
	record := m.lanes[l][seq]
	want := First
	switch {
	case record.arrived:
		want = Duplicate
	case slices.ContainsFunc(m.lanes[l][seq:], func(r *modelRecord) bool { return r.arrived }):
		want = Late
	}
	got := m.receivers[l.partition].Deliver(l.producer, uint64(seq), record.measured)
	side := &m.sides[l.partition]
	side.latest = bookOf(record.measured)
	counters := &side.received[side.latest]
	counters.delivered++
	switch got {
	case LateBeyondWindow:
		if m.receivers[l.partition].lanes[l.producer].missing.limit == maxSpans || want == First {
			t.Fatalf("lane %v: sequence %d is %v, want %v", l, seq, got, want)
		}
		m.exact = false
		counters.lateBeyondWindow++
		return
	case want:
	default:
		t.Fatalf("lane %v: sequence %d is %v, want %v", l, seq, got, want)
	}
	record.arrived = true
	switch got {
	case First:
		counters.unique++
	case Late:
		counters.unique++
		counters.reordered++
	case Duplicate:
		counters.duplicates++
	}
}

func (m *model) corrupt(t *rapid.T) {
	p := rapid.IntRange(0, len(m.receivers)-1).Draw(t, "partition")
	m.receivers[p].Corrupt()
	m.sides[p].received[m.sides[p].latest].corrupt++
}

func (m *model) stranger(t *rapid.T) {
	p := rapid.IntRange(0, len(m.receivers)-1).Draw(t, "partition")
	if rapid.Bool().Draw(t, "stray") {
		if got := m.receivers[p].Deliver(len(m.senders), 0, true); got != Stray {
			t.Fatalf("a producer that there is not: %v, want %v", got, Stray)
		}
	} else {
		m.receivers[p].Foreign()
	}
	m.sides[p].received[m.sides[p].latest].foreign++
}

func (m *model) move(t *rapid.T) {
	p := rapid.IntRange(0, len(m.receivers)-1).Draw(t, "partition")
	m.position[p] = rapid.Int64Range(-1, 60).Draw(t, "position")
}

// If a bound was hit or records are in flight, lost and pending are estimates: they need not equal
// the model's, but the books must balance.
func (m *model) check(t *rapid.T) {
	books := Close(m.senders, m.receivers, func(p int32) int64 { return m.position[p] })
	want := m.close()
	for i, got := range []Book{books.Warmup, books.Measured} {
		if faults := got.Imbalance(); faults != nil {
			t.Fatalf("book %d: %q", i, faults)
		}
		if !books.Approximate {
			compare(t, i, got, want[i])
		}
		if got.Acked != want[i].Acked || got.Admitted != want[i].Admitted || got.Delivered != want[i].Delivered {
			t.Fatalf("book %d: got %+v, want %+v", i, got, want[i])
		}
	}
	if books.Approximate != (len(books.Reasons) > 0) {
		t.Fatalf("approximate %v, for the reasons %q", books.Approximate, books.Reasons)
	}
	if !m.exact && !books.Approximate {
		t.Fatal("a bound was hit, and the books call themselves exact")
	}
	m.checkTotals(t)
}

func compare(t *rapid.T, book int, got, want Book) {
	full := len(got.LostRanges) == maxLostRanges
	got.LostRanges = expand(got.LostRanges)
	if full {
		want.LostRanges = want.LostRanges[:len(got.LostRanges)]
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("book %d:\n got %+v\nwant %+v", book, got, want)
	}
}

func expand(ranges []LostRange) []LostRange {
	var single []LostRange
	for _, r := range ranges {
		for seq := r.From; seq <= r.To; seq++ {
			single = append(single, LostRange{r.Producer, r.Partition, seq, seq})
		}
	}
	return single
}

func (m *model) close() [numBooks]Book {
	var books [numBooks]Book
	for p := range m.sides {
		lost, pending := m.missing(int32(p), &books)
		for book := range books {
			books[book].addReceived(&m.sides[p].received[book])
		}
		m.placeCorrupt(p, &books, &lost, &pending)
		for book := range books {
			books[book].Lost += int64(len(lost[book]))
			books[book].Pending += pending[book]
			books[book].LostRanges = append(books[book].LostRanges, lost[book]...)
		}
	}
	return books
}

func (m *model) missing(p int32, books *[numBooks]Book) (lost [numBooks][]LostRange, pending [numBooks]int64) {
	for producer := range m.senders {
		records := m.lanes[lane{producer, p}]
		highest := int64(-1)
		for _, r := range records {
			highest = max(highest, r.offset)
		}
		for seq, r := range records {
			book := bookOf(r.measured)
			b := &books[book]
			b.Admitted++
			switch r.fate {
			case inFlight:
				b.InFlight++
			case acked:
				b.Acked++
			case failed:
				b.Failed++
			case unknown:
				b.Unknown++
			}
			later := slices.ContainsFunc(records[seq:], func(r *modelRecord) bool { return r.arrived })
			switch {
			case r.arrived && r.fate != acked:
				b.UnackedDelivered++
			case r.arrived || r.fate != acked:
			case later || highest >= 0 && highest < m.position[p]:
				lost[book] = append(lost[book], LostRange{producer, p, uint64(seq), uint64(seq)})
			default:
				pending[book]++
			}
		}
	}
	return lost, pending
}

func (m *model) placeCorrupt(p int, books *[numBooks]Book, lost *[numBooks][]LostRange, pending *[numBooks]int64) {
	place := func(book int) bool {
		switch {
		case len(lost[book]) > 0:
			lost[book] = lost[book][1:]
		case pending[book] > 0:
			pending[book]--
		default:
			return false
		}
		return true
	}
	var homeless [numBooks]int64
	for book := range books {
		for range m.sides[p].received[book].corrupt {
			if !place(book) {
				homeless[book]++
			}
		}
	}
	for book := range books {
		other := 1 - book
		for range homeless[book] {
			if place(other) {
				books[book].Corrupt--
				books[other].Corrupt++
			} else {
				books[book].CorruptUnplaced++
			}
		}
	}
}

func (m *model) checkTotals(t *rapid.T) {
	for p, r := range m.receivers {
		counters := &m.sides[p].received
		unique := counters[bookWarmup].unique + counters[bookMeasured].unique
		corrupt := counters[bookWarmup].corrupt + counters[bookMeasured].corrupt
		if r.Unique() != unique || r.Arrived() != unique+corrupt {
			t.Fatalf("partition %d: unique %d, arrived %d; want %d, %d", p, r.Unique(), r.Arrived(), unique, unique+corrupt)
		}
	}
	for l, records := range m.lanes {
		var want int64
		for _, r := range records {
			if r.fate == acked {
				want++
			}
		}
		if got := m.senders[l.producer].AckedIn(l.partition); got != want {
			t.Fatalf("lane %v: %d acked, want %d", l, got, want)
		}
	}
}

func (m *model) finish(t *rapid.T) {
	for l, records := range m.lanes {
		for seq, r := range records {
			if r.fate == inFlight {
				m.settleAs(l, uint64(seq), acked, -1)
			}
		}
	}
	m.check(t)
}

func TestBooksAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(t)
		t.Repeat(map[string]func(*rapid.T){
			"admit":    m.admit,
			"settle":   m.settle,
			"deliver":  m.deliver,
			"sweep":    m.sweep,
			"corrupt":  m.corrupt,
			"stranger": m.stranger,
			"move":     m.move,
			"":         m.check,
		})
		m.finish(t)
	})
}
