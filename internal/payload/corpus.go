package payload

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// The size of a corpus: as many bodies as reach maxBodies or corpusBytes,
// whichever comes first, but at least minBodies. With batches of up to 1 MiB,
// spread over a few partitions, a body does not come twice in one.
const (
	maxBodies   = 16_384
	minBodies   = 64
	corpusBytes = 16 << 20
)

// Spec says what the records of a run look like.
type Spec struct {
	Class   string // random, zeros, text, json, logline or mixed
	Seed    uint64
	Sizes   Sizes
	Stamped bool // every record carries a stamp, within its size
}

// Corpus is the supply of bodies of a run. It is read-only and may be shared.
type Corpus struct {
	bodies    [][]byte
	checksums []uint32
	bytes     int64
	head      int // bytes in front of a body
}

// NewCorpus makes the bodies. It takes some 10 ms to a second and at most about
// 16 MiB (64 bodies where they are larger than that).
func NewCorpus(spec Spec) (*Corpus, error) {
	if err := spec.Sizes.validate(); err != nil {
		return nil, err
	}
	generate, err := generatorOf(spec.Class)
	if err != nil {
		return nil, err
	}
	c := &Corpus{}
	if spec.Stamped {
		c.head = StampSize
	}
	if spec.Sizes.Min() < c.head {
		return nil, fmt.Errorf("a record of %d bytes has no room for a stamp of %d", spec.Sizes.Min(), c.head)
	}
	for i := 0; i < minBodies || i < maxBodies && c.bytes < corpusBytes; i++ {
		rng := rand.New(rand.NewPCG(spec.Seed, uint64(i)))
		body := make([]byte, spec.Sizes.draw(rng)-c.head)
		generate(body, rng, i)
		c.bodies = append(c.bodies, body)
		c.checksums = append(c.checksums, crc32.Checksum(body, castagnoli))
		c.bytes += int64(len(body))
	}
	return c, nil
}

// Len is the number of bodies: the period after which they repeat.
func (c *Corpus) Len() int { return len(c.bodies) }

// Bytes is the memory that the bodies take.
func (c *Corpus) Bytes() int64 { return c.bytes }

// MeanBytes is the mean size of a value, stamp included.
func (c *Corpus) MeanBytes() float64 {
	return float64(c.bytes)/float64(len(c.bodies)) + float64(c.head)
}

// Value returns the value of the record with this sequence, in dst's memory
// where that is large enough. The stamp is nil exactly where the corpus was made
// without.
func (c *Corpus) Value(dst []byte, sequence uint64, stamp *Stamp) []byte {
	at := sequence % uint64(len(c.bodies))
	body := c.bodies[at]
	size := c.head + len(body)
	if cap(dst) < size {
		dst = make([]byte, size)
	}
	dst = dst[:size]
	copy(dst[c.head:], body)
	if stamp != nil {
		stamp.put(dst, c.checksums[at])
	}
	return dst
}
