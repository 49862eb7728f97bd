package segmentio

import (
	"context"
	"math"
	"sync"
	"time"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// The Writer never blocks and has no limit, so the producer counts its records. One goroutine empties its queue
// (feed.go).
type producer struct {
	cfg       driver.ProducerConfig
	limit     int // of records held
	transport *kafka.Transport
	attempts  *attempts
	writer    *kafka.Writer // owned by the feeder
	met       bool          // owned by the feeder: the client has found the topic
	meter     meter.Meter
	answers   meter.Answers
	line      meter.Line
	settings  []driver.Setting

	closing context.Context
	close   context.CancelFunc
	fed     sync.WaitGroup
	wake    chan struct{} // the queue is not empty

	mu     sync.Mutex
	room   sync.Cond // held has decreased, or the producer closes
	queue  []kafka.Message
	held   int
	closed bool
}

var (
	_ driver.Producer     = (*producer)(nil)
	_ driver.WireCounter  = (*producer)(nil)
	_ driver.RequestTimer = (*producer)(nil)
)

// slot is this driver's Record.Native, and the WriterData of the record's kafka.Message.
type slot struct {
	owner     *driver.Record
	tag       uint64
	partition int32
	since     time.Time // time of Produce, if there is a delivery timeout
}

func (s *segmentio) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	if err := driver.CheckProducer(s, cfg); err != nil {
		return nil, err
	}
	mechanism := login(cfg.Access)
	writer, err := writerOptions(cfg)
	if err != nil {
		return nil, err
	}
	transport, err := transportOptions(cfg)
	if err != nil {
		return nil, err
	}
	p := &producer{cfg: cfg, limit: cfg.MaxBuffered, wake: make(chan struct{}, 1)}
	if p.limit == 0 {
		p.limit = math.MaxInt
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

// partitionOf returns the record's partition, even if the topic does not have it: the transport detects that.
func partitionOf(m kafka.Message, _ ...int) int { return int(slotOf(&m).partition) }

func (p *producer) Produce(r *driver.Record) {
	s, ok := r.Native.(*slot)
	if !ok || s.owner != r {
		s = &slot{owner: r}
		r.Native = s
	}
	s.tag, s.partition = r.Tag, r.Partition
	if p.cfg.DeliveryTimeout > 0 {
		s.since = time.Now() // the record's own time may differ
	}
	m := kafka.Message{Key: r.Key, Value: r.Value, Time: r.Created, WriterData: s}
	if r.Stamp != nil {
		m.Headers = []kafka.Header{{Key: payload.HeaderName, Value: r.Stamp[:]}}
	}
	if !p.enqueue(m) {
		p.hand(s, driver.Failed, -1, errClosed)
		return
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// enqueue waits for space. It returns false if the producer is closed.
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

// The Writer calls done with the result of a batch, on the goroutine of its attempts.
func (p *producer) done(messages []kafka.Message, err error) {
	outcome := p.attempts.of(slotOf(&messages[0]).partition).settle(len(messages), err)
	if err != nil {
		err = p.answers.Explain(slotOf(&messages[0]).partition, code(err), err)
	}
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

// After OnDone, the record's owner may already reuse it on another goroutine.
func (p *producer) hand(s *slot, outcome driver.Outcome, offset int64, err error) {
	p.cfg.OnDone(driver.Done{Record: s.owner, Tag: s.tag, Outcome: outcome, Offset: offset, Err: err})
}

func (p *producer) release(records int) {
	p.mu.Lock()
	p.held -= records
	p.mu.Unlock()
	p.room.Broadcast()
}

func (p *producer) dialer(dial meter.Dial) meter.Dial {
	dial = watchProduce(dialer(p.line.Hang(dial), &p.meter, p.cfg.Access), p.cfg.ClientID, p.cfg.Topic,
		func(partition int32, bytes int) { p.attempts.of(partition).written.Store(int64(bytes)) })
	if p.cfg.Acks == driver.AcksNone {
		return dial
	}
	return p.answers.Watch(dial)
}

func (p *producer) Settings() []driver.Setting { return p.settings }

// Wire counts produced batches after a broker has accepted them.
func (p *producer) Wire() driver.Wire { return p.meter.Wire() }

func (p *producer) Requests() driver.Requests { return p.meter.Requests() }

// If the Writer waits between two attempts, Close takes up to 1 s longer.
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
