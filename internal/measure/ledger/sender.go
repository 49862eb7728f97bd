package ledger

import "sync"

// Sender is the sending side of one producer's lanes. The producer's worker admits and settles
// records. No method takes the lock, except where stated; if other goroutines read or settle too,
// all must hold it.
type Sender struct {
	sync.Mutex
	producer int
	lanes    []senderLane
}

// senderLane fills whole cache lines, so lanes of two producers share none.
type senderLane struct {
	next         uint64
	measuredFrom uint64
	lastOffset   int64 // highest acked; -1 if unknown
	acked        [numBooks]int64
	failed       fate
	unknown      fate
	_            [24]byte
}

// fate is the failed or unknown records: how many, and which, up to the bound.
type fate struct {
	records [numBooks]int64
	which   spans
}

// NewSender returns the sending side of a producer, numbered from zero, with a lane for each partition.
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

// Next assigns the next sequence of the lane to one of the sender's partitions. After a lane's first measured
// record, all are measured.
func (s *Sender) Next(partition int32, measured bool) (seq uint64) {
	lane := &s.lanes[partition]
	seq = lane.next
	lane.next++
	if measured && seq < lane.measuredFrom {
		lane.measuredFrom = seq
	}
	return seq
}

// Acked settles a sequence that the broker acked at an offset; -1 if unknown. Call exactly one of Acked, Failed and
// Unknown once for each sequence.
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

// Unknown settles a sequence that may be in the log.
func (s *Sender) Unknown(partition int32, seq uint64) {
	lane := &s.lanes[partition]
	lane.unknown.records[lane.book(seq)]++
	lane.unknown.which.add(seq)
}

// AckedIn returns how many records of a partition were acked, in both books.
func (s *Sender) AckedIn(partition int32) int64 {
	acked := &s.lanes[partition].acked
	return acked[bookWarmup] + acked[bookMeasured]
}

// Open looks at the awaited sequences that are neither failed nor unknown. It returns the lowest of
// them and their number. Gaps whose failed records were forgotten are not open.
func (s *Sender) Open(partition int32, awaited Awaited) (first uint64, records int64) {
	lane := &s.lanes[partition]
	floor := max(lane.failed.which.floor, lane.unknown.which.floor)
	var missing []span
	for _, gap := range awaited.Gaps {
		missing = append(missing, span{max(gap.From, floor), gap.To})
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

func (l *senderLane) sequences(book int) (from, to uint64) {
	boundary := min(l.measuredFrom, l.next)
	if book == bookWarmup {
		return 0, boundary
	}
	return boundary, l.next
}

func (l *senderLane) admitted(book int) int64 {
	from, to := l.sequences(book)
	return int64(to - from)
}

// inFlight is negative if a sequence was settled twice.
func (l *senderLane) inFlight(book int) int64 {
	return l.admitted(book) - l.acked[book] - l.failed.records[book] - l.unknown.records[book]
}

func (f *fate) forgotten() int64 {
	return f.records[bookWarmup] + f.records[bookMeasured] - count(f.which.live())
}
