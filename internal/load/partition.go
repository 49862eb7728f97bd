package load

import (
	"cmp"
	"slices"

	"kafka-bench/internal/driver"
	"kafka-bench/internal/ledger"
)

// partition is what a group keeps about one partition, whichever member owns it.
type partition struct {
	id int32
	// receiver's lock guards the fields down to the blank line too.
	receiver *ledger.Receiver
	next     int64 // offset after the highest one handed over, and what is no record behind it
	at       int64 // when that was
	count    int64 // handed over, duplicates included
	fresh    int64 // of those, the ones that were above all before them
	// unfinished are the offsets of records whose work was lost with a killed member.
	unfinished map[int64]struct{}

	worker *worker // parallel by partition: who works on it
}

// Reached is how far a group has come in one partition.
type Reached struct {
	// Position is the offset after the highest record handed over and the control
	// records behind it, and At when that record was, for the first time; before any
	// it is where the partition starts, and -1<<63. It never goes back, though
	// records may be delivered again.
	Position, At int64
	// Delivered counts handed-over records, duplicates included; Arrived those
	// that came for the first time, corrupt ones included (by their offsets, where
	// records carry no stamp).
	Delivered, Arrived int64
	// Next is, for each producer, the sequence after the highest that arrived.
	Next []uint64
}

// hand notes that records are handed over, the lowest offset first.
func (p *partition) hand(records []driver.Received, now int64) {
	n := len(records)
	p.count += int64(n)
	next := records[n-1].Offset + 1
	if next <= p.next {
		return
	}
	p.fresh += int64(n)
	if records[0].Offset < p.next { // some came before, to a member that could not commit them
		again, _ := slices.BinarySearchFunc(records, p.next, func(r driver.Received, at int64) int { return cmp.Compare(r.Offset, at) })
		p.fresh -= int64(again)
	}
	p.next, p.at = next, now
}

// passed notes that everything below an offset was handed over or is no record.
func (p *partition) passed(next int64) {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	p.next = max(p.next, next)
}

func (p *partition) reached(stamped bool) Reached {
	p.receiver.Lock()
	defer p.receiver.Unlock()
	r := Reached{Position: p.next, At: p.at, Delivered: p.count, Arrived: p.fresh, Next: p.receiver.Expected()}
	if stamped {
		r.Arrived = p.receiver.Arrived()
	}
	return r
}
