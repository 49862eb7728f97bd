package segmentio

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// partition is a Reader, and a goroutine that moves its records, one by one, to a buffer. The
// client has no call that waits for records of several partitions, or that returns more than one
// record.
type partition struct {
	id     int32
	count  func(bytes int)
	ready  func() // the buffer is no longer empty
	report func(error)

	reader *kafka.Reader
	line   meter.Line
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup

	waiting atomic.Int64 // records in the buffer, readable without the lock

	mu      sync.Mutex
	room    sync.Cond // the buffer was taken, or the partition ends
	filled  *driver.Buffer
	bytes   int
	high    int64 // watermark
	started bool
	paused  bool
}

// The Reader also prefetches as many records as its queue holds (kafka.ReaderConfig.QueueCapacity), and what is in
// its socket.
const (
	bufferRecords = 1000
	bufferBytes   = 1 << 20
)

func (p *partition) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.started && !p.paused && p.ctx.Err() == nil {
		p.started = true
		p.work.Go(p.pump)
	}
}

func (p *partition) pump() {
	for {
		m, err := p.reader.FetchMessage(p.ctx)
		switch {
		case p.ctx.Err() != nil:
			return
		case err != nil:
			p.report(err)
		default:
			p.count(recordBytes(&m))
			p.put(&m)
		}
	}
}

func (p *partition) put(m *kafka.Message) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.full() && p.ctx.Err() == nil {
		p.room.Wait()
	}
	p.filled.Records = append(p.filled.Records, driver.Received{
		Offset: m.Offset, Key: m.Key, Value: m.Value, Stamp: stampIn(m.Headers),
	})
	p.bytes += len(m.Key) + len(m.Value)
	p.high = m.HighWaterMark
	if p.waiting.Add(1) == 1 {
		p.ready()
	}
}

func stampIn(headers []kafka.Header) *payload.Header {
	for _, h := range headers {
		if stamp := payload.HeaderOf(h.Key, h.Value); stamp != nil {
			return stamp
		}
	}
	return nil
}

// The caller of full holds the lock.
func (p *partition) full() bool {
	n := len(p.filled.Records)
	return n >= bufferRecords || n > 0 && p.bytes >= bufferBytes
}

// take returns at most atMost records; 0 means no limit.
func (p *partition) take(atMost int, buffers *driver.Buffers) (chunk driver.Chunk, some bool) {
	if p.waiting.Load() == 0 {
		return chunk, false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.paused {
		return chunk, false
	}
	full, rest := p.filled, buffers.Get()
	p.bytes = 0
	if n := len(full.Records); atMost > 0 && n > atMost {
		for _, r := range full.Records[atMost:] {
			p.bytes += len(r.Key) + len(r.Value)
			rest.Records = append(rest.Records, r)
		}
		clear(full.Records[atMost:])
		full.Records = full.Records[:atMost]
	}
	p.filled = rest
	p.waiting.Store(int64(len(rest.Records)))
	p.room.Signal()
	return driver.Chunk{Partition: p.id, HighWatermark: p.high, Records: full.Records, Free: full.Free}, true
}

func (p *partition) pause() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.paused = true
}

func (p *partition) resume() {
	p.mu.Lock()
	p.paused = false
	p.mu.Unlock()
	p.start()
	if p.waiting.Load() > 0 {
		p.ready()
	}
}

// end first cuts the Reader's connections, because closing waits for a current fetch.
func (p *partition) end() {
	p.cancel()
	p.mu.Lock()
	p.room.Signal()
	p.mu.Unlock()
	p.line.Cut()
	_ = p.reader.Close() // its error is always nil
	p.work.Wait()
}
