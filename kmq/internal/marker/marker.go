// Package marker encodes the markers topic: what happened to which records of a partition of the
// queue, one fact for each marker.
//
// A key is 12 bytes: partition int32 and offset int64, big endian. A partition p of the group's retry
// topic is -1-p in a key. A value begins with a version and a type. A marker is in the partition with
// the same number as its record's in either topic, and its time is the broker's append time. So each
// partition of markers is a log of events under one clock.
//
// Files to know: marker.go.
package marker

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"time"
)

// Type is the kind of a marker.
type Type uint8

// Types. Their numbers are on disk.
const (
	// Start: Count records from Offset on are locked for Duration from the marker's time.
	Start Type = 1
	// End: Count records from Offset on are done for the Reason.
	End Type = 2
	// Extend: Count records from Offset on are locked for Duration from this marker's time.
	Extend Type = 3
	// Release: Count records from Offset on were released, for another delivery Duration after this
	// marker's time.
	Release Type = 4
	// Tick: only the time, for a partition without other markers; its Offset is -1.
	Tick Type = 5
)

// String returns the type's name.
func (t Type) String() string {
	if names := [...]string{Start: "start", End: "end", Extend: "extend", Release: "release", Tick: "tick"}; Start <= t && t <= Tick {
		return names[t]
	}
	return fmt.Sprintf("type %d", uint8(t))
}

// Reason says why a record is done.
type Reason uint8

// Reasons. Their numbers are on disk.
const (
	Acked        Reason = 0 // by the application
	Copied       Reason = 1 // a copy for the next delivery is in the group's retry topic
	DeadLettered Reason = 2 // a copy is in the dead-letter topic
	Missing      Reason = 3 // no longer in the log
)

// Marker is one fact. Fields that its Type does not use are zero.
type Marker struct {
	Partition int32 // below 0: of the retry topic
	Offset    int64
	Type      Type

	Count    int32         // Start, End, Extend, Release: from 1 to MaxCount
	Duration time.Duration // Start, Extend, Release: whole milliseconds, from 0 to MaxDuration
	// Holder distinguishes members that deliver the same record, if one of them does not know that it
	// lost its partition. An Extend or a Release applies to the Start of the same Holder.
	Holder uint32 // Start, Extend, Release
	Reason Reason // End
	// Epoch is the leader epoch of the records. It distinguishes a record from another that took its
	// offset after the log was cut. -1: unknown, as before version 1.2.
	Epoch int32 // Start, End
	// Undelivered: no application had the record, and the delivery does not count.
	Undelivered bool // Release
	// Group is [Of] the group that wrote the marker; 0 before version 1.1.
	Group uint32 // all but Tick
}

// Bounds of a marker's fields.
const (
	MaxCount    = 1 << 20
	MaxDuration = 366 * 24 * time.Hour
)

// The errors of Parse.
var (
	// ErrVersion: a later kmq wrote the marker in an unknown format.
	ErrVersion = errors.New("marker of an unknown version")
	// ErrMalformed: the record is no marker, or a damaged one.
	ErrMalformed = errors.New("malformed marker")
)

// A value begins with major<<4|minor. A reader accepts later minor versions, whose markers have more fields at the
// end, and no other major version.
//
// A group must work with markers of a group that was updated first. So all later major versions keep the key, and
// begin each value with the version, the type and the group, also for ticks. A new type needs a new major version.
const (
	major    = 1
	grouped  = 1 // the first minor version with groups
	minor    = 2 // the first with epochs
	keyBytes = 12

	undelivered = 1
)

// Size is the most bytes that Append adds.
const Size = keyBytes + 2 + 3*binary.MaxVarintLen64 + 1 + 4 + 4

// Of returns the number of a group: the FNV-1a hash of its name, or 1 if that is 0. Two groups collide with a
// probability of 1 in 4 billion.
func Of(group string) uint32 {
	h := fnv.New32a()
	h.Write([]byte(group))
	return max(1, h.Sum32())
}

// Append appends the marker's key and value to b, and returns the whole, the key and the value,
// which share memory.
func Append(b []byte, m Marker) (all, key, value []byte) {
	from := len(b)
	b = binary.BigEndian.AppendUint32(b, uint32(m.Partition))
	b = binary.BigEndian.AppendUint64(b, uint64(m.Offset))
	split := len(b)
	version := byte(major << 4)
	if m.Group != 0 {
		version |= minor
	}
	b = append(b, version, byte(m.Type))
	switch m.Type {
	case Start, Extend:
		b = appendLoan(b, m)
	case Release:
		var flags byte
		if m.Undelivered {
			flags |= undelivered
		}
		b = append(appendLoan(b, m), flags)
	case End:
		b = binary.AppendUvarint(b, uint64(m.Count))
		b = append(b, byte(m.Reason))
	}
	if m.Group != 0 {
		b = binary.BigEndian.AppendUint32(b, m.Group)
		if m.hasEpoch() {
			b = binary.BigEndian.AppendUint32(b, uint32(m.Epoch))
		}
	}
	return b, b[from:split:split], b[split:]
}

func (m *Marker) hasEpoch() bool { return m.Type == Start || m.Type == End }

func appendLoan(b []byte, m Marker) []byte {
	b = binary.AppendUvarint(b, uint64(m.Count))
	b = binary.AppendUvarint(b, uint64(m.Duration/time.Millisecond))
	return binary.AppendUvarint(b, uint64(m.Holder))
}

// Parse reads a marker. The error is an ErrVersion if a later kmq might read it, else an ErrMalformed. With an
// ErrVersion the Group is correct, or 0.
func Parse(key, value []byte) (Marker, error) {
	if len(key) != keyBytes {
		return Marker{}, fmt.Errorf("%w: a key of %d bytes instead of %d", ErrMalformed, len(key), keyBytes)
	}
	if len(value) < 2 {
		return Marker{}, fmt.Errorf("%w: a value of %d bytes", ErrMalformed, len(value))
	}
	m := Marker{
		Partition: int32(binary.BigEndian.Uint32(key)),
		Offset:    int64(binary.BigEndian.Uint64(key[4:])),
		Type:      Type(value[1]),
	}
	r := reader{b: value[2:]}
	if value[0]>>4 != major {
		if value[0]>>4 > major {
			m.Group = r.uint32()
		}
		return m, fmt.Errorf("%w: %d.%d; this kmq reads version %d", ErrVersion, value[0]>>4, value[0]&15, major)
	}
	if err := m.parse(&r, value[0]&15); err != nil {
		return m, err
	}
	if len(r.b) > 0 && value[0]&15 <= minor {
		return m, fmt.Errorf("%w: %d bytes too many in a %v", ErrMalformed, len(r.b), m.Type)
	}
	return m, nil
}

func (m *Marker) parse(r *reader, version byte) error {
	switch m.Type {
	case Start, Extend:
		m.loan(r)
	case Release:
		m.loan(r)
		flags := r.byte()
		m.Undelivered = flags&undelivered != 0
		r.bad = r.bad || flags&^undelivered != 0
	case End:
		m.Count = int32(r.uvarint(MaxCount))
		m.Reason = Reason(r.byte())
		r.bad = r.bad || m.Reason > Missing
	case Tick:
		if m.Partition < 0 || m.Offset != -1 {
			return fmt.Errorf("%w: a tick at partition %d, offset %d", ErrMalformed, m.Partition, m.Offset)
		}
		return nil
	default:
		return fmt.Errorf("%w: %v", ErrVersion, m.Type)
	}
	if version >= grouped {
		m.Group = r.uint32()
		r.bad = r.bad || m.Group == 0
	}
	switch {
	case !m.hasEpoch():
	case version >= minor:
		m.Epoch = int32(r.uint32())
		r.bad = r.bad || m.Epoch < -1
	default:
		m.Epoch = -1
	}
	if r.bad {
		return fmt.Errorf("%w: invalid fields in a %v", ErrMalformed, m.Type)
	}
	if m.Offset < 0 || m.Count < 1 || m.Offset > maxOffset {
		return fmt.Errorf("%w: a %v of %d records at partition %d, offset %d",
			ErrMalformed, m.Type, m.Count, m.Partition, m.Offset)
	}
	return nil
}

// maxOffset keeps an offset plus a count from overflowing.
const maxOffset = 1<<63 - 1 - MaxCount

func (m *Marker) loan(r *reader) {
	m.Count = int32(r.uvarint(MaxCount))
	m.Duration = time.Duration(r.uvarint(uint64(MaxDuration/time.Millisecond))) * time.Millisecond
	m.Holder = uint32(r.uvarint(1<<32 - 1))
}

// bad stays set after a missing or invalid field.
type reader struct {
	b   []byte
	bad bool
}

// uvarint accepts a number only up to the bound, and only in its shortest encoding.
func (r *reader) uvarint(most uint64) uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 || v > most || (n > 1 && r.b[n-1] == 0) {
		r.bad = true
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) uint32() uint32 { return binary.BigEndian.Uint32(r.bytes(4)) }
func (r *reader) byte() byte     { return r.bytes(1)[0] }

func (r *reader) bytes(n int) []byte {
	if len(r.b) < n {
		r.bad, r.b = true, make([]byte, n)
	}
	v := r.b[:n]
	r.b = r.b[n:]
	return v
}
