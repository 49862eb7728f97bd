package sarama

import (
	"context"
	"slices"
	"sync"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// maxReady limits the records of a partition that are ready for a poll.
const maxReady = 2048

// shelf is between the goroutines that empty the client's channels and the caller's polls. It holds each
// partition's ready records.
//
// The client allows a rebalance at any moment. So a callback waits until the caller is within a poll or will not
// poll again, and polls return nothing meanwhile. So at a revocation the caller already has every
// record that polls returned from the partition, and no more follow.
type shelf struct {
	mu      sync.Mutex
	news    chan struct{} // the poll must check again
	changed sync.Cond     // the other waiting goroutines must check again

	ready   []*claim // with records, in the order of arrival
	claims  map[int32]*claim
	paused  map[int32]bool
	allowed bool
	rushed  bool // the caller will not poll again
	moves   int  // callbacks that run or wait
	failed  error
	content func(bytes int) // counts keys and values

	buffers sync.Pool
	chunks  []driver.Chunk
}

type claim struct {
	partition int32
	ended     bool // no more records are wanted
	listed    bool
	buffer    *buffer
	highWater int64
}

type buffer struct {
	records []driver.Received
	taken   int // from the front, by limited polls
	free    func()
}

func newShelf() *shelf {
	s := &shelf{
		news:   make(chan struct{}, 1),
		claims: make(map[int32]*claim), paused: make(map[int32]bool),
		allowed: true, // until a poll has returned records
	}
	s.changed.L = &s.mu
	s.buffers.New = s.newBuffer
	return s
}

func (s *shelf) newBuffer() any {
	b := &buffer{}
	b.free = func() {
		clear(b.records) // the pool must not keep fetched bytes alive
		b.records, b.taken = b.records[:0], 0
		s.buffers.Put(b)
	}
	return b
}

func (s *shelf) wake() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// begin waits until the caller allows a rebalance, and then holds back the caller's polls until
// end.
func (s *shelf) begin() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves++
	for !s.allowed && !s.rushed {
		s.changed.Wait()
	}
}

func (s *shelf) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves--
	s.wake()
}

func (s *shelf) rush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rushed = true
	s.changed.Broadcast()
	s.wake()
}

// fail makes polls return err after the ready records.
func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	s.wake()
}

func (s *shelf) own(partitions []int32) []*claim {
	s.mu.Lock()
	defer s.mu.Unlock()
	claims := make([]*claim, len(partitions))
	for i, p := range partitions {
		claims[i] = &claim{partition: p, buffer: s.buffers.Get().(*buffer)}
		s.claims[p] = claims[i]
	}
	return claims
}

func (s *shelf) disown(partitions []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range partitions {
		if c := s.claims[p]; c != nil {
			c.ended = true
			delete(s.claims, p)
		}
		delete(s.paused, p)
	}
	s.ready = slices.DeleteFunc(s.ready, func(c *claim) bool { return c.ended })
	s.changed.Broadcast()
}

// letGo stops the goroutines that fill the shelf, and keeps the ready records.
func (s *shelf) letGo(claims []*claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		c.ended = true
	}
	s.changed.Broadcast()
}

// put moves records to the shelf until the channel is closed or the claim ends. Each partition has
// its own goroutine that calls put. put returns the offset after the last record that it moved; 0
// without a record.
func (s *shelf) put(partition int32, messages <-chan *ibm.ConsumerMessage, highWater func() int64) (next int64) {
	s.mu.Lock()
	c := s.claims[partition]
	s.mu.Unlock()
	if c == nil {
		return 0
	}
	batch := make([]driver.Received, 0, maxReady/2)
	for message := range messages {
		batch = append(batch[:0], received(message))
		for more := true; more && len(batch) < cap(batch); {
			select {
			case message, more = <-messages:
				if more {
					batch = append(batch, received(message))
				}
			default:
				more = false
			}
		}
		s.content(bytesOf(batch))
		if !s.add(c, batch, highWater()) {
			return next
		}
		next = batch[len(batch)-1].Offset + 1
		clear(batch)
	}
	return next
}

func bytesOf(batch []driver.Received) int {
	total := 0
	for i := range batch {
		total += contentBytes(batch[i].Key, batch[i].Value, batch[i].Stamp)
	}
	return total
}

func contentBytes(key, value []byte, stamp *payload.Header) int {
	bytes := len(key) + len(value) + meter.RecordBytes
	if stamp != nil {
		bytes += payload.HeaderBytes
	}
	return bytes
}

func received(m *ibm.ConsumerMessage) driver.Received {
	return driver.Received{Offset: m.Offset, Key: m.Key, Value: m.Value, Stamp: stampIn(m.Headers)}
}

func stampIn(headers []*ibm.RecordHeader) *payload.Header {
	for _, h := range headers {
		if stamp := payload.HeaderOf(string(h.Key), h.Value); stamp != nil {
			return stamp
		}
	}
	return nil
}

// add returns false if the claim has ended.
func (s *shelf) add(c *claim, batch []driver.Received, highWater int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for !c.ended && len(c.buffer.records)-c.buffer.taken >= maxReady {
		s.changed.Wait()
	}
	if c.ended {
		return false
	}
	c.buffer.records = append(c.buffer.records, batch...)
	c.highWater = highWater
	if !c.listed && !s.paused[c.partition] {
		c.listed = true
		s.ready = append(s.ready, c)
		s.wake()
	}
	return true
}

// poll returns at most atMost records; 0 means all that are ready.
func (s *shelf) poll(ctx context.Context, atMost int) ([]driver.Chunk, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.allowed = true
	if s.moves > 0 {
		s.changed.Broadcast()
	}
	for {
		if s.moves == 0 {
			if s.failed != nil && (s.rushed || len(s.ready) == 0) {
				return nil, s.failed
			}
			if s.take(atMost); len(s.chunks) > 0 {
				s.allowed = false
				return s.chunks, nil
			}
		}
		s.mu.Unlock()
		select {
		case <-s.news:
			s.mu.Lock()
		case <-ctx.Done():
			s.mu.Lock()
			return nil, nil
		}
	}
}

// The caller of take holds the lock.
func (s *shelf) take(atMost int) {
	s.chunks = s.chunks[:0]
	full := false // some put may wait for space
	left := atMost
	for len(s.ready) > 0 && (atMost == 0 || left > 0) {
		c := s.ready[0]
		full = full || len(c.buffer.records)-c.buffer.taken >= maxReady
		if n := len(c.buffer.records) - c.buffer.taken; atMost == 0 || n <= left {
			left -= n
			s.chunks = append(s.chunks, c.all(s.buffers.Get().(*buffer)))
			c.listed = false
			s.ready = s.ready[:copy(s.ready, s.ready[1:])]
			continue
		}
		s.chunks = append(s.chunks, c.some(left, s.buffers.Get().(*buffer)))
		// The next poll begins with another partition.
		s.ready = append(s.ready[:copy(s.ready, s.ready[1:])], c)
		left = 0
	}
	if full {
		s.changed.Broadcast()
	}
}

func (c *claim) all(next *buffer) driver.Chunk {
	b := c.buffer
	c.buffer = next
	return driver.Chunk{Partition: c.partition, HighWatermark: c.highWater, Records: b.records[b.taken:], Free: b.free}
}

// some copies the records into b.
func (c *claim) some(n int, b *buffer) driver.Chunk {
	from := c.buffer
	b.records = append(b.records[:0], from.records[from.taken:from.taken+n]...)
	from.taken += n
	if from.taken > len(from.records)/2 { // otherwise the buffer would grow until it is empty
		rest := copy(from.records, from.records[from.taken:])
		clear(from.records[rest:])
		from.records, from.taken = from.records[:rest], 0
	}
	return driver.Chunk{Partition: c.partition, HighWatermark: c.highWater, Records: b.records, Free: b.free}
}

func (s *shelf) pause(partitions []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range partitions {
		s.paused[p] = true
	}
	s.ready = slices.DeleteFunc(s.ready, func(c *claim) bool {
		if s.paused[c.partition] {
			c.listed = false
		}
		return !c.listed
	})
}

func (s *shelf) resume(partitions []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range partitions {
		delete(s.paused, p)
		if c := s.claims[p]; c != nil && !c.listed && len(c.buffer.records) > c.buffer.taken {
			c.listed = true
			s.ready = append(s.ready, c)
		}
	}
	s.wake()
}

func (s *shelf) isPaused(partition int32) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.paused[partition]
}
