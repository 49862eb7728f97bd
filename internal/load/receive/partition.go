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

// partition is what a group keeps about one partition, whichever member owns it.
type partition struct {
	id      int32
	stamped bool // its records are
	offsets load.Offsets
	// receiver's lock guards the fields down to the blank line too.
	receiver *ledger.Receiver
	next     int64         // offset after the highest one handed over, and what is no record behind it
	at       int64         // when that was
	count    int64         // handed over, duplicates included
	fresh    int64         // of those, the ones that were above all before them
	handed   load.GapWatch // the times in which nothing new was handed over
	// unfinished are the offsets of records whose work was lost with a killed member.
	unfinished map[int64]struct{}
	// elsewhere is what members in other processes were handed; nil: nothing that is
	// known here.
	elsewhere *ledger.Receiver

	worker *worker // parallel by partition: who works on it
}

// hand notes that records are handed over, the lowest offset first, and returns how many
// of them have offsets above all before them.
func (p *partition) hand(records []driver.Received, now int64) (fresh int64) {
	n := len(records)
	p.count += int64(n)
	next := records[n-1].Offset + 1
	if next <= p.next {
		return 0
	}
	fresh = int64(n)
	if records[0].Offset < p.next { // some came before, to a member that could not commit them
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

// dueOf is when a record was due; before everything where it does not say, so that a
// gap before it counts from the record before.
func (p *partition) dueOf(r driver.Received) int64 {
	if stamp, check := payload.ReadStamp(r.Value); check == payload.Intact {
		shift, _ := p.offsets.Of(stamp.Producer)
		return stamp.Intended + shift
	}
	return snapshot.BeforeAll
}

// again tells whether a record that came here for the first time came elsewhere
// before.
func (p *partition) again(producer int, seq uint64) bool {
	return p.elsewhere != nil && p.elsewhere.Has(producer, seq)
}

// passed notes that everything below an offset was handed over or is no record.
func (p *partition) passed(next int64) {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	p.next = max(p.next, next)
}

// position is how far it has come, without what has arrived.
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

// partitions is what a group knows of each partition, by number.
type partitions []*partition

// Reached is how far the group has come in each partition.
func (ps partitions) Reached() []snapshot.Reached {
	reached := make([]snapshot.Reached, len(ps))
	for i, p := range ps {
		reached[i] = p.reached()
	}
	return reached
}

// Positions is Reached without what has arrived and what is expected: it costs next to
// nothing, so that it may be asked many times a second.
func (ps partitions) Positions() []snapshot.Reached {
	at := make([]snapshot.Reached, len(ps))
	for i, p := range ps {
		at[i] = p.position()
	}
	return at
}

// Receivers are the receiving side of the books, by partition.
func (ps partitions) Receivers() []*ledger.Receiver {
	receivers := make([]*ledger.Receiver, len(ps))
	for i, p := range ps {
		receivers[i] = p.receiver
	}
	return receivers
}

// DeliveryGaps are the times in each partition in which nothing was handed over that
// had not been before, while records were due; without stamps, in which nothing was. A
// consumer does not know what it never got: in the gap that has not ended nothing
// waits, unless Waiting says that something did.
func (ps partitions) DeliveryGaps() []snapshot.Gaps {
	all := make([]snapshot.Gaps, len(ps))
	for i, p := range ps {
		p.receiver.Lock()
		all[i] = p.handed.Gaps()
		p.receiver.Unlock()
	}
	return all
}
