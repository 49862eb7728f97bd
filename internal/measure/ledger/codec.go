package ledger

import (
	"encoding/binary"
	"errors"
)

// Producers and consumers in other processes send their side of the books: producers after the end of the load,
// consumers (receivercodec.go) also during the run. The encoding is not stored.
//
//	producer · lanes · for each lane:
//	    next · first measured sequence · highest acked offset
//	    acked of each book · the failed · the unknown
//	failed, unknown:
//	    records of each book · sequences
//	sequences:
//	    limit · floor · spans · for each span:
//	        distance from the end of the previous one (or 0) · length − 1
//
// All numbers are LEB128; those that may be negative are zig-zag.

var errMalformed = errors.New("these are not the books of a producer or of a partition")

// MarshalBinary encodes the sender. It takes the lock.
func (s *Sender) MarshalBinary() ([]byte, error) {
	s.Lock()
	defer s.Unlock()
	b := binary.AppendUvarint(nil, uint64(s.producer))
	b = binary.AppendUvarint(b, uint64(len(s.lanes)))
	for i := range s.lanes {
		b = s.lanes[i].append(b)
	}
	return b, nil
}

func (l *senderLane) append(b []byte) []byte {
	b = binary.AppendUvarint(b, l.next)
	b = binary.AppendUvarint(b, l.measuredFrom)
	b = binary.AppendVarint(b, l.lastOffset)
	for _, n := range l.acked {
		b = binary.AppendVarint(b, n)
	}
	return l.unknown.append(l.failed.append(b))
}

func (f *fate) append(b []byte) []byte {
	for _, n := range f.records {
		b = binary.AppendVarint(b, n)
	}
	return f.which.encode(b)
}

func (s *spans) encode(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(s.limit))
	b = binary.AppendUvarint(b, s.floor)
	live := s.live()
	b = binary.AppendUvarint(b, uint64(len(live)))
	end := uint64(0)
	for _, sp := range live {
		b = binary.AppendUvarint(b, sp.from-end)
		b = binary.AppendUvarint(b, sp.to-sp.from)
		end = sp.to
	}
	return b
}

// UnmarshalBinary decodes a sender into s. On an error it leaves s unchanged.
func (s *Sender) UnmarshalBinary(data []byte) error {
	r := &numbers{left: data}
	producer := r.below(maxSequence)
	lanes := make([]senderLane, r.count(minLaneBytes))
	for i := range lanes {
		lanes[i].read(r)
	}
	if r.bad || len(r.left) > 0 {
		return errMalformed
	}
	s.Lock()
	defer s.Unlock()
	s.producer, s.lanes = int(producer), lanes
	return nil
}

const (
	minLaneBytes = 15
	minSpanBytes = 2
)

func (l *senderLane) read(r *numbers) {
	l.next, l.measuredFrom, l.lastOffset = r.unsigned(), r.unsigned(), r.signed()
	for book := range l.acked {
		l.acked[book] = r.signed()
	}
	l.failed.read(r)
	l.unknown.read(r)
}

func (f *fate) read(r *numbers) {
	for book := range f.records {
		f.records[book] = r.signed()
	}
	f.which.decode(r)
}

func (s *spans) decode(r *numbers) {
	s.limit, s.floor = int(r.below(manySpans+1)), r.unsigned()
	s.list = make([]span, r.count(minSpanBytes))
	end := uint64(0)
	for i := range s.list {
		sp := &s.list[i]
		sp.from = end + r.below(maxSequence)
		sp.to = sp.from + r.below(maxSequence)
		end = sp.to
	}
}

// After a malformed number, all others are zero.
type numbers struct {
	left []byte
	bad  bool
}

func (r *numbers) unsigned() uint64 {
	n, length := binary.Uvarint(r.left)
	return took(r, n, length)
}

func (r *numbers) signed() int64 {
	n, length := binary.Varint(r.left)
	return took(r, n, length)
}

// length is at most 0 if the number is malformed.
func took[N int64 | uint64](r *numbers, n N, length int) N {
	if r.bad = r.bad || length <= 0; r.bad {
		return 0
	}
	r.left = r.left[length:]
	return n
}

func (r *numbers) below(limit uint64) uint64 {
	n := r.unsigned()
	if r.bad = r.bad || n >= limit; r.bad {
		return 0
	}
	return n
}

func (r *numbers) count(bytesEach int) int {
	n := r.unsigned()
	if r.bad = r.bad || n > uint64(len(r.left)/bytesEach); r.bad {
		return 0
	}
	return int(n)
}
