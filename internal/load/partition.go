package load

import "kafka-bench/internal/ledger"

// partition is what a group keeps about one partition, whichever member owns it.
type partition struct {
	id int32
	// receiver's lock guards the fields down to the blank line too.
	receiver *ledger.Receiver
	next     int64 // offset after the last one handed over, and what is no record behind it
	at       int64 // when that was
	count    int64 // handed over, duplicates included

	worker *worker // parallel by partition: who works on it
}

// Reached is how far a group has come in one partition.
type Reached struct {
	// Position is the offset after the last record handed over and the control
	// records behind it, and At when that record was; before the first it is where
	// the partition starts, and -1<<63.
	Position, At int64
	// Delivered counts handed-over records, duplicates included; Arrived those
	// that came for the first time, corrupt ones included (the same as
	// Delivered, where records carry no stamp).
	Delivered, Arrived int64
	// Next is, for each producer, the sequence after the highest that arrived.
	Next []uint64
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
	r := Reached{Position: p.next, At: p.at, Delivered: p.count, Arrived: p.count, Next: p.receiver.Expected()}
	if stamped {
		r.Arrived = p.receiver.Arrived()
	}
	return r
}
