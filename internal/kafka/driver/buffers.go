package driver

import "sync"

// Buffer is the memory for one chunk's records. Free serves as the chunk's Free, and returns the
// Buffer to its Buffers.
type Buffer struct {
	Records []Received
	Free    func()
}

// Buffers is a pool of reused buffers. It is safe for concurrent use, and its zero value is ready.
type Buffers struct{ pool sync.Pool }

// Get returns a buffer without records.
func (b *Buffers) Get() *Buffer {
	if free, ok := b.pool.Get().(*Buffer); ok {
		return free
	}
	fresh := &Buffer{}
	fresh.Free = func() {
		clear(fresh.Records) // the pool must not keep keys and values alive
		fresh.Records = fresh.Records[:0]
		b.pool.Put(fresh)
	}
	return fresh
}
