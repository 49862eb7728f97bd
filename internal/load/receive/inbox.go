package receive

import (
	"sync"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// in records: the client pauses a partition above the high mark and resumes it below the low mark
const (
	inboxHigh = 512
	inboxLow  = 128
)

type inbox struct {
	mu     sync.Mutex
	filled sync.Cond
	chunks []parcel
	size   int
	closed bool
}

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
