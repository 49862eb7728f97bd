package receive

import (
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Marks of a partition's inbox, in records. Above the high mark the member pauses the partition; below the low mark
// it resumes it. Kafka's own consumers return up to 500 records a poll.
const (
	inboxHigh = 512
	inboxLow  = 128
)

// inbox holds the records polled for one partition until its worker takes them. It holds at most inboxHigh records
// plus one poll, because the member pauses the partition above inboxHigh.
type inbox struct {
	mu     sync.Mutex
	filled sync.Cond
	chunks []parcel
	size   int // records
	closed bool
}

// parcel is a chunk and the time at which the poll returned it.
type parcel struct {
	driver.Chunk
	there int64
}

func newInbox() *inbox {
	b := &inbox{}
	b.filled.L = &b.mu
	return b
}

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

func (b *inbox) done(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.size -= n
}

func (b *inbox) records() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// close drops waiting records; the partition's next owner fetches them again.
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
