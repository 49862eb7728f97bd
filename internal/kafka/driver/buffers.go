package driver

import "sync"

// Buffer is the memory of one chunk's records, for a driver to fill. Free, which is the
// chunk's, gives it back to where it was taken from.
type Buffer struct {
	Records []Received
	Free    func()
}

// Buffers are used again and again, so that a steady state allocates nothing. The zero
// value is ready for use, on any goroutine.
type Buffers struct{ pool sync.Pool }

// Get takes a buffer without records.
func (b *Buffers) Get() *Buffer {
	if free, ok := b.pool.Get().(*Buffer); ok {
		return free
	}
	fresh := &Buffer{}
	fresh.Free = func() {
		clear(fresh.Records) // or the pool would hold on to the bytes of keys and values
		fresh.Records = fresh.Records[:0]
		b.pool.Put(fresh)
	}
	return fresh
}
