package queued

import (
	"math"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// A book is what a queue's consumers together know of one partition: what they were
// handed, what they have acknowledged, and what has become a dead letter. A partition is
// where a record was first: copies count where the original was.
type book struct {
	id int32
	// delivered's lock guards everything here.
	delivered            *ledger.Receiver
	acked, dead, settled *ledger.Receiver // settled is either of the others; acked and settled have locks of their own
	// open are the records that were handed over and are not acknowledged, by producer
	// and sequence.
	open   map[uint64]lending
	unread map[int64]bool             // the offsets of the corrupt
	tally  [2]snapshot.DeliveryCounts // of the records of the warm-up, and of the measured ones
	from   int64                      // where the partition starts
	last   int64                      // when the last record was settled, for the first time
	count  int64                      // handed over, again and again included
	done   int64                      // settled: acknowledged, dead or corrupt, each once
	handed load.GapWatch
	// divided reports whether other processes have members too. Then a record that is new
	// here may have been handed over elsewhere: the queue's attempt says so.
	divided bool
}

// A lending is the latest delivery of a record that is not acknowledged.
type lending struct {
	due      int64 // when it is to be delivered again at the earliest; never: nobody knows
	intended int64 // when the record was due, on this process's axis
	times    int32 // that it was handed over
	holder   *node
}

// never is due where nobody knows when: before everything.
const never = math.MinInt64

func newBook(id int32, from int64, cfg Config) *book {
	b := &book{
		id: id, delivered: ledger.NewReceiver(id, cfg.Producers), acked: ledger.NewUnordered(id, cfg.Producers),
		dead: ledger.NewUnordered(id, cfg.Producers), settled: ledger.NewUnordered(id, cfg.Producers),
		open: make(map[uint64]lending), unread: make(map[int64]bool), from: from,
		last: snapshot.NeverHanded, handed: load.NewGapWatch(cfg.Partitions), divided: cfg.Only != nil,
	}
	if b.divided { // what goes to the other processes is a gap here
		b.delivered = ledger.NewUnordered(id, cfg.Producers)
	}
	return b
}

// lane names a record within its partition.
func lane(s payload.Stamp) uint64 { return uint64(s.Producer)<<48 | s.Sequence&(1<<48-1) }

// tallyOf is the tally of the book that a record is in.
func (b *book) tallyOf(measured bool) *snapshot.DeliveryCounts {
	if measured {
		return &b.tally[1]
	}
	return &b.tally[0]
}

// isNew reports whether a record was not in the set before.
func isNew(f ledger.Finding) bool { return f == ledger.First || f == ledger.Late }

// A found is what the books say of a delivery.
type found struct {
	ours  bool  // an intact record of the run
	first bool  // it was never handed over before
	times int   // that it was handed over, this time included
	due   int64 // when it was to come again; never: nobody knows
}

// deliver notes that a record is handed to a node now, lent until the deadline (never:
// without one), for the queue its attempt of a number. Shift is what to add to the stamp's
// times to have them on this process's axis. The lock is held.
func (b *book) deliver(stamp payload.Stamp, shift int64, to *node, now, deadline int64, attempt int) found {
	measured := stamp.Intended >= 0
	finding := b.delivered.Deliver(int(stamp.Producer), stamp.Sequence, measured)
	if finding == ledger.Stray {
		return found{}
	}
	a := found{ours: true, first: isNew(finding), times: 1, due: never}
	key := lane(stamp)
	switch {
	case !a.first:
		a.times, a.due = b.again(stamp, key, to, attempt)
	case b.divided && attempt > 1:
		a.first, a.times = false, attempt
	}
	b.open[key] = lending{due: deadline, intended: stamp.Intended + shift, times: int32(a.times), holder: to}
	b.count++
	t := b.tallyOf(measured)
	t.Received++
	t.ByAttempt[min(a.times, snapshot.MaxAttempts)-1]++
	if a.times != attempt {
		t.AttemptsDiffer++
	}
	if a.first {
		t.Unique++
		due := snapshot.BeforeAll
		if b.handed.Ends(now) {
			due = stamp.Intended + shift
		}
		b.handed.Acked(now, due)
	}
	return a
}

// again is how often a record was handed over that was before, and when it was to come
// again. What was acknowledged and comes nevertheless was never to; how often it had come
// by then only the queue says.
func (b *book) again(stamp payload.Stamp, key uint64, to *node, attempt int) (times int, due int64) {
	before, open := b.open[key]
	switch {
	case open && to.knowsDue(before):
		return int(before.times) + 1, before.due
	case open:
		return int(before.times) + 1, never
	case b.acked.Has(int(stamp.Producer), stamp.Sequence):
		return max(2, attempt), never
	default:
		return 2, never
	}
}

// corrupt notes a record that can't be read, which is settled by being seen. Handed over
// again it is known by its place.
func (b *book) corrupt(offset, now int64) {
	b.count++
	if b.unread[offset] {
		return
	}
	b.unread[offset] = true
	b.delivered.Corrupt()
	b.settled.Lock()
	b.settled.Corrupt()
	b.settled.Unlock()
	b.done++
	b.last = max(b.last, now)
}

// ack notes that an acknowledgement was taken, and tells whether it was the first.
func (b *book) ack(stamp payload.Stamp, now int64) (first bool) {
	measured := stamp.Intended >= 0
	delete(b.open, lane(stamp))
	t := b.tallyOf(measured)
	b.acked.Lock()
	finding := b.acked.Deliver(int(stamp.Producer), stamp.Sequence, measured)
	b.acked.Unlock()
	if !isNew(finding) {
		t.AckedAgain++
		return false
	}
	t.Acked++
	if b.dead.Has(int(stamp.Producer), stamp.Sequence) {
		t.DeadAcked++
		return true
	}
	b.settle(stamp, now)
	return true
}

// deadLetter notes that a record is among the dead letters.
func (b *book) deadLetter(stamp payload.Stamp, now int64) {
	measured := stamp.Intended >= 0
	if !isNew(b.dead.Deliver(int(stamp.Producer), stamp.Sequence, measured)) {
		return
	}
	delete(b.open, lane(stamp))
	t := b.tallyOf(measured)
	t.Dead++
	if b.acked.Has(int(stamp.Producer), stamp.Sequence) {
		t.DeadAcked++
		return
	}
	b.settle(stamp, now)
}

// settle notes that a record is settled, for the first time.
func (b *book) settle(stamp payload.Stamp, now int64) {
	b.settled.Lock()
	b.settled.Deliver(int(stamp.Producer), stamp.Sequence, stamp.Intended >= 0)
	b.settled.Unlock()
	b.done++
	b.last = max(b.last, now)
}

// dueAt changes when a record is to come again whose latest delivery was to the node.
func (b *book) dueAt(stamp payload.Stamp, of *node, due int64) {
	key := lane(stamp)
	if l, open := b.open[key]; open && l.holder == of {
		l.due = due
		b.open[key] = l
	}
}

// release forgets when the records of a node are due: what ended its locks is not the
// clock.
func (b *book) release(of *node) {
	b.delivered.Lock()
	defer b.delivered.Unlock()
	for key, l := range b.open {
		if l.holder == of {
			l.due = never
			b.open[key] = l
		}
	}
}

// oldest returns when the oldest record was due that is open, of the producers with lower
// numbers than a bound: of others it is not known, and it reports whether any of them is open.
func (b *book) oldest(bound int) (due int64, others bool) {
	b.delivered.Lock()
	defer b.delivered.Unlock()
	due = snapshot.NothingDue
	for key, l := range b.open {
		if int(key>>48) < bound {
			due = min(due, l.intended)
		} else {
			others = true
		}
	}
	return due, others
}

// reached is how far the consumers are: what is settled takes the place of a position.
func (b *book) reached() snapshot.Reached {
	b.delivered.Lock()
	defer b.delivered.Unlock()
	arrived := b.delivered.Arrived()
	return snapshot.Reached{
		Position: b.from + b.done, At: b.last, Delivered: b.count, Settled: true,
		Arrived: arrived, Awaited: b.delivered.Missing(), Corrupt: arrived - b.delivered.Unique(),
	}
}

func (b *book) position() snapshot.Reached {
	b.delivered.Lock()
	defer b.delivered.Unlock()
	return snapshot.Reached{Position: b.from + b.done, At: b.last, Delivered: b.count, Settled: true}
}

// books are the book of each partition, by number.
type books []*book

// Reached is how far the queue's consumers have come in each partition. As a position
// they have how many of its records are settled: acknowledged, dead letters or corrupt.
func (bs books) Reached() []snapshot.Reached {
	all := make([]snapshot.Reached, len(bs))
	for i, b := range bs {
		all[i] = b.reached()
	}
	return all
}

// Positions is Reached without what has arrived and what is expected.
func (bs books) Positions() []snapshot.Reached {
	all := make([]snapshot.Reached, len(bs))
	for i, b := range bs {
		all[i] = b.position()
	}
	return all
}

// Receivers are the receiving side of the books, by partition: what was handed over.
func (bs books) Receivers() []*ledger.Receiver {
	all := make([]*ledger.Receiver, len(bs))
	for i, b := range bs {
		all[i] = b.delivered
	}
	return all
}

// Settled are the receivers of what was acknowledged or has become a dead letter, by
// partition.
func (bs books) Settled() []*ledger.Receiver {
	all := make([]*ledger.Receiver, len(bs))
	for i, b := range bs {
		all[i] = b.settled
	}
	return all
}

// Acked are the receivers of what was acknowledged, by partition.
func (bs books) Acked() []*ledger.Receiver {
	all := make([]*ledger.Receiver, len(bs))
	for i, b := range bs {
		all[i] = b.acked
	}
	return all
}

// Tally are the counts of the records of the warm-up, and of the measured ones.
func (bs books) Tally() (warmup, measured snapshot.DeliveryCounts) {
	for _, b := range bs {
		b.delivered.Lock()
		warmup.Add(b.tally[0])
		measured.Add(b.tally[1])
		b.delivered.Unlock()
	}
	return warmup, measured
}

// DeliveryGaps are the times in each partition in which nothing was handed over that had
// not been before, while records were due.
func (bs books) DeliveryGaps() []snapshot.Gaps {
	all := make([]snapshot.Gaps, len(bs))
	for i, b := range bs {
		b.delivered.Lock()
		all[i] = b.handed.Gaps()
		b.delivered.Unlock()
	}
	return all
}

// DeadLetter takes the value of a record that was found among the dead letters.
func (g *Group) DeadLetter(value []byte) {
	stamp, check := payload.ReadStamp(value)
	if check != payload.Intact || stamp.Run != g.cfg.Run ||
		stamp.Partition < 0 || int(stamp.Partition) >= len(g.books) {
		return // what is nobody's is not in the books, and will be missed if it was somebody's
	}
	b := g.books[stamp.Partition]
	b.delivered.Lock()
	defer b.delivered.Unlock()
	b.deadLetter(stamp, g.axis.Now())
}
