package ledger

import "sync"

// Receiver is the receiving side of one partition's lanes. No method takes the lock, except where stated: the caller
// locks once for each chunk of records.
type Receiver struct {
	sync.Mutex
	partition int32
	latest    int
	lanes     []receiverLane
	books     [numBooks]received
	// of a merged receiver; uncertain
	unordered int64
}

// Deliveries and findings are counted separately, so Book.Imbalance can check that they agree.
type received struct {
	delivered        int64
	unique           int64
	duplicates       int64
	reordered        int64
	lateBeyondWindow int64
	corrupt          int64
	foreign          int64
}

// receiverLane fills whole cache lines, so lanes of two partitions share none.
type receiverLane struct {
	next         uint64 // one above the highest delivered sequence
	measuredFrom uint64
	missing      spans
	// closed counts the sequences of closed gaps, by book. straddle is the one closed gap that may belong to both,
	// because the measured records begin in or right after it.
	closed    [numBooks]int64
	straddle  span
	straddles bool
	_         [24]byte
}

// Finding is what the books know of one arrival.
type Finding uint8

const (
	// First: the record arrived for the first time, in order.
	First Finding = iota
	// Late: it arrived for the first time, after a later record of its lane.
	Late
	// Duplicate: it had arrived before.
	Duplicate
	// LateBeyondWindow: it is from a range that the books have forgotten, so it is late or a duplicate.
	LateBeyondWindow
	// Stray: this run has no such lane or sequence; it counts as foreign.
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

// NewReceiver returns the receiving side of a partition, with a lane for each producer.
func NewReceiver(partition int32, producers int) *Receiver {
	return newReceiver(partition, producers, maxSpans)
}

// a million gaps, of 16 bytes each
const manySpans = 1 << 20

// NewUnordered is NewReceiver for records that arrive in any order, as a queue settles them. Its books are exact
// up to a million gaps in a lane.
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

// Deliver enters one intact record of the run, by the producer, sequence and book of its stamp.
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

// Corrupt enters a record with a wrong checksum. It counts in the book of the record before; Close lets it replace
// a missing record.
func (r *Receiver) Corrupt() { r.books[r.latest].corrupt++ }

// Foreign enters a record that is not of this run.
func (r *Receiver) Foreign() { r.books[r.latest].foreign++ }

// Unique returns how many different records arrived intact, in both books.
func (r *Receiver) Unique() int64 {
	return r.books[bookWarmup].unique + r.books[bookMeasured].unique
}

// UniqueIn returns how many different records arrived intact in one book: 0 is the warm-up, 1 the measured records.
func (r *Receiver) UniqueIn(book int) int64 { return r.books[book].unique }

// Arrived returns Unique plus the corrupt records. Acked records beyond it are the partition's backlog.
func (r *Receiver) Arrived() int64 {
	return r.Unique() + r.books[bookWarmup].corrupt + r.books[bookMeasured].corrupt
}

// Awaited is the sequences of a lane still to arrive: those from Next on, and the gaps below it, ascending.
type Awaited struct {
	Next uint64
	Gaps []Gap
}

// Gap is a range of sequences, both ends included.
type Gap struct{ From, To uint64 }

// Expected returns, for each producer, what an ordered lane expects: all above the highest arrived sequence.
func (r *Receiver) Expected() []Awaited {
	all := make([]Awaited, len(r.lanes))
	for i := range r.lanes {
		all[i].Next = r.lanes[i].next
	}
	return all
}

// Missing returns, for each producer, what a lane in any order expects: all sequences that have not arrived, except the
// forgotten ones.
func (r *Receiver) Missing() []Awaited {
	all := r.Expected()
	for i := range r.lanes {
		for _, gap := range r.lanes[i].missing.live() {
			all[i].Gaps = append(all[i].Gaps, Gap{gap.from, gap.to})
		}
	}
	return all
}

// Has reports whether a sequence is known to have arrived.
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

// The record after a closed gap was delivered, so the gap's book is known, except right before the
// first measured record.
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
