package ledger

import "encoding/binary"

// A Receiver is encoded as (see codec.go)
//
//	partition · latest · the books · lanes · for each lane:
//	    next · first measured sequence · closed of each book
//	    straddling gap: from · length, 0 without one
//	    the missing, as sequences

// MarshalBinary encodes the receiver. It takes the lock.
func (r *Receiver) MarshalBinary() ([]byte, error) {
	r.Lock()
	defer r.Unlock()
	b := binary.AppendUvarint(nil, uint64(r.partition))
	b = binary.AppendUvarint(b, uint64(r.latest))
	for book := range r.books {
		for _, n := range r.books[book].counts() {
			b = binary.AppendVarint(b, *n)
		}
	}
	b = binary.AppendUvarint(b, uint64(len(r.lanes)))
	for i := range r.lanes {
		b = r.lanes[i].encode(b)
	}
	return b, nil
}

func (b *received) counts() [7]*int64 {
	return [...]*int64{
		&b.delivered, &b.unique, &b.duplicates, &b.reordered, &b.lateBeyondWindow, &b.corrupt, &b.foreign,
	}
}

func (l *receiverLane) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, l.next)
	b = binary.AppendUvarint(b, l.measuredFrom)
	for _, n := range l.closed {
		b = binary.AppendVarint(b, n)
	}
	var length uint64
	if l.straddles {
		length = l.straddle.len()
	}
	b = binary.AppendUvarint(b, l.straddle.from)
	b = binary.AppendUvarint(b, length)
	return l.missing.encode(b)
}

// UnmarshalBinary decodes a receiver into r. On an error it leaves r unchanged.
func (r *Receiver) UnmarshalBinary(data []byte) error {
	n := &numbers{left: data}
	partition, latest := n.below(maxPartition), n.below(numBooks)
	var books [numBooks]received
	for book := range books {
		for _, count := range books[book].counts() {
			*count = n.signed()
		}
	}
	lanes := make([]receiverLane, n.count(minReceiverLaneBytes))
	for i := range lanes {
		lanes[i].decode(n)
	}
	if n.bad || len(n.left) > 0 {
		return errMalformed
	}
	r.Lock()
	defer r.Unlock()
	r.partition, r.latest, r.books, r.lanes = int32(partition), int(latest), books, lanes
	return nil
}

const (
	maxPartition         = 1 << 31
	minReceiverLaneBytes = 9
)

func (l *receiverLane) decode(r *numbers) {
	l.next, l.measuredFrom = r.below(maxSequence+1), r.unsigned()
	for book := range l.closed {
		l.closed[book] = r.signed()
	}
	from, length := r.below(maxSequence), r.below(maxSequence)
	if length > 0 {
		l.straddle, l.straddles = span{from, from + length - 1}, true
	}
	l.missing.decode(r)
}
