package sarama

import (
	"context"
	"slices"
	"sync"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// maxReady bounds the records of a partition that lie ready for a poll. The client
// holds as much again in its channel, and the rest of a fetch behind it.
const maxReady = 2048

// shelf is where the goroutines that empty the client's channels and the caller's
// polls meet: what is ready of each partition, and who may touch it when.
//
// The client lets a rebalance happen at any moment, also between handing out records
// and the caller's taking note of them. So a callback waits until the caller is
// within a poll or will not poll again, and polls return nothing while one runs or
// waits: all that was returned of a partition is known to the caller when it is
// revoked, and nothing of it comes afterwards.
type shelf struct {
	mu      sync.Mutex
	news    chan struct{} // there is something for the poll to look at
	changed sync.Cond     // there is something for the others to look at

	ready   []*claim // that have records, in the order of their coming
	claims  map[int32]*claim
	paused  map[int32]bool
	allowed bool // a rebalance, by the caller
	rushed  bool // nobody waits for the caller any more
	moves   int  // callbacks that run or wait
	failed  error
	content func(bytes int) // counts keys and values

	buffers sync.Pool // of *buffer
	chunks  []driver.Chunk
}

// claim is a partition that the consumer has, for as long as it has it.
type claim struct {
	partition int32
	ended     bool // nobody wants its records any more
	listed    bool // in ready
	buffer    *buffer
	highWater int64
}

// buffer is the memory of one chunk's records.
type buffer struct {
	records []driver.Received
	taken   int // of the front, by polls that were bounded
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
		clear(b.records) // or the pool would hold on to the fetched bytes
		b.records, b.taken = b.records[:0], 0
		s.buffers.Put(b)
	}
	return b
}

// wake makes the poll look again.
func (s *shelf) wake() {
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// begin waits until the caller allows a rebalance, and then holds its polls up until
// end. Callbacks come one at a time because the client has them so.
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

// rush lets everything go on that waits for the caller, who polls no more.
func (s *shelf) rush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rushed = true
	s.changed.Broadcast()
	s.wake()
}

// fail ends the polls with err, once what is ready was returned.
func (s *shelf) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed == nil {
		s.failed = err
	}
	s.wake()
}

// own makes the partitions the consumer's.
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

// disown drops what is ready of the partitions, with their pauses.
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

// letGo has the goroutines stop that fill the shelf, and leaves what is ready.
func (s *shelf) letGo(claims []*claim) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range claims {
		c.ended = true
	}
	s.changed.Broadcast()
}

// put empties a partition's channel onto the shelf until it is closed, or nobody
// wants its records any more. One goroutine of each partition does. It returns the
// offset after the last record that is on the shelf, 0 if none is.
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
	total := len(batch) * meter.RecordBytes
	for i := range batch {
		total += len(batch[i].Key) + len(batch[i].Value)
	}
	return total
}

func received(m *ibm.ConsumerMessage) driver.Received {
	return driver.Received{Offset: m.Offset, Key: m.Key, Value: m.Value}
}

// add puts records on the shelf when there is room for them, and tells whether
// anybody wants them.
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

// poll waits for records, and returns at most that many of them, or all that are
// ready if atMost is 0.
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

// take makes chunks of what is ready. The caller holds the lock.
func (s *shelf) take(atMost int) {
	s.chunks = s.chunks[:0]
	full := false // whoever waits for room
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
		// The others come first the next time.
		s.ready = append(s.ready[:copy(s.ready, s.ready[1:])], c)
		left = 0
	}
	if full {
		s.changed.Broadcast()
	}
}

// all is a chunk of all that is ready, and leaves next in its place.
func (c *claim) all(next *buffer) driver.Chunk {
	b := c.buffer
	c.buffer = next
	return driver.Chunk{Partition: c.partition, HighWatermark: c.highWater, Records: b.records[b.taken:], Free: b.free}
}

// some is a chunk of the first n records that are ready, copied into b.
func (c *claim) some(n int, b *buffer) driver.Chunk {
	from := c.buffer
	b.records = append(b.records[:0], from.records[from.taken:from.taken+n]...)
	from.taken += n
	if from.taken > len(from.records)/2 { // or it would grow as long as it is not emptied
		rest := copy(from.records, from.records[from.taken:])
		clear(from.records[rest:])
		from.records, from.taken = from.records[:rest], 0
	}
	return driver.Chunk{Partition: c.partition, HighWatermark: c.highWater, Records: b.records, Free: b.free}
}

// pause has polls return nothing of the partitions until resume.
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

// resume has polls return the partitions' records again, from where they stopped.
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
