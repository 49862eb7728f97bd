package meter

import "encoding/binary"

// Record batches on the wire, counted by their headers alone: a batch says how long
// it is and how many records it holds. What they were before compression it does not
// say; see Meter.CountContent.

// What of a batch (magic 2, KIP-98) is read.
const (
	batchHeadBytes   = 61
	batchLengthAt    = 8 // int32, from batchLengthAfter on
	batchLengthAfter = 12
	attributesAt     = 21 // int16; the codec is in the lowest three bits
	recordCountAt    = 57 // int32
	codecBits        = 7
)

// batches reads the batches of one produce request or fetch response, in pieces as
// they come. It reads what is around them by the protocol's grammar, item by item,
// and passes over the records themselves.
type batches struct {
	meter    *Meter
	key      int16
	version  int16
	flexible bool // compact lengths and tagged fields (KIP-482)

	at         place
	skip       int    // bytes that are of no interest
	carry      []byte // the beginning of an item that has not come as a whole
	topics     int    // that are still to come
	partitions int    // of the topic
	records    int    // bytes of record batches, of the partition
}

// place is which item of the grammar comes next.
type place uint8

const (
	inPreamble place = iota
	inTopic
	inPartition
	inBatch
	afterPartition
	afterTopic
	lost // the rest is not understood, or of no interest
)

// The versions of which the grammar is known: with topics by name.
const (
	lastProduce = 12
	lastFetch   = 12
)

// newBatches is a body of a frame that counts batches, or nil where there are none,
// or the version is not known.
func newBatches(m *Meter, key, version int16) *batches {
	switch {
	case key == apiProduce && version >= 3 && version <= lastProduce:
		return &batches{meter: m, key: key, version: version, flexible: version >= 9}
	case key == apiFetch && version >= 4 && version <= lastFetch:
		return &batches{meter: m, key: key, version: version, flexible: version >= 12}
	}
	return nil
}

// read takes the next piece.
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

// join reads an item that began in an earlier piece, and returns how much of this
// one belongs to it.
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

// item reads one item, and goes on to the next if it was there as a whole.
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

// preamble reads what comes before the topics.
func (b *batches) preamble(c *cursor) {
	if b.key == apiProduce {
		c.skip(max(int(c.int16()), 0)) // client id, which is never compact
		c.tags()
		c.skip(c.stringLength()) // transactional id
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

// batch reads the header of a batch and passes over its records. A broker may cut the
// last one off; who fetched it asks for it again.
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
	case b.records > 0: // cut off within a header
		b.skip += b.records
		b.records = 0
	}
	if b.at = afterPartition; !b.flexible {
		b.nextPartition()
	}
}
