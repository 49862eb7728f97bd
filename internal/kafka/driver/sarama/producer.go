package sarama

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

// errClosed is the error of a record that comes after Close.
var errClosed = errors.New("the producer is closed")

// producer is one client, and a queue before it, because the client takes records one
// by one and holds its caller up while a partition of theirs has no leader. One
// goroutine empties the queue (feed.go).
type producer struct {
	network  network
	metadata *patientClient
	topic    string
	lingers  bool          // the client holds records back to fill a batch
	packs    bool          // compresses
	timeout  time.Duration // of deliveries; 0 is none
	onDone   func(driver.Done)
	settled  tally
	settings []driver.Setting

	mu     sync.Mutex
	queue  []*slot // records that the client was not given yet, the oldest first
	closed bool
	wake   chan struct{} // there is something in the queue
	pushes chan struct{} // what the client holds back is to be sent

	pending  atomic.Int64 // records that were not handed back
	idle     signal       // that there are none
	handlers sync.WaitGroup
	closing  sync.Once
	stop     chan struct{} // closed by Close
}

var (
	_ driver.Producer     = (*producer)(nil)
	_ driver.WireCounter  = (*producer)(nil)
	_ driver.RequestTimer = (*producer)(nil)
)

// slot is what a driver.Record keeps in Native: the client's record, and the record
// that it stands for.
type slot struct {
	message    ibm.ProducerMessage
	key, value content
	owner      *driver.Record
	tag        uint64
	since      time.Time     // when the record was handed over, if there is a delivery timeout
	before     meter.Traffic // when the client was given it
}

// content is a key or a value as the client takes it. A pointer to it fits into an
// interface without an allocation.
type content struct{ bytes []byte }

func (c *content) Encode() ([]byte, error) { return c.bytes, nil }
func (c *content) Length() int             { return len(c.bytes) }

// NewProducer opens a producing client. It does not wait for a broker: records that
// are produced while none can be reached end at the delivery timeout.
func (sarama) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	p := &producer{
		topic: cfg.Topic, timeout: cfg.DeliveryTimeout, onDone: cfg.OnDone,
		wake: make(chan struct{}, 1), pushes: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	config, err := producerConfig(cfg, &p.network)
	if err != nil {
		return nil, err
	}
	flush := config.Producer.Flush
	p.lingers = flush.Frequency > 0 || flush.Messages > 0 || flush.Bytes > 0
	p.packs = config.Producer.Compression != ibm.CompressionNone
	p.network.meter.NoAcks, p.network.meter.Batches = cfg.Acks == driver.AcksNone, true
	p.network.timeout = config.Net.DialTimeout
	client, err := ibm.NewClient(cfg.Brokers, config)
	if err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	p.metadata = newPatientClient(client, cfg.DeliveryTimeout, &p.settled, &p.network)
	p.settings = settings(config, producerSections, cfg.Access)
	p.handlers.Go(p.feed)
	return p, nil
}

// Produce queues r. It never blocks: the caller bounds what is queued
// (ProducerConfig.MaxBuffered). See driver.Producer.
func (p *producer) Produce(r *driver.Record) {
	s, ok := r.Native.(*slot)
	if !ok || s.owner != r {
		s = newSlot(r)
	}
	s.tag = r.Tag
	s.fill(p.topic, r)
	if p.timeout > 0 {
		s.since = time.Now() // the record's own time may be any
	}
	p.pending.Add(1)
	if !p.enqueue(s) {
		p.handBack(s, driver.Failed, -1, errClosed)
		return
	}
	notify(p.wake)
}

// enqueue reports whether the producer is still open.
func (p *producer) enqueue(s *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.queue = append(p.queue, s)
	return true
}

// notify leaves word, unless there is some already.
func notify(word chan struct{}) {
	select {
	case word <- struct{}{}:
	default:
	}
}

func newSlot(r *driver.Record) *slot {
	s := &slot{owner: r}
	s.message.Metadata = s
	r.Native = s
	return s
}

// fill makes the client's record of r. No key and no value are null in the log.
func (s *slot) fill(topic string, r *driver.Record) {
	m := &s.message
	m.Topic, m.Partition, m.Timestamp = topic, r.Partition, r.Created
	m.Offset = -1 // the client sets it, where a broker told
	m.Key, m.Value = nil, nil
	if r.Key != nil {
		s.key.bytes = r.Key
		m.Key = &s.key
	}
	if r.Value != nil {
		s.value.bytes = r.Value
		m.Value = &s.value
	}
}

// handBackAcked hands back what the brokers have acknowledged.
func (p *producer) handBackAcked(client ibm.AsyncProducer) {
	for message := range client.Successes() {
		s := message.Metadata.(*slot)
		p.settled.of(message.Partition).Add(1)
		if p.packs {
			p.network.meter.CountContent(len(s.owner.Key) + len(s.owner.Value) + meter.RecordBytes)
		}
		p.handBack(s, driver.Acked, message.Offset, nil)
	}
}

// handBackFailed hands back what the client has given up, but for its marks.
func (p *producer) handBackFailed(client ibm.AsyncProducer) {
	for failed := range client.Errors() {
		s, ours := failed.Msg.Metadata.(*slot)
		if !ours {
			continue
		}
		p.settled.of(failed.Msg.Partition).Add(1)
		during := p.network.meter.Traffic().Since(s.before)
		p.handBack(s, outcome(failed.Err, during), -1, failed.Err)
	}
}

// handBack ends the driver's part. Once OnDone was called, the owner of the record
// may be filling it again on another goroutine.
func (p *producer) handBack(s *slot, o driver.Outcome, offset int64, err error) {
	p.onDone(driver.Done{Record: s.owner, Tag: s.tag, Outcome: o, Offset: offset, Err: err})
	if p.pending.Add(-1) == 0 {
		p.idle.send()
	}
}

// Flush waits until nothing is in flight. What the client holds back to fill a batch
// is sent at once.
func (p *producer) Flush(ctx context.Context) error {
	if p.lingers && p.pending.Load() > 0 {
		notify(p.pushes)
	}
	for {
		sent := p.idle.next()
		if p.pending.Load() == 0 {
			return nil
		}
		select {
		case <-sent:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Settings are the client's by their names in its Config.
func (p *producer) Settings() []driver.Setting { return p.settings }

// Wire counts produced batches when they leave the client, each time they do.
func (p *producer) Wire() driver.Wire { return p.network.meter.Wire() }

// Requests times the produce requests on their connections.
func (p *producer) Requests() driver.Requests { return p.network.meter.Requests() }

// Close cuts the client's connections, which fails everything that it does, and
// returns when every record is handed back.
func (p *producer) Close() {
	p.closing.Do(func() {
		p.network.line.Cut()
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		close(p.stop)
		p.handlers.Wait()
		_ = p.metadata.Client.Close() // of connections that are closed already
	})
}
