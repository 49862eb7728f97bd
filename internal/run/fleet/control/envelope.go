package control

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// Version is the version of records that this package writes, and the highest that it reads.
const Version = 1

// Coordinator is the agent index of the coordinator's records.
const Coordinator = -1

const (
	MaxBody   = 512 << 10 // bytes
	MaxPieces = 128       // of one snapshot: 64 MiB
)

// Record is one entry of the log.
type Record struct {
	Kind     Kind
	Run      int    // from 1; 0 before the first plan
	Agent    int    // the writer's index, or Coordinator
	Instance uint64 // random for each process, never 0
	Sequence uint64 // counts the instance's records from 1
	// Body is a piece of a snapshot: piece number Piece, from 0, of Pieces pieces. Number counts an
	// agent's snapshots from 0 in each run. Last marks the last snapshot's pieces. Other kinds have
	// the number 0 and one piece.
	Number        int
	Piece, Pieces int
	Last          bool
	Body          []byte
}

// Key seals a session's records; nil is no key, for a cluster on one machine. It is never printed
// or written.
type Key []byte

const keyMask = "(hidden)"

// Format writes a mask for every verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, keyMask) }

// MarshalText returns the mask.
func (Key) MarshalText() ([]byte, error) { return []byte(keyMask), nil }

var (
	ErrForeign   = errors.New("it is no record of a control log")
	ErrVersion   = errors.New("it has a later version: use one release of kafka-bench on all machines")
	ErrNoKey     = errors.New("it is sealed with a key, and this process has none: give it the session's --key")
	ErrUnsealed  = errors.New("its writer has no key: give all processes of the session the same --key")
	ErrOtherKey  = errors.New("it is sealed with another key: give all processes of the session the same --key")
	ErrDamaged   = errors.New("it is damaged, or it was written to another topic")
	ErrMalformed = errors.New("it contradicts itself")
)

// This is the layout of a record, with integers in big-endian order:
//
//	0  magic        4 bytes
//	4  version, seal, kind, flags   1 byte each
//	8  run          4 bytes
//	12 agent        4 bytes, signed
//	16 instance     8 bytes
//	24 sequence     8 bytes
//	32 number       4 bytes
//	36 piece        2 bytes
//	38 pieces       2 bytes
//	40 key ID       8 bytes: zeros without a key
//	48 body
//	   tag          32 bytes of HMAC-SHA-256, or 4 of CRC-32C
//
// The tag covers everything before it, and the ID of the topic.
const (
	magic    = "KBCL"
	bodyAt   = 48
	sealCRC  = 0
	sealHMAC = 1
	flagLast = 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Seal encodes a record for the topic with this ID. Its error is ErrMalformed.
func Seal(key Key, topic [16]byte, r Record) ([]byte, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	b := make([]byte, bodyAt, bodyAt+len(r.Body)+sha256.Size)
	copy(b, magic)
	b[4], b[6] = Version, byte(r.Kind)
	if r.Last {
		b[7] = flagLast
	}
	binary.BigEndian.PutUint32(b[8:], uint32(r.Run))
	binary.BigEndian.PutUint32(b[12:], uint32(int32(r.Agent)))
	binary.BigEndian.PutUint64(b[16:], r.Instance)
	binary.BigEndian.PutUint64(b[24:], r.Sequence)
	binary.BigEndian.PutUint32(b[32:], uint32(r.Number))
	binary.BigEndian.PutUint16(b[36:], uint16(r.Piece))
	binary.BigEndian.PutUint16(b[38:], uint16(r.Pieces))
	if key != nil {
		b[5] = sealHMAC
		copy(b[40:bodyAt], keyID(key))
	}
	b = append(b, r.Body...)
	return append(b, tag(key, topic, b)...), nil
}

// Open decodes a record that was read from the topic with this ID. Body shares b's memory. The
// error is one of this package's Err variables.
func Open(key Key, topic [16]byte, b []byte) (Record, error) {
	if len(b) < bodyAt+crc32.Size || string(b[:len(magic)]) != magic || b[4] == 0 {
		return Record{}, ErrForeign
	}
	if b[4] > Version {
		return Record{}, ErrVersion
	}
	size := crc32.Size
	switch {
	case b[5] > sealHMAC:
		return Record{}, ErrDamaged
	case b[5] == sealHMAC && key == nil:
		return Record{}, ErrNoKey
	case b[5] == sealCRC && key != nil:
		return Record{}, ErrUnsealed
	case key != nil && !bytes.Equal(b[40:bodyAt], keyID(key)):
		return Record{}, ErrOtherKey
	case key != nil:
		size = sha256.Size
	}
	end := len(b) - size
	if end < bodyAt || !hmac.Equal(b[end:], tag(key, topic, b[:end])) {
		return Record{}, ErrDamaged
	}
	r := Record{
		Kind: Kind(b[6]), Last: b[7] == flagLast, Body: b[bodyAt:end:end],
		Run:      int(binary.BigEndian.Uint32(b[8:])),
		Agent:    int(int32(binary.BigEndian.Uint32(b[12:]))),
		Instance: binary.BigEndian.Uint64(b[16:]),
		Sequence: binary.BigEndian.Uint64(b[24:]),
		Number:   int(binary.BigEndian.Uint32(b[32:])),
		Piece:    int(binary.BigEndian.Uint16(b[36:])),
		Pieces:   int(binary.BigEndian.Uint16(b[38:])),
	}
	if b[7] > flagLast || key == nil && !bytes.Equal(b[40:bodyAt], make([]byte, bodyAt-40)) {
		return Record{}, ErrMalformed
	}
	return r, r.check()
}

// Claimed returns the agent that a record names, whether or not its seal holds; [Coordinator] − 1
// if b is no record.
func Claimed(b []byte) (agent int) {
	if len(b) < bodyAt || string(b[:len(magic)]) != magic {
		return Coordinator - 1
	}
	return int(int32(binary.BigEndian.Uint32(b[12:])))
}

func tag(key Key, topic [16]byte, b []byte) []byte {
	if key == nil {
		sum := crc32.Update(crc32.Checksum(b, castagnoli), castagnoli, topic[:])
		return binary.BigEndian.AppendUint32(nil, sum)
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(b)
	mac.Write(topic[:])
	return mac.Sum(nil)
}

// keyID does not reveal the key.
func keyID(key Key) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("key ID"))
	return mac.Sum(nil)[:bodyAt-40]
}

func (r Record) check() error {
	switch {
	case r.Kind < KindHello || r.Kind > KindEcho:
	case r.Agent < Coordinator || r.Kind.fromCoordinator() != (r.Agent == Coordinator):
	case r.Run < 0 || r.Run > math.MaxInt32 || r.Instance == 0 || r.Sequence == 0 || len(r.Body) > MaxBody:
	case r.Agent > math.MaxInt32 || r.Number < 0 || r.Number > math.MaxInt32:
	case r.Kind != KindSnapshot && (r.Number != 0 || r.Pieces != 1 || r.Last):
	case r.Pieces < 1 || r.Pieces > MaxPieces || r.Piece < 0 || r.Piece >= r.Pieces:
	default:
		return nil
	}
	return fmt.Errorf("%w: %v of agent %d, run %d, sequence %d, piece %d of %d, %d bytes",
		ErrMalformed, r.Kind, r.Agent, r.Run, r.Sequence, r.Piece, r.Pieces, len(r.Body))
}
