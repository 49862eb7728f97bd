package echo

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash/crc32"
)

// The layout of a packet, big-endian. A question is as long as its answer, with three zero fields,
// so that no attacker can amplify traffic.
const (
	atHead     = 0  // uint16 magic, uint8 version, uint8 kind
	atTo       = 4  // uint32, the agent asked
	atAsker    = 8  // uint64, random for each asking node
	atSequence = 16 // uint64, from 1 for each asker and agent
	atHeard    = 24 // int64
	atAnswered = 32 // int64
	atSlew     = 40 // int64
	atSeal     = 48
	sealBytes  = 16
	packetSize = atSeal + sealBytes
)

const (
	head     = 0x4B45<<16 | 1<<8 // "KE", version 1
	question = 1
	answer   = 2
)

type packet struct {
	kind                        uint8
	to                          uint32
	asker, sequence             uint64
	heardNs, answeredNs, slewNs int64
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// seal returns 16 bytes of HMAC-SHA-256; without a key CRC-32C, which only detects damage.
func seal(key, body []byte) (sealed [sealBytes]byte) {
	if key == nil {
		binary.BigEndian.PutUint32(sealed[:], crc32.Checksum(body, castagnoli))
		return sealed
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	copy(sealed[:], mac.Sum(nil))
	return sealed
}

func (p packet) encode(key []byte) []byte {
	b := make([]byte, packetSize)
	binary.BigEndian.PutUint32(b[atHead:], head|uint32(p.kind))
	binary.BigEndian.PutUint32(b[atTo:], p.to)
	binary.BigEndian.PutUint64(b[atAsker:], p.asker)
	binary.BigEndian.PutUint64(b[atSequence:], p.sequence)
	binary.BigEndian.PutUint64(b[atHeard:], uint64(p.heardNs))
	binary.BigEndian.PutUint64(b[atAnswered:], uint64(p.answeredNs))
	binary.BigEndian.PutUint64(b[atSlew:], uint64(p.slewNs))
	sealed := seal(key, b[:atSeal])
	copy(b[atSeal:], sealed[:])
	return b
}

func decode(b, key []byte) (p packet, sound bool) {
	if len(b) != packetSize {
		return packet{}, false
	}
	first, sealed := binary.BigEndian.Uint32(b[atHead:]), seal(key, b[:atSeal])
	if first&^0xff != head || !hmac.Equal(sealed[:], b[atSeal:]) {
		return packet{}, false
	}
	return packet{
		kind: uint8(first), to: binary.BigEndian.Uint32(b[atTo:]),
		asker: binary.BigEndian.Uint64(b[atAsker:]), sequence: binary.BigEndian.Uint64(b[atSequence:]),
		heardNs:    int64(binary.BigEndian.Uint64(b[atHeard:])),
		answeredNs: int64(binary.BigEndian.Uint64(b[atAnswered:])), slewNs: int64(binary.BigEndian.Uint64(b[atSlew:])),
	}, true
}
