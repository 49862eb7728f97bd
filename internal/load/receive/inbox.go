package receive

import (
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The marks between which a partition's inbox is kept, in records: above the
// high one the member stops fetching the partition, below the low one it goes
// on. Kafka's own consumers hand out up to 500 records a poll.
const (
	inboxHigh = 512
	inboxLow  = 128
)

// inbox holds what a member has polled for one partition until the partition's
// worker takes it. It is bounded by inboxHigh and what one poll returns, because
// the partition is paused above it.
type inbox struct {
	mu     sync.Mutex
	filled sync.Cond
	chunks []parcel
	size   int // records
	closed bool
}

// parcel is a chunk and when the poll returned it.
type parcel struct {
	driver.Chunk
	there int64
}

func newInbox() *inbox {
	b := &inbox{}
	b.filled.L = &b.mu
	return b
}

// put adds a chunk.
func (b *inbox) put(c parcel) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		c.free()
		return
	}
	b.chunks = append(b.chunks, c)
	b.size += len(c.Records)
	b.filled.Signal()
}

// take waits for a chunk; ok is false once the inbox is closed.
func (b *inbox) take() (c parcel, ok bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.chunks) == 0 && !b.closed {
		b.filled.Wait()
	}
	if b.closed {
		return parcel{}, false
	}
	c = b.chunks[0]
	b.chunks = append(b.chunks[:0], b.chunks[1:]...)
	return c, true
}

// done says that n records were worked through.
func (b *inbox) done(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size -= n
}

// records is how many records were put and not worked through.
func (b *inbox) records() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// close drops what was not taken: it was not handed over, and whoever owns the
// partition next will fetch it again.
func (b *inbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, c := range b.chunks {
		c.free()
	}
	b.chunks = nil
	b.filled.Broadcast()
}

func (c parcel) free() {
	if c.Free != nil {
		c.Free()
	}
}
