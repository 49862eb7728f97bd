package segmentio

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// producer hands records to a Writer. The Writer never blocks and bounds nothing, so
// the producer counts what it holds; its queue is emptied by one goroutine (feed.go).
type producer struct {
	cfg       driver.ProducerConfig
	limit     int // of records held
	transport *kafka.Transport
	attempts  *attempts
	writer    *kafka.Writer // the feeder's, which replaces it
	met       bool          // the feeder's: the client has found the topic
	meter     meter.Meter
	line      meter.Line // of its connections
	settings  []driver.Setting

	closing context.Context
	close   context.CancelFunc
	fed     sync.WaitGroup
	wake    chan struct{}      // there is something to feed
	flushes chan chan struct{} // each is closed when its flush is done

	mu     sync.Mutex
	room   sync.Cond // held has sunk, or the producer closes
	queue  []kafka.Message
	held   int // records that were not handed back
	closed bool
}

var (
	_ driver.Producer     = (*producer)(nil)
	_ driver.WireCounter  = (*producer)(nil)
	_ driver.RequestTimer = (*producer)(nil)
)

// slot is what a driver.Record keeps in Native, and what goes with its message through
// the client (kafka.Message.WriterData).
type slot struct {
	owner     *driver.Record
	tag       uint64
	partition int32
	since     time.Time // when it was handed over, if there is a delivery timeout
}

// NewProducer opens a producing client. It does not wait for a broker.
func (s *segmentio) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	if err := driver.CheckProducer(s, cfg); err != nil {
		return nil, err
	}
	mechanism, err := login(cfg.Access)
	if err != nil {
		return nil, err
	}
	writer, err := writerOptions(cfg)
	if err != nil {
		return nil, err
	}
	transport, err := transportOptions(cfg)
	if err != nil {
		return nil, err
	}
	p := &producer{cfg: cfg, limit: cfg.MaxBuffered, wake: make(chan struct{}, 1), flushes: make(chan chan struct{})}
	if p.limit == 0 {
		p.limit = math.MaxInt // the client's own
	}
	p.room.L = &p.mu
	p.meter.NoAcks = cfg.Acks == driver.AcksNone
	p.closing, p.close = context.WithCancel(context.Background())
	p.transport = transport
	transport.Dial, transport.SASL = p.dialer(s.dialer(cfg.Access)), mechanism
	p.attempts = &attempts{
		transport: p.transport, closing: p.closing, delivery: cfg.DeliveryTimeout, acks: cfg.Acks,
		acked: p.meter.CountBatch, partitions: make(map[int32]*trial),
	}
	writer.Transport, writer.Balancer, writer.Completion = p.attempts, kafka.BalancerFunc(partitionOf), p.done
	p.writer = writer
	p.settings = producerSettings(writer, p.transport, cfg)
	p.fed.Go(p.feed)
	return p, nil
}

func slotOf(m *kafka.Message) *slot { return m.WriterData.(*slot) }

// partitionOf obeys the record's owner, also where the topic has no such partition: the
// transport finds that out.
func partitionOf(m kafka.Message, _ ...int) int { return int(slotOf(&m).partition) }

// Produce queues r. See driver.Producer.
func (p *producer) Produce(r *driver.Record) {
	s, ok := r.Native.(*slot)
	if !ok || s.owner != r {
		s = &slot{owner: r}
		r.Native = s
	}
	s.tag, s.partition = r.Tag, r.Partition
	if p.cfg.DeliveryTimeout > 0 {
		s.since = time.Now() // the record's own time may be any
	}
	m := kafka.Message{Key: r.Key, Value: r.Value, Time: r.Created, WriterData: s}
	if !p.enqueue(m) {
		p.hand(s, driver.Failed, -1, errClosed)
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// enqueue waits for room, and reports whether the producer is still open.
func (p *producer) enqueue(m kafka.Message) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.held >= p.limit && !p.closed {
		p.room.Wait()
	}
	if p.closed {
		return false
	}
	p.held++
	p.queue = append(p.queue, m)
	return true
}

// done is called by the Writer with what became of a batch, on the goroutine that made
// its attempts.
func (p *producer) done(messages []kafka.Message, err error) {
	outcome := p.attempts.of(slotOf(&messages[0]).partition).settle(len(messages), err)
	known := outcome == driver.Acked && p.cfg.Acks != driver.AcksNone
	for i := range messages {
		offset := int64(-1)
		if known {
			offset = messages[i].Offset
		}
		p.hand(slotOf(&messages[i]), outcome, offset, err)
	}
	p.release(len(messages))
}

// hand hands a record back. Once OnDone was called, its owner may be filling it again
// on another goroutine.
func (p *producer) hand(s *slot, outcome driver.Outcome, offset int64, err error) {
	p.cfg.OnDone(driver.Done{Record: s.owner, Tag: s.tag, Outcome: outcome, Offset: offset, Err: err})
}

// release makes room for as many records as were handed back.
func (p *producer) release(records int) {
	p.mu.Lock()
	p.held -= records
	p.mu.Unlock()
	p.room.Broadcast()
}

// dialer is the transport's.
func (p *producer) dialer(dial meter.Dial) meter.Dial {
	return watchProduce(dialer(p.line.Hang(dial), &p.meter, p.cfg.Access), p.cfg.ClientID, p.cfg.Topic,
		func(partition int32, bytes int) { p.attempts.of(partition).written.Store(int64(bytes)) })
}

// Flush has the Writer closed and replaced by another, on the same connections: there
// is no other way to make it send what it holds back. Records that are produced
// meanwhile wait.
func (p *producer) Flush(ctx context.Context) error {
	done := make(chan struct{})
	select {
	case p.flushes <- done:
	case <-ctx.Done():
		return fmt.Errorf("flush: %w", ctx.Err())
	case <-p.closing.Done():
		return fmt.Errorf("flush: %w", errClosed)
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("flush: %w", ctx.Err())
	}
}

// Settings are the fields of the client's Writer and Transport, by their names.
func (p *producer) Settings() []driver.Setting { return p.settings }

// Wire counts produced batches once a broker has taken them.
func (p *producer) Wire() driver.Wire { return p.meter.Wire() }

// Requests times produce requests.
func (p *producer) Requests() driver.Requests { return p.meter.Requests() }

// Close ends all attempts, and returns when every record is handed back. An attempt
// that the Writer is about to repeat holds it up, by a second at the most.
func (p *producer) Close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.room.Broadcast()
	p.close()
	p.fed.Wait()
	p.transport.CloseIdleConnections()
	p.line.Cut()
}
