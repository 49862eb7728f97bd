package segmentio

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// The group is a ConsumerGroup of the client (membership.go), whose rebalances wait at the gate. Each partition has
// its own Reader (partition.go).
type consumer struct {
	cfg    driver.ConsumerConfig // with the line's callbacks
	reader kafka.ReaderConfig    // of every partition, without number and dialer
	dial   meter.Dial
	meter  meter.Meter
	life   meter.Line
	line   meter.Line // only the connections; Close cuts it

	compressed atomic.Bool
	unpacked   atomic.Int64 // bytes of records from compressed batches

	settings []driver.Setting
	chunks   []driver.Chunk // the result of Poll, reused
	buffers  driver.Buffers
	gate     *gate
	news     chan struct{} // Poll must check again
	running  sync.WaitGroup
	ctx      context.Context
	cancel   context.CancelFunc
	closing  sync.Once
	group    *kafka.ConsumerGroup // nil: assigned by hand

	mu           sync.Mutex
	partitions   []*partition // by number
	first        int          // the partition that the next poll begins with
	paused       map[int32]bool
	generation   *kafka.Generation
	failed       error
	unknownSince time.Time // of the topic; zero while it is known
}

var (
	_ driver.Consumer     = (*consumer)(nil)
	_ driver.Pauser       = (*consumer)(nil)
	_ driver.Killer       = (*consumer)(nil)
	_ driver.WireCounter  = (*consumer)(nil)
	_ driver.RequestTimer = (*consumer)(nil)
)

func (s *segmentio) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	if err := driver.CheckConsumer(s, cfg); err != nil {
		return nil, err
	}
	reader, err := readerOptions(cfg)
	if err != nil {
		return nil, err
	}
	dialer, err := dialerOptions(cfg)
	if err != nil {
		return nil, err
	}
	mechanism := login(cfg.Access)
	c := &consumer{gate: newGate(), news: make(chan struct{}, 1), paused: make(map[int32]bool)}
	c.cfg = c.life.Callbacks(cfg)
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.dial = c.line.Hang(c.life.Hang(s.dialer(cfg.Access)))
	c.reader = reader
	c.reader.Dialer = dialer
	dialer.SASLMechanism = mechanism
	if cfg.Group == "" {
		c.settings = consumerSettings(c.reader, kafka.ConsumerGroupConfig{}, cfg)
		c.running.Go(func() { c.own(cfg.Partitions) })
		return c, nil
	}
	if err := c.join(cfg); err != nil {
		c.cancel()
		return nil, err
	}
	return c, nil
}

func (c *consumer) dialer(dial meter.Dial) *kafka.Dialer {
	d := *c.reader.Dialer
	d.DialFunc = watchFetch(dialer(dial, &c.meter, c.cfg.Access), c.countBatch)
	return &d
}

func (c *consumer) own(starts map[int32]int64) {
	ids := slices.Sorted(maps.Keys(starts))
	c.cfg.OnAssigned(ids)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		p := c.open(id, starts[id])
		p.paused = c.paused[id]
		c.partitions = append(c.partitions, p)
		p.start()
	}
}

func (c *consumer) open(id int32, next int64) *partition {
	p := &partition{id: id, filled: c.buffers.Get(), ready: c.notify, count: c.countRecord}
	p.room.L = &p.mu
	p.ctx, p.cancel = context.WithCancel(c.ctx)
	p.report = func(err error) {
		if p.ctx.Err() == nil {
			c.report(fmt.Errorf("fetch %s/%d: %w", c.cfg.Topic, id, err))
		}
	}
	cfg := c.reader
	cfg.Partition, cfg.Dialer = int(id), c.dialer(p.line.Hang(c.dial))
	// The Reader logs the errors that it does not return because it retries.
	cfg.ErrorLogger = kafka.LoggerFunc(func(format string, values ...any) { p.report(fmt.Errorf(format, values...)) })
	p.reader = kafka.NewReader(cfg)
	_ = p.reader.SetOffset(next) // fails only if it is closed
	return p
}

// disown returns the partitions' numbers. Their Readers end in the background.
func (c *consumer) disown() []int32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	ids := make([]int32, len(c.partitions))
	for i, p := range c.partitions {
		ids[i] = p.id
		c.running.Go(p.end)
	}
	c.partitions, c.first = nil, 0
	clear(c.paused)
	return ids
}

func (c *consumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	c.gate.settle()
	c.chunks = c.chunks[:0]
	for {
		if err := c.failure(); err != nil {
			return nil, err
		}
		c.gate.take(c.take)
		if len(c.chunks) > 0 {
			return c.chunks, nil
		}
		select {
		case <-c.news:
		case <-c.ctx.Done():
		case <-ctx.Done():
			return nil, c.failure()
		}
	}
}

func (c *consumer) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.failed != nil:
		return c.failed
	case c.life.IsCut():
		return meter.ErrKilled
	case c.ctx.Err() != nil:
		return errors.New("the consumer was closed")
	}
	return nil
}

// Each poll begins with another partition.
func (c *consumer) take() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	left := c.cfg.MaxPollRecords
	for i := range c.partitions {
		p := c.partitions[(c.first+i)%len(c.partitions)]
		chunk, some := p.take(left, &c.buffers)
		if !some {
			continue
		}
		c.chunks = append(c.chunks, chunk)
		if left -= len(chunk.Records); c.cfg.MaxPollRecords > 0 && left == 0 {
			c.first = (c.first + i + 1) % len(c.partitions)
			c.notify()
			break
		}
	}
	return len(c.chunks) > 0
}

func (c *consumer) notify() {
	select {
	case c.news <- struct{}{}:
	default:
	}
}

func (c *consumer) report(err error) {
	c.mu.Lock()
	ends := c.ends(err)
	if ends {
		c.failed = errors.Join(c.failed, err)
	}
	c.mu.Unlock()
	if ends {
		c.notify()
		return
	}
	c.cfg.OnError(err)
}

// The client has no call for a pause. So the driver stops taking a Reader's records, and the Reader
// stops fetching when its queue is full. A partition that is paused before its first fetch does not
// fetch.
func (c *consumer) Pause(partitions ...int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range partitions {
		c.paused[id] = true
		if p := c.owned(id); p != nil {
			p.pause()
		}
	}
}

func (c *consumer) Resume(partitions ...int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range partitions {
		delete(c.paused, id)
		if p := c.owned(id); p != nil {
			p.resume()
		}
	}
}

// owned returns nil for a partition that the consumer does not have. The caller holds the lock.
func (c *consumer) owned(id int32) *partition {
	i, found := slices.BinarySearchFunc(c.partitions, id,
		func(p *partition, id int32) int { return int(p.id) - int(id) })
	if !found {
		return nil
	}
	return c.partitions[i]
}

func (c *consumer) Settings() []driver.Setting { return c.settings }

// Wire counts fetched batches when they arrive, and the uncompressed bytes of compressed batches
// when the Reader returns their records. These bytes are slightly too few, because the size of
// times and offsets is unknown.
func (c *consumer) Wire() driver.Wire {
	w := c.meter.Wire()
	w.UncompressedBytes += c.unpacked.Load()
	return w
}

func (c *consumer) countBatch(records, bytes int, compressed bool) {
	c.compressed.Store(compressed)
	if compressed {
		c.meter.CountBatch(records, 0, bytes)
		return
	}
	c.meter.CountBatch(records, bytes, bytes)
}

func (c *consumer) countRecord(bytes int) {
	if c.compressed.Load() {
		c.unpacked.Add(int64(bytes))
	}
}

func (c *consumer) Requests() driver.Requests { return c.meter.Requests() }

func (c *consumer) Kill() {
	c.life.Cut()
	c.cancel()
	c.gate.shut()
}

// Close cuts off a current join, because a broker may take half a minute to answer it.
func (c *consumer) Close() {
	c.closing.Do(func() {
		c.gate.shut()
		if c.group != nil {
			cut := time.AfterFunc(leaveTimeout, c.line.Cut)
			_ = c.group.Close() // its error is always nil
			cut.Stop()
		}
		c.cancel()
		c.disown()
		c.running.Wait()
		c.line.Cut()
	})
}

const leaveTimeout = 3 * time.Second
