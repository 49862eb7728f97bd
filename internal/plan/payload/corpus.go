package payload

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
)

// The size of a corpus. A batch of 1 MiB has records of one partition, which may
// be every twelfth of the load, or every hundredth. Two things keep a body from
// coming twice in it: all bodies together fill several such batches, and their
// number is prime, so that whoever gets every k-th record meets all bodies before
// he meets one again.
const (
	corpusFillBytes = 8 << 20
	corpusMaxBytes  = 32 << 20
	// recordOverheadBytes is what a record takes in a batch beside its key
	// and value, at least (record format v2).
	recordOverheadBytes = 7
)

// Spec says what the records of a run look like.
type Spec struct {
	Class   string // one of Classes
	Seed    uint64
	Sizes   Sizes
	Stamped bool // every record carries a stamp, within its size
}

// Corpus is the supply of bodies of a run. It is read-only and may be shared.
type Corpus struct {
	// bodies has all bodies one after the other: consecutive records read
	// consecutive memory.
	bodies []byte
	// index has an entry for each body, and one more that ends the last.
	index []entry
	head  int // bytes in front of a body
}

// entry is where a body begins, and its checksum.
type entry struct{ start, checksum uint32 }

// NewCorpus makes the bodies, in some 10 to 300 ms. They take about 8 MiB; more
// where they are large, but above 32 MiB only where one alone is above 16.
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
		// Each body has a generator of its own, so that it depends on seed
		// and number alone.
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

// reserve makes room for n bodies, and for those more that make their number prime.
func (c *Corpus) reserve(n, size int) {
	n += n/64 + 16
	c.index, c.bodies = make([]entry, 0, n), make([]byte, 0, min(n*size, corpusFillBytes))
}

// full reports whether there are bodies enough. It is asked before the index has
// its last entry.
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

// Len is the number of bodies: the period after which they repeat.
func (c *Corpus) Len() int { return len(c.index) - 1 }

// Bytes is the memory that the bodies take.
func (c *Corpus) Bytes() int64 { return int64(len(c.bodies)) }

// MeanBytes is the mean size of a value, stamp included.
func (c *Corpus) MeanBytes() float64 {
	return float64(len(c.bodies))/float64(c.Len()) + float64(c.head)
}

// ValueBytes is the size of the value of record number sequence, stamp included.
func (c *Corpus) ValueBytes(sequence uint64) int {
	at := sequence % uint64(len(c.index)-1)
	return c.head + int(c.index[at+1].start-c.index[at].start)
}

// Value returns the value of record number sequence, in dst's memory where that
// has the capacity. A corpus without stamps does not read stamp; in one with
// stamps, nil is the zero stamp.
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
