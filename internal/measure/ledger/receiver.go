package ledger

import "sync"

// Receiver is the receiving side of one partition's lanes. Whichever consumer
// owns the partition takes the lock once a chunk, checks in every record of it,
// and lets go; readers take it too. No method takes the lock.
type Receiver struct {
	sync.Mutex
	partition int32
	latest    int // the book of the record delivered last
	lanes     []receiverLane
	books     [numBooks]received
	// unordered counts the reordered of a merged receiver, of which it is not sure.
	unordered int64
}

// received counts what arrived of one book. The counters of findings and the
// one of deliveries are kept apart on purpose: their sum is a check.
type received struct {
	delivered        int64
	unique           int64
	duplicates       int64
	reordered        int64
	lateBeyondWindow int64
	corrupt          int64
	foreign          int64
}

// receiverLane is one lane as its consumers know it. It fills whole cache lines,
// so that the lanes of two partitions never share one.
type receiverLane struct {
	next         uint64 // one above the highest sequence delivered
	measuredFrom uint64 // the lowest measured sequence delivered
	missing      spans  // the gaps below next
	// Of the gaps that were closed: how many sequences, by book, and the one gap
	// that may belong to both because the measured records begin in or behind it.
	closed    [numBooks]int64
	straddle  span
	straddles bool
	_         [24]byte
}

// Finding is what the books say of one arrival.
type Finding uint8

const (
	// First: the record arrived for the first time, in order.
	First Finding = iota
	// Late: it arrived for the first time, after a later one of its lane; it was
	// reordered.
	Late
	// Duplicate: it had arrived before.
	Duplicate
	// LateBeyondWindow: it is from a stretch that the lane's bound made the books
	// forget, so it is late or a duplicate. It is delivered, and not unique.
	LateBeyondWindow
	// Stray: no such lane or sequence can be of this run. It counts as foreign.
	Stray
)

// String returns the word that reports use.
func (f Finding) String() string {
	switch f {
	case First:
		return "first"
	case Late:
		return "late"
	case Duplicate:
		return "duplicate"
	case LateBeyondWindow:
		return "late beyond window"
	default:
		return "stray"
	}
}

// NewReceiver returns the receiving side of a partition, with a lane for each of
// so many producers.
func NewReceiver(partition int32, producers int) *Receiver {
	return newReceiver(partition, producers, maxSpans)
}

// manySpans bounds what a receiver keeps in mind of a lane whose records come in any
// order: a million gaps, of 16 bytes each.
const manySpans = 1 << 20

// NewUnordered returns a receiver like NewReceiver's for records that do not come in the
// order of their lanes, of which many are outstanding at a time: those that a queue has
// settled. It keeps so many gaps apart that its books are exact until a lane has a
// million of them at once.
func NewUnordered(partition int32, producers int) *Receiver {
	return newReceiver(partition, producers, manySpans)
}

func newReceiver(partition int32, producers, limit int) *Receiver {
	r := &Receiver{partition: partition, lanes: make([]receiverLane, producers)}
	for i := range r.lanes {
		r.lanes[i].measuredFrom = never
		r.lanes[i].missing.limit = limit
	}
	return r
}

// Deliver checks in one intact record of the run: the producer, the sequence and
// the book are those of its stamp.
func (r *Receiver) Deliver(producer int, seq uint64, measured bool) Finding {
	if uint(producer) >= uint(len(r.lanes)) || seq >= maxSequence {
		r.Foreign()
		return Stray
	}
	lane := &r.lanes[producer]
	if measured && seq < lane.measuredFrom {
		lane.measuredFrom = seq
	}
	r.latest = bookOf(measured)
	book := &r.books[r.latest]
	book.delivered++
	if seq == lane.next {
		lane.next++
		book.unique++
		return First
	}
	return lane.outOfOrder(book, seq)
}

// Corrupt checks in a record whose checksum is wrong. Nothing in it can be
// trusted, so it counts in the book of the record delivered before it, and
// Close finds it a place among the missing.
func (r *Receiver) Corrupt() { r.books[r.latest].corrupt++ }

// Foreign checks in a record that is not of this run.
func (r *Receiver) Foreign() { r.books[r.latest].foreign++ }

// Unique returns how many different records arrived intact, in both books.
func (r *Receiver) Unique() int64 {
	return r.books[bookWarmup].unique + r.books[bookMeasured].unique
}

// UniqueIn returns how many different records arrived intact in one book: 0 is that of the
// warm-up, 1 that of the measured records.
func (r *Receiver) UniqueIn(book int) int64 { return r.books[book].unique }

// Arrived returns Unique and the corrupt: what need not be waited for any more.
// The acked that did not arrive are the partition's backlog.
func (r *Receiver) Arrived() int64 {
	return r.Unique() + r.books[bookWarmup].corrupt + r.books[bookMeasured].corrupt
}

// Awaited are the sequences of a lane that are to arrive: Next and all above it, and those
// of the gaps below, which are ascending.
type Awaited struct {
	Next uint64
	Gaps []Gap
}

// Gap is a run of sequences, both ends included.
type Gap struct{ From, To uint64 }

// Expected returns, for each producer, what is to arrive of a lane in order: all above the
// highest sequence that arrived.
func (r *Receiver) Expected() []Awaited {
	all := make([]Awaited, len(r.lanes))
	for i := range r.lanes {
		all[i].Next = r.lanes[i].next
	}
	return all
}

// Missing returns, for each producer, what is to arrive of a lane in any order: all that
// has not. What the books no longer know is not missing.
func (r *Receiver) Missing() []Awaited {
	all := r.Expected()
	for i := range r.lanes {
		for _, gap := range r.lanes[i].missing.live() {
			all[i].Gaps = append(all[i].Gaps, Gap{gap.from, gap.to})
		}
	}
	return all
}

// Has tells whether a sequence is known to have arrived.
func (r *Receiver) Has(producer int, seq uint64) bool {
	if uint(producer) >= uint(len(r.lanes)) {
		return false
	}
	l := &r.lanes[producer]
	if seq >= l.next || seq < l.missing.floor {
		return false
	}
	i := l.missing.find(seq)
	return i == len(l.missing.list) || l.missing.list[i].from > seq
}

// outOfOrder finds what a sequence is that is not the next.
func (l *receiverLane) outOfOrder(book *received, seq uint64) Finding {
	switch {
	case seq > l.next:
		l.closeGap(l.missing.append(span{l.next, seq - 1}))
		l.next = seq + 1
		book.unique++
		return First
	case seq < l.missing.floor:
		book.lateBeyondWindow++
		return LateBeyondWindow
	}
	closed, full, missing := l.missing.remove(seq)
	if !missing {
		book.duplicates++
		return Duplicate
	}
	l.closeGap(closed, full)
	book.unique++
	book.reordered++
	return Late
}

// closeGap counts a gap that the books are about to forget as missing for good.
// The record behind it was delivered, so its book is known, except for the gap
// right before the first measured record.
func (l *receiverLane) closeGap(gap span, full bool) {
	switch {
	case !full:
	case gap.from >= l.measuredFrom:
		l.closed[bookMeasured] += int64(gap.len())
	case gap.to+1 < l.measuredFrom:
		l.closed[bookWarmup] += int64(gap.len())
	default:
		l.straddle, l.straddles = gap, true
	}
}
