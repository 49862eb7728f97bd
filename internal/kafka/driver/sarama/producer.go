package sarama

import (
	"errors"
	"fmt"
	"sync"
	"time"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

var errClosed = errors.New("the producer is closed")

// The client blocks its caller while a partition has no leader, so records wait in a queue, which one goroutine
// empties (feed.go).
type producer struct {
	network  network
	answers  meter.Answers
	metadata *patientClient
	topic    string
	lingers  bool
	packs    bool          // compresses
	timeout  time.Duration // of deliveries; 0 means none
	onDone   func(driver.Done)
	settled  tally
	settings []driver.Setting

	mu     sync.Mutex
	queue  []*slot // records that the client did not get yet, the oldest first
	closed bool
	wake   chan struct{} // the queue is not empty

	handlers sync.WaitGroup
	closing  sync.Once
	stop     chan struct{}
}

var (
	_ driver.Producer     = (*producer)(nil)
	_ driver.WireCounter  = (*producer)(nil)
	_ driver.RequestTimer = (*producer)(nil)
)

// slot is this driver's Record.Native.
type slot struct {
	message    ibm.ProducerMessage
	key, value content
	owner      *driver.Record
	tag        uint64
	since      time.Time     // time of Produce, if there is a delivery timeout
	before     meter.Traffic // when the client got it
}

// A pointer to content becomes an interface without an allocation.
type content struct{ bytes []byte }

func (c *content) Encode() ([]byte, error) { return c.bytes, nil }
func (c *content) Length() int             { return len(c.bytes) }

var stampName = []byte(payload.HeaderName)

func (sarama) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	p := &producer{
		topic: cfg.Topic, timeout: cfg.DeliveryTimeout, onDone: cfg.OnDone,
		wake: make(chan struct{}, 1), stop: make(chan struct{}),
	}
	config, err := producerConfig(cfg, &p.network)
	if err != nil {
		return nil, err
	}
	p.lingers = config.Producer.Flush.Frequency > 0
	p.packs = config.Producer.Compression != ibm.CompressionNone
	p.network.meter.NoAcks, p.network.meter.Batches = cfg.Acks == driver.AcksNone, true
	p.network.timeout = config.Net.DialTimeout
	if cfg.Acks != driver.AcksNone {
		p.network.answers = &p.answers
	}
	client, err := ibm.NewClient(cfg.Brokers, config)
	if err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	p.metadata = newPatientClient(client, cfg.DeliveryTimeout, &p.settled, &p.network)
	p.settings = settings(config, producerSections, cfg.Access)
	p.handlers.Go(p.feed)
	return p, nil
}

// Produce never blocks: the caller limits the queue (ProducerConfig.MaxBuffered).
func (p *producer) Produce(r *driver.Record) {
	s, ok := r.Native.(*slot)
	if !ok || s.owner != r {
		s = newSlot(r)
	}
	s.tag = r.Tag
	s.fill(p.topic, r)
	if p.timeout > 0 {
		s.since = time.Now() // the record's own time may differ
	}
	if !p.enqueue(s) {
		p.handBack(s, driver.Failed, -1, errClosed)
		return
	}
	notify(p.wake)
}

// enqueue returns false if the producer is closed.
func (p *producer) enqueue(s *slot) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.queue = append(p.queue, s)
	return true
}

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

// A nil key or value is null in the log.
func (s *slot) fill(topic string, r *driver.Record) {
	m := &s.message
	m.Topic, m.Partition, m.Timestamp = topic, r.Partition, r.Created
	m.Offset = -1 // the client sets it if a broker reported it
	m.Key, m.Value, m.Headers = nil, nil, m.Headers[:0]
	if r.Key != nil {
		s.key.bytes = r.Key
		m.Key = &s.key
	}
	if r.Value != nil {
		s.value.bytes = r.Value
		m.Value = &s.value
	}
	if r.Stamp != nil {
		m.Headers = append(m.Headers, ibm.RecordHeader{Key: stampName, Value: r.Stamp[:]})
	}
}

func (p *producer) handBackAcked(client ibm.AsyncProducer) {
	for message := range client.Successes() {
		s := message.Metadata.(*slot)
		p.settled.of(message.Partition).Add(1)
		if p.packs {
			p.network.meter.CountContent(contentBytes(s.owner.Key, s.owner.Value, s.owner.Stamp))
		}
		p.handBack(s, driver.Acked, message.Offset, nil)
	}
}

// handBackFailed ignores marks.
func (p *producer) handBackFailed(client ibm.AsyncProducer) {
	for failed := range client.Errors() {
		s, ours := failed.Msg.Metadata.(*slot)
		if !ours {
			continue
		}
		p.settled.of(failed.Msg.Partition).Add(1)
		during := p.network.meter.Traffic().Since(s.before)
		p.handBack(s, outcome(failed.Err, during), -1, p.answers.Explain(failed.Msg.Partition, code(failed.Err), failed.Err))
	}
}

// After OnDone, the record's owner may already reuse it on another goroutine.
func (p *producer) handBack(s *slot, o driver.Outcome, offset int64, err error) {
	p.onDone(driver.Done{Record: s.owner, Tag: s.tag, Outcome: o, Offset: offset, Err: err})
}

func (p *producer) Settings() []driver.Setting { return p.settings }

func (p *producer) Wire() driver.Wire { return p.network.meter.Wire() }

func (p *producer) Requests() driver.Requests { return p.network.meter.Requests() }

// Close cuts the client's connections, so that everything that the client still does fails.
func (p *producer) Close() {
	p.closing.Do(func() {
		p.network.line.Cut()
		p.mu.Lock()
		p.closed = true
		p.mu.Unlock()
		close(p.stop)
		p.handlers.Wait()
		_ = p.metadata.Client.Close() // its connections are already closed
	})
}
