package meter

import "encoding/binary"

// Record batches on the wire, counted by their headers, which do not have the size before compression; see
// Meter.CountContent.

// The fields of a batch header (magic 2, KIP-98) that are read.
const (
	batchHeadBytes   = 61
	batchLengthAt    = 8 // int32, counted from batchLengthAfter on
	batchLengthAfter = 12
	attributesAt     = 21 // int16; the codec is in the lowest three bits
	recordCountAt    = 57 // int32
	codecBits        = 7
)

// batches parses the batches of one produce request or fetch response, which may arrive in pieces.
type batches struct {
	meter    *Meter
	key      int16
	version  int16
	flexible bool // compact lengths and tagged fields (KIP-482)

	at         place
	skip       int
	carry      []byte // the beginning of an incomplete item
	topics     int    // still to come
	partitions int    // of the topic
	records    int    // bytes of the partition's record batches
}

type place uint8

const (
	inPreamble place = iota
	inTopic
	inPartition
	inBatch
	afterPartition
	afterTopic
	lost // the rest is unknown or not needed
)

// The last versions that name topics; later ones are not parsed.
const (
	lastProduce = 12
	lastFetch   = 12
)

// newBatches returns nil if the request has no batches, or a version that is not supported.
func newBatches(m *Meter, key, version int16) *batches {
	switch {
	case key == apiProduce && version >= 3 && version <= lastProduce:
		return &batches{meter: m, key: key, version: version, flexible: version >= 9}
	case key == apiFetch && version >= 4 && version <= lastFetch:
		return &batches{meter: m, key: key, version: version, flexible: version >= 12}
	}
	return nil
}

func (b *batches) read(piece []byte) {
	for len(piece) > 0 && b.at != lost {
		if b.skip > 0 {
			n := min(b.skip, len(piece))
			b.skip -= n
			piece = piece[n:]
			continue
		}
		if len(b.carry) == 0 {
			c := cursor{bytes: piece, flexible: b.flexible}
			if b.item(&c); c.short {
				b.carry = append(b.carry, piece...)
				return
			}
			piece = piece[c.at:]
			continue
		}
		piece = piece[b.join(piece):]
	}
}

// join returns how many bytes of this piece belong to an item that began in an earlier piece.
func (b *batches) join(piece []byte) int {
	before := len(b.carry)
	b.carry = append(b.carry, piece[:min(len(piece), 4*batchHeadBytes)]...)
	c := cursor{bytes: b.carry, flexible: b.flexible}
	if b.item(&c); c.short {
		return len(b.carry) - before
	}
	b.carry = b.carry[:0]
	return c.at - before
}

func (b *batches) item(c *cursor) {
	switch b.at {
	case inPreamble:
		b.preamble(c)
	case inTopic:
		c.skip(c.stringLength())
		if n := c.arrayLength(); !c.short {
			b.partitions = n
			b.nextPartition()
		}
	case inPartition:
		b.partition(c)
	case inBatch:
		b.batch(c)
	case afterPartition:
		if c.tags(); !c.short {
			b.nextPartition()
		}
	case afterTopic:
		if c.tags(); !c.short {
			b.nextTopic()
		}
	}
}

func (b *batches) preamble(c *cursor) {
	if b.key == apiProduce {
		c.skip(max(int(c.int16()), 0)) // client ID, which is never compact
		c.tags()
		c.skip(c.stringLength()) // transactional ID
		c.skip(2 + 4)            // acks, timeout
	} else {
		c.tags()
		c.skip(4) // throttle time
		if b.version >= 7 {
			c.skip(2 + 4) // error, session
		}
	}
	if n := c.arrayLength(); !c.short {
		b.topics = n
		b.nextTopic()
	}
}

func (b *batches) partition(c *cursor) {
	c.skip(4) // number
	if b.key == apiFetch {
		c.skip(2 + 8 + 8) // error, high watermark, last stable offset
		if b.version >= 5 {
			c.skip(8) // log start offset
		}
		for range c.arrayLength() { // aborted transactions
			if c.short {
				return
			}
			c.skip(8 + 8)
			c.tags()
		}
		if b.version >= 11 {
			c.skip(4) // preferred replica
		}
	}
	if n := c.bytesLength(); !c.short {
		b.records = n
		b.nextBatch()
	}
}

// A broker may truncate the last batch, which the client then fetches again.
func (b *batches) batch(c *cursor) {
	head := c.take(batchHeadBytes)
	if c.short {
		return
	}
	size := batchLengthAfter + int(int32(binary.BigEndian.Uint32(head[batchLengthAt:])))
	if size < batchHeadBytes {
		b.at = lost
		return
	}
	b.skip = min(size, b.records) - batchHeadBytes
	if size <= b.records {
		b.meter.countBatch(int(int32(binary.BigEndian.Uint32(head[recordCountAt:]))), size-batchHeadBytes,
			binary.BigEndian.Uint16(head[attributesAt:])&codecBits != 0)
	}
	b.records -= batchHeadBytes + b.skip
	b.nextBatch()
}

func (b *batches) nextTopic() {
	b.at = inTopic
	if b.topics--; b.topics < 0 {
		b.at = lost
	}
}

func (b *batches) nextPartition() {
	b.at = inPartition
	if b.partitions--; b.partitions < 0 {
		if b.at = afterTopic; !b.flexible {
			b.nextTopic()
		}
	}
}

func (b *batches) nextBatch() {
	switch {
	case b.records >= batchHeadBytes:
		b.at = inBatch
		return
	case b.records > 0: // truncated within a header
		b.skip += b.records
		b.records = 0
	}
	if b.at = afterPartition; !b.flexible {
		b.nextPartition()
	}
}
