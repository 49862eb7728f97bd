package payload

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
)

// StampSize is the size of a stamp in bytes. A smaller record has no stamp in its value.
const StampSize = 44

// Header is a stamp in a record's header. The header's name is HeaderName.
type Header [StampSize]byte

// HeaderName is the name of the header. A header takes HeaderBytes in a batch.
const (
	HeaderName  = "kb"
	HeaderBytes = 1 + len(HeaderName) + 1 + StampSize
)

// The layout of a stamp, big-endian. The checksum is CRC-32C over the body and then over the stamp's other bytes.
// The reserved bytes make the rest five words of 64 bits, the step of the processor's CRC instruction.
const (
	atHead      = 0  // uint16 magic, uint8 version, uint8 flags (zero)
	atRun       = 4  // uint32
	atProducer  = 8  // uint16
	atPartition = 10 // int32
	atSequence  = 14 // uint64
	atIntended  = 22 // int64
	atActual    = 30 // int64
	atReserved  = 38 // uint16, zero
	atChecksum  = 40 // uint32
)

const (
	magic        = 0x4B42 // "KB"
	stampVersion = 1
	head         = magic<<16 | stampVersion<<8
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Stamp is a record's data about itself.
type Stamp struct {
	Run       uint32 // the run's number
	Producer  uint16 // the worker that sent the record
	Partition int32  // to which it was sent
	Sequence  uint64 // in the lane of that producer and partition, from 0
	// Intended and Actual are the send times on the run's axis, in nanoseconds.
	Intended, Actual int64
}

// put writes a stamp into dst, of at least StampSize bytes. It stores the same five words that the
// checksum then loads. A load that spans several smaller stores would have to wait until they are
// in the cache.
func (s *Stamp) put(dst []byte, bodyChecksum uint32) {
	b := dst[:StampSize]
	sequence, intended, actual := s.Sequence, uint64(s.Intended), uint64(s.Actual)
	binary.BigEndian.PutUint64(b[atHead:], head<<32|uint64(s.Run))
	binary.BigEndian.PutUint64(b[atProducer:], uint64(s.Producer)<<48|uint64(uint32(s.Partition))<<16|sequence>>48)
	binary.BigEndian.PutUint64(b[16:], sequence<<16|intended>>48)
	binary.BigEndian.PutUint64(b[24:], intended<<16|actual>>48)
	binary.BigEndian.PutUint64(b[32:], actual<<16) // and atReserved
	binary.BigEndian.PutUint32(b[atChecksum:], crc32.Update(bodyChecksum, castagnoli, b[:atChecksum]))
}

// Check is the result of checking a record's bytes.
type Check uint8

const (
	// Intact: a stamp with the right checksum.
	Intact Check = iota
	// Corrupt: a record of this tool whose bytes have changed.
	Corrupt
	// Foreign: not a record of this tool, or of another stamp version.
	Foreign
)

// String returns the word that reports use.
func (c Check) String() string {
	switch c {
	case Intact:
		return "intact"
	case Corrupt:
		return "corrupt"
	default:
		return "foreign"
	}
}

// maxHeadDamage is in bits. Two random words of 32 bits differ in three or fewer bits once in
// 780,000 cases.
const maxHeadDamage = 3

// HeaderOf returns a record's header as a stamp; nil if it has another name or size.
func HeaderOf(name string, value []byte) *Header {
	if name != HeaderName || len(value) != StampSize {
		return nil
	}
	return (*Header)(value)
}

// ReadRecord reads a record's stamp from its header, or from its value if header is nil, and checks all bytes of
// the value. The stamp is valid only if the record is Intact.
func ReadRecord(header *Header, value []byte) (Stamp, Check) {
	b, content := header, value
	if b == nil {
		if len(value) < StampSize {
			return Stamp{}, checkShort(value)
		}
		b, content = (*Header)(value), value[StampSize:]
	}
	s := Stamp{
		Run:       binary.BigEndian.Uint32(b[atRun:]),
		Producer:  binary.BigEndian.Uint16(b[atProducer:]),
		Partition: int32(binary.BigEndian.Uint32(b[atPartition:])),
		Sequence:  binary.BigEndian.Uint64(b[atSequence:]),
		Intended:  int64(binary.BigEndian.Uint64(b[atIntended:])),
		Actual:    int64(binary.BigEndian.Uint64(b[atActual:])),
	}
	body := crc32.Update(0, castagnoli, content)
	sound := crc32.Update(body, castagnoli, b[:atChecksum]) == binary.BigEndian.Uint32(b[atChecksum:])
	switch {
	case binary.BigEndian.Uint32(b[atHead:]) != head:
		return s, checkOtherHead(b[:], body, sound)
	case !sound:
		return s, Corrupt
	}
	return s, Intact
}

// ReadStamp is ReadRecord for a stamp in the value.
func ReadStamp(value []byte) (Stamp, Check) { return ReadRecord(nil, value) }

// checkOtherHead returns Corrupt if the head is nearly a stamp's or if correcting it makes the
// checksum right. Without this check, one flipped bit would count as a lost and a foreign record.
func checkOtherHead(stamp []byte, bodyChecksum uint32, sound bool) Check {
	if sound {
		return Foreign
	}
	if headDamage(stamp) <= maxHeadDamage {
		return Corrupt
	}
	repaired := [StampSize]byte(stamp)
	binary.BigEndian.PutUint32(repaired[atHead:], head)
	if crc32.Update(bodyChecksum, castagnoli, repaired[:atChecksum]) == binary.BigEndian.Uint32(repaired[atChecksum:]) {
		return Corrupt
	}
	return Foreign
}

func checkShort(value []byte) Check {
	if len(value) >= atRun && headDamage(value) <= maxHeadDamage {
		return Corrupt
	}
	return Foreign
}

func headDamage(value []byte) int {
	return bits.OnesCount32(binary.BigEndian.Uint32(value[atHead:]) ^ head)
}
