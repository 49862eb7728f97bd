package queued

import (
	"math"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// A book holds the deliveries of one partition's records. If the queue delivers a copy of a record,
// the copy counts in the book of the original record's partition.
type book struct {
	id int32
	// The lock of delivered guards everything here.
	delivered            *ledger.Receiver
	acked, dead, settled *ledger.Receiver // settled is the union; acked and settled have their own locks
	open                 map[uint64]lending
	unread               map[int64]bool
	tally                [2]snapshot.DeliveryCounts
	from                 int64
	last                 int64 // when a record was last settled for the first time
	count                int64
	done                 int64
	handed               load.GapWatch
	// divided reports whether other processes have members too, which may have delivered a record before.
	divided bool
}

type lending struct {
	due      int64 // earliest time of a redelivery, or never
	intended int64
	times    int32
	holder   *node
}

// never stands for an unknown due time. It is before all other times.
const never = math.MinInt64

func newBook(id int32, from int64, cfg Config) *book {
	b := &book{
		id: id, delivered: ledger.NewReceiver(id, cfg.Producers), acked: ledger.NewUnordered(id, cfg.Producers),
		dead: ledger.NewUnordered(id, cfg.Producers), settled: ledger.NewUnordered(id, cfg.Producers),
		open: make(map[uint64]lending), unread: make(map[int64]bool), from: from,
		last: snapshot.NeverHanded, handed: load.NewGapWatch(cfg.Partitions), divided: cfg.divided(),
	}
	if b.divided { // deliveries to other processes are gaps here
		b.delivered = ledger.NewUnordered(id, cfg.Producers)
	}
	return b
}

func lane(s payload.Stamp) uint64 { return uint64(s.Producer)<<48 | s.Sequence&(1<<48-1) }

func (b *book) tallyOf(measured bool) *snapshot.DeliveryCounts {
	if measured {
		return &b.tally[1]
	}
	return &b.tally[0]
}

func isNew(f ledger.Finding) bool { return f == ledger.First || f == ledger.Late }

type found struct {
	ours  bool
	first bool
	times int
	due   int64
}

// deadline is the end of the record's lock (never: none). attempt is the queue's own count of the
// record's deliveries. shift converts the stamp's times to this process's axis. The caller holds
// the lock of delivered.
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

// again returns the number of this delivery of the record, and when it was due, or never if that is
// unknown. A redelivery of an acknowledged record has no due time.
func (b *book) again(stamp payload.Stamp, key uint64, to *node, attempt int) (times int, due int64) {
	before, open := b.open[key]
	times, due = 2, never
	switch {
	case open && to.knowsDue(before):
		times, due = int(before.times)+1, before.due
	case open:
		times = int(before.times) + 1
	case b.acked.Has(int(stamp.Producer), stamp.Sequence):
		times = max(2, attempt)
	}
	if b.divided && times != attempt { // other processes had it in between
		return max(times, attempt), never
	}
	return times, due
}

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

func (b *book) settle(stamp payload.Stamp, now int64) {
	b.settled.Lock()
	b.settled.Deliver(int(stamp.Producer), stamp.Sequence, stamp.Intended >= 0)
	b.settled.Unlock()
	b.done++
	b.last = max(b.last, now)
}

func (b *book) dueAt(stamp payload.Stamp, of *node, due int64) {
	key := lane(stamp)
	if l, open := b.open[key]; open && l.holder == of {
		l.due = due
		b.open[key] = l
	}
}

// release forgets when the records that a node holds are due again. Call it when their locks end
// before the deadlines, because the node closes its queue.
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

// oldest looks at the open records of the producers below bound. others reports whether records of
// other producers are open.
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

type books []*book

// Reached returns the consumers' progress in each partition. Position is the first offset plus the number of
// settled records.
func (bs books) Reached() []snapshot.Reached {
	all := make([]snapshot.Reached, len(bs))
	for i, b := range bs {
		all[i] = b.reached()
	}
	return all
}

// Positions returns the same as Reached, without the arrived and expected records.
func (bs books) Positions() []snapshot.Reached {
	all := make([]snapshot.Reached, len(bs))
	for i, b := range bs {
		all[i] = b.position()
	}
	return all
}

// Receivers returns the books of deliveries, by partition.
func (bs books) Receivers() []*ledger.Receiver {
	all := make([]*ledger.Receiver, len(bs))
	for i, b := range bs {
		all[i] = b.delivered
	}
	return all
}

// Settled returns the books of acknowledged records and dead letters, by partition.
func (bs books) Settled() []*ledger.Receiver {
	all := make([]*ledger.Receiver, len(bs))
	for i, b := range bs {
		all[i] = b.settled
	}
	return all
}

// Acked returns the books of acknowledged records, by partition.
func (bs books) Acked() []*ledger.Receiver {
	all := make([]*ledger.Receiver, len(bs))
	for i, b := range bs {
		all[i] = b.acked
	}
	return all
}

// Tally returns the counts of warm-up and measured records.
func (bs books) Tally() (warmup, measured snapshot.DeliveryCounts) {
	for _, b := range bs {
		b.delivered.Lock()
		warmup.Add(b.tally[0])
		measured.Add(b.tally[1])
		b.delivered.Unlock()
	}
	return warmup, measured
}

// DeliveryGaps returns, by partition, the periods without a first delivery while records were due.
func (bs books) DeliveryGaps() []snapshot.Gaps {
	all := make([]snapshot.Gaps, len(bs))
	for i, b := range bs {
		b.delivered.Lock()
		all[i] = b.handed.Gaps()
		b.delivered.Unlock()
	}
	return all
}

// DeadLetter enters a record found among the dead letters. header is nil if the stamp is in the value.
func (g *Group) DeadLetter(header *payload.Header, value []byte) {
	stamp, check := payload.ReadRecord(header, value)
	if check != payload.Intact || stamp.Run != g.cfg.Run ||
		stamp.Partition < 0 || int(stamp.Partition) >= len(g.books) {
		return
	}
	b := g.books[stamp.Partition]
	b.delivered.Lock()
	defer b.delivered.Unlock()
	b.deadLetter(stamp, g.axis.Now())
}
