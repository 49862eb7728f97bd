package receive

import (
	"cmp"
	"slices"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

type partition struct {
	id      int32
	stamped bool
	offsets load.Offsets
	// The receiver's lock also guards the fields up to the blank line.
	receiver   *ledger.Receiver
	next       int64 // offset after the highest delivered record and the control records behind it
	at         int64
	count      int64
	fresh      int64 // part of count: records above all earlier offsets
	handed     load.GapWatch
	unfinished map[int64]struct{}
	// elsewhere has the deliveries of other processes; nil if unknown.
	elsewhere *ledger.Receiver

	worker *worker
}

func (p *partition) hand(records []driver.Received, now int64) (fresh int64) {
	n := len(records)
	p.count += int64(n)
	next := records[n-1].Offset + 1
	if next <= p.next {
		return 0
	}
	fresh = int64(n)
	if records[0].Offset < p.next { // redelivered: a member could not commit them
		again, _ := slices.BinarySearchFunc(records, p.next, func(r driver.Received, at int64) int {
			return cmp.Compare(r.Offset, at)
		})
		fresh -= int64(again)
	}
	p.fresh += fresh
	p.next, p.at = next, now
	due := snapshot.BeforeAll
	if p.handed.Ends(now) {
		due = p.dueOf(records[0])
	}
	p.handed.Acked(now, due)
	return fresh
}

// dueOf returns BeforeAll without a stamp, so that a gap counts from the previous delivery.
func (p *partition) dueOf(r driver.Received) int64 {
	if stamp, check := payload.ReadRecord(r.Stamp, r.Value); check == payload.Intact {
		shift, _ := p.offsets.Of(stamp.Producer)
		return stamp.Intended + shift
	}
	return snapshot.BeforeAll
}

func (p *partition) again(producer int, seq uint64) bool {
	return p.elsewhere != nil && p.elsewhere.Has(producer, seq)
}

func (p *partition) passed(next int64) {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	p.next = max(p.next, next)
}

func (p *partition) position() snapshot.Reached {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	return snapshot.Reached{Position: p.next, At: p.at, Delivered: p.count}
}

func (p *partition) reached() snapshot.Reached {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	r := snapshot.Reached{
		Position: p.next, At: p.at, Delivered: p.count, Arrived: p.fresh, Awaited: p.receiver.Expected(),
	}
	if p.stamped {
		r.Arrived = p.receiver.Arrived()
	}
	return r
}

type partitions []*partition

// Reached returns the group's progress in each partition.
func (ps partitions) Reached() []snapshot.Reached {
	reached := make([]snapshot.Reached, len(ps))
	for i, p := range ps {
		reached[i] = p.reached()
	}
	return reached
}

// Positions is Reached without arrived and expected records. It is cheap enough to call many times a second.
func (ps partitions) Positions() []snapshot.Reached {
	at := make([]snapshot.Reached, len(ps))
	for i, p := range ps {
		at[i] = p.position()
	}
	return at
}

// Receivers returns the receiving side of the books, by partition.
func (ps partitions) Receivers() []*ledger.Receiver {
	receivers := make([]*ledger.Receiver, len(ps))
	for i, p := range ps {
		receivers[i] = p.receiver
	}
	return receivers
}

// DeliveryGaps returns, by partition, the periods without a new delivery while records were due;
// without stamps, all periods without a new delivery. The last gap has not ended. The result does
// not know of records that wait in it; if there are any, the caller adds them with
// snapshot.Gaps.Waiting.
func (ps partitions) DeliveryGaps() []snapshot.Gaps {
	all := make([]snapshot.Gaps, len(ps))
	for i, p := range ps {
		p.receiver.Lock()
		all[i] = p.handed.Gaps()
		p.receiver.Unlock()
	}
	return all
}
