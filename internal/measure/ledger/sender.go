package ledger

import "sync"

// Sender is the sending side of one producer's lanes. Its worker admits and
// settles; where readers or a client's callbacks come from other goroutines, all
// hold the lock, once for a batch. No method takes it.
type Sender struct {
	sync.Mutex
	producer int
	lanes    []senderLane
}

// senderLane is one lane as its producer knows it. It fills whole cache lines, so
// that the lanes of two producers never share one.
type senderLane struct {
	next         uint64 // the sequence to assign next
	measuredFrom uint64 // the first sequence of the measured book
	lastOffset   int64  // the highest acked offset; -1 when none is known
	acked        [numBooks]int64
	failed       fate
	unknown      fate
	_            [24]byte
}

// fate is the records of a lane that were not acked: how many, and which, as far
// as the bound allows.
type fate struct {
	records [numBooks]int64
	which   spans
}

// NewSender returns the sending side of a producer, numbered from zero, with a
// lane for each of so many partitions.
func NewSender(producer, partitions int) *Sender {
	return newSender(producer, partitions, maxSpans)
}

func newSender(producer, partitions, limit int) *Sender {
	s := &Sender{producer: producer, lanes: make([]senderLane, partitions)}
	for i := range s.lanes {
		lane := &s.lanes[i]
		lane.measuredFrom, lane.lastOffset = never, -1
		lane.failed.which.limit, lane.unknown.which.limit = limit, limit
	}
	return s
}

// Next assigns the next sequence of the lane to partition, which must be one of
// the sender's. Once a record of a lane was measured, all later ones are.
func (s *Sender) Next(partition int32, measured bool) (seq uint64) {
	lane := &s.lanes[partition]
	seq = lane.next
	lane.next++
	if measured && seq < lane.measuredFrom {
		lane.measuredFrom = seq
	}
	return seq
}

// Acked settles a sequence that the broker acknowledged at an offset, or at -1
// where the client does not know it. Of Acked, Failed and Unknown, one is called
// for each sequence, once.
func (s *Sender) Acked(partition int32, seq uint64, offset int64) {
	lane := &s.lanes[partition]
	lane.acked[lane.book(seq)]++
	lane.lastOffset = max(lane.lastOffset, offset)
}

// Failed settles a sequence that is certainly not in the log.
func (s *Sender) Failed(partition int32, seq uint64) {
	lane := &s.lanes[partition]
	lane.failed.records[lane.book(seq)]++
	lane.failed.which.add(seq)
}

// Unknown settles a sequence that may or may not be in the log.
func (s *Sender) Unknown(partition int32, seq uint64) {
	lane := &s.lanes[partition]
	lane.unknown.records[lane.book(seq)]++
	lane.unknown.which.add(seq)
}

// AckedIn returns how many records of the producer were acked in partition, in
// both books.
func (s *Sender) AckedIn(partition int32) int64 {
	acked := &s.lanes[partition].acked
	return acked[bookWarmup] + acked[bookMeasured]
}

// Open returns which of the sequences of the lane that are to arrive are neither failed nor
// unknown: the lowest, and how many there are. They are in flight, or acked. A gap of which
// the sender has forgotten what failed, because too much did, is not open.
func (s *Sender) Open(partition int32, awaited Awaited) (first uint64, records int64) {
	lane := &s.lanes[partition]
	floor := max(lane.failed.which.floor, lane.unknown.which.floor)
	var missing []span
	for _, gap := range awaited.Gaps {
		missing = append(missing, span{max(gap.From, floor), gap.To}) // which may be none
	}
	missing = append(missing, span{awaited.Next, maxSequence})
	lowest := missing[0].from
	open := subtract(clip(missing, 0, lane.next),
		union(lane.failed.which.from(lowest), lane.unknown.which.from(lowest)))
	if len(open) == 0 {
		return lane.next, 0
	}
	return open[0].from, count(open)
}

func (l *senderLane) book(seq uint64) int { return bookOf(seq >= l.measuredFrom) }

// sequences returns the sequences of a book, the end exclusive.
func (l *senderLane) sequences(book int) (from, to uint64) {
	boundary := min(l.measuredFrom, l.next)
	if book == bookWarmup {
		return 0, boundary
	}
	return boundary, l.next
}

// admitted returns how many sequences of a book were assigned.
func (l *senderLane) admitted(book int) int64 {
	from, to := l.sequences(book)
	return int64(to - from)
}

// inFlight returns how many of them are not settled; below zero when some were
// settled twice.
func (l *senderLane) inFlight(book int) int64 {
	return l.admitted(book) - l.acked[book] - l.failed.records[book] - l.unknown.records[book]
}

// forgotten returns how many of the records are known by count alone.
func (f *fate) forgotten() int64 {
	return f.records[bookWarmup] + f.records[bookMeasured] - count(f.which.live())
}
