package payload

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// A batch of 1 MiB has records of one partition. So that no body repeats in it, all bodies fill several batches,
// and their number is prime.
const (
	corpusFillBytes = 8 << 20
	corpusMaxBytes  = 32 << 20
	// least overhead of a record in a batch (record format v2)
	recordOverheadBytes = 7
)

// Spec describes the records of a run.
type Spec struct {
	Class   string // one of Classes
	Seed    uint64
	Sizes   Sizes
	Stamped bool // each record has a stamp in its value, within its size
}

// Corpus holds the bodies of a run. It is read-only and may be shared.
type Corpus struct {
	// Consecutive records read consecutive memory.
	bodies []byte
	index  []entry
	head   int
	file   *FileStats
}

type entry struct{ start, checksum uint32 }

// NewCorpus makes the bodies, in some 10 to 300 ms. The bodies take about 8 MiB; at most 32 MiB
// unless a single body is above 16 MiB.
func NewCorpus(spec Spec) (*Corpus, error) {
	if err := spec.Sizes.validate(); err != nil {
		return nil, err
	}
	generate, ok := generators[spec.Class]
	if !ok {
		return nil, fmt.Errorf("payload: class %q is not known; choose one of %s", spec.Class, classList())
	}
	c := &Corpus{}
	if spec.Stamped {
		c.head = StampSize
	}
	smallest := spec.Sizes.Min()
	if smallest < c.head {
		return nil, fmt.Errorf("payload: a record of %d bytes has no room for a stamp; give at least %d", smallest,
			c.head)
	}
	c.reserve(corpusFillBytes/(smallest+recordOverheadBytes), smallest-c.head)
	var source rand.PCG
	random := rand.New(&source)
	for !c.full() {
		// A body depends only on seed and number.
		number := len(c.index)
		source.Seed(spec.Seed, uint64(number))
		size := spec.Sizes.draw(random) - c.head
		start := len(c.bodies)
		c.bodies = generate(c.bodies, start+size, random, number)[:start+size]
		c.index = append(c.index, entry{uint32(start), crc32.Checksum(c.bodies[start:], castagnoli)})
	}
	c.index = append(c.index, entry{start: uint32(len(c.bodies))})
	return c, nil
}

func (c *Corpus) reserve(n, size int) {
	n += n/64 + 16
	c.index, c.bodies = make([]entry, 0, n), make([]byte, 0, min(n*size, corpusFillBytes))
}

func (c *Corpus) full() bool {
	n := len(c.index)
	batched := len(c.bodies) + n*(c.head+recordOverheadBytes)
	return batched >= corpusFillBytes && isPrime(n) || len(c.bodies) >= corpusMaxBytes/2
}

func isPrime(n int) bool {
	for d := 2; d*d <= n; d++ {
		if n%d == 0 {
			return false
		}
	}
	return n > 1
}

// File describes the file of the bodies; nil if they were generated.
func (c *Corpus) File() *FileStats { return c.file }

// Len returns the number of bodies.
func (c *Corpus) Len() int { return len(c.index) - 1 }

// Bytes returns the size of all bodies.
func (c *Corpus) Bytes() int64 { return int64(len(c.bodies)) }

// MeanBytes returns the mean size of a value, with its stamp.
func (c *Corpus) MeanBytes() float64 {
	return float64(len(c.bodies))/float64(c.Len()) + float64(c.head)
}

// ValueBytes returns the size of the value of record number sequence, with its stamp.
func (c *Corpus) ValueBytes(sequence uint64) int {
	at := sequence % uint64(len(c.index)-1)
	return c.head + int(c.index[at+1].start-c.index[at].start)
}

// PutHeader writes the stamp of record number sequence for a record without a stamp in its value.
func (c *Corpus) PutHeader(dst *Header, sequence uint64, stamp *Stamp) {
	stamp.put(dst[:], c.index[sequence%uint64(len(c.index)-1)].checksum)
}

// Value returns the value of record number sequence, in dst's memory if its capacity suffices. A nil stamp is the
// zero stamp; a corpus without stamps ignores it.
func (c *Corpus) Value(dst []byte, sequence uint64, stamp *Stamp) []byte {
	at := sequence % uint64(len(c.index)-1)
	body := c.bodies[c.index[at].start:c.index[at+1].start]
	size := c.head + len(body)
	if cap(dst) < size {
		dst = make([]byte, size)
	}
	dst = dst[:size]
	copy(dst[c.head:], body)
	if c.head > 0 {
		if stamp == nil {
			stamp = &Stamp{}
		}
		stamp.put(dst, c.index[at].checksum)
	}
	return dst
}
