//go:build librdkafka && cgo

package librdkafka

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

const (
	// eventsBuffer is how many delivery reports may wait for the driver's goroutine.
	eventsBuffer = 10_000
	// The client has no call that waits while its buffer is full.
	fullWait = time.Millisecond
)

type producer struct {
	client   *kafka.Producer
	topic    string
	onDone   func(driver.Done)
	acks     driver.Acks
	settings []driver.Setting
	login    *refresher

	handed   atomic.Int64 // records given to Produce
	returned atomic.Int64 // of those, given to onDone
	troubles atomic.Int64 // errors of the client, not of a record; see outcome.go

	reaped  chan struct{} // closed when all records are complete
	closing sync.Once
}

var _ driver.Producer = (*producer)(nil)

// slot is this driver's Record.Native: the client's message, whose Opaque is the slot.
type slot struct {
	message kafka.Message
	owner   *driver.Record
	tag     uint64
	before  int64 // the client's troubles at Produce
}

// A refusal goes through the client's channel of events, so that one goroutine completes all records.
type refusal struct {
	slot *slot
	err  error
}

// String makes a refusal a kafka.Event.
func (r refusal) String() string { return r.err.Error() }

func (l librdkafka) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	if err := driver.CheckProducer(l, cfg); err != nil {
		return nil, err
	}
	set, err := producerProperties(cfg)
	if err != nil {
		return nil, err
	}
	p := &producer{topic: cfg.Topic, onDone: cfg.OnDone, acks: cfg.Acks, reaped: make(chan struct{})}
	p.client, err = kafka.NewProducer(set.config(kafka.ConfigMap{
		"go.delivery.report.fields": "none", // the slot has these fields
		"go.events.channel.size":    eventsBuffer,
		"go.produce.channel.size":   1, // not used
	}))
	if err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	p.settings = settings(set, clientDefaults, producerDefaults)
	p.login = newRefresher(p.client, cfg.Access, cfg.Brokers)
	go p.reap()
	return p, nil
}

func (p *producer) Produce(r *driver.Record) {
	s, ok := r.Native.(*slot)
	if !ok || s.owner != r {
		s = newSlot(r)
	}
	s.tag = r.Tag
	s.before = p.troubles.Load()
	m := &s.message
	m.TopicPartition.Topic = &p.topic
	m.TopicPartition.Partition = r.Partition
	m.Key, m.Value = r.Key, r.Value
	m.Headers = m.Headers[:0]
	if r.Stamp != nil {
		m.Headers = append(m.Headers, kafka.Header{Key: payload.HeaderName, Value: r.Stamp[:]})
	}
	m.Timestamp = r.Created // if it is zero, the client reads a clock
	p.handed.Add(1)
	err := p.client.Produce(m, nil)
	for ; err != nil && code(err) == kafka.ErrQueueFull; err = p.client.Produce(m, nil) {
		time.Sleep(fullWait)
	}
	if err != nil {
		p.client.Events() <- refusal{s, err}
	}
}

func newSlot(r *driver.Record) *slot {
	s := &slot{owner: r}
	s.message.Opaque = s
	r.Native = s
	return s
}

func (p *producer) reap() {
	defer close(p.reaped)
	for event := range p.client.Events() {
		switch e := event.(type) {
		case *kafka.Message:
			p.report(e)
		case refusal:
			p.hand(e.slot, driver.Failed, -1, e.err)
		case kafka.OAuthBearerTokenRefresh:
			p.login.refresh()
		case kafka.Error:
			p.troubles.Add(1)
		}
	}
}

func (p *producer) report(m *kafka.Message) {
	s, ok := m.Opaque.(*slot)
	if !ok {
		return // does not happen: only the driver produces with this client
	}
	switch err := m.TopicPartition.Error; {
	case err != nil:
		p.hand(s, outcome(err, p.troubles.Load() > s.before), -1, explained(err))
	case p.acks == driver.AcksNone:
		p.hand(s, driver.Acked, -1, nil)
	default:
		p.hand(s, driver.Acked, int64(m.TopicPartition.Offset), nil)
	}
}

// After onDone, the record's owner may already reuse it on another goroutine.
func (p *producer) hand(s *slot, became driver.Outcome, offset int64, err error) {
	p.onDone(driver.Done{Record: s.owner, Tag: s.tag, Outcome: became, Offset: offset, Err: err})
	p.returned.Add(1)
}

func (p *producer) settled() bool { return p.returned.Load() >= p.handed.Load() }

func (p *producer) Settings() []driver.Setting { return p.settings }

// A purge misses a record that moves between two queues of the client, so Close repeats the purge.
func (p *producer) Close() {
	p.closing.Do(func() {
		for !p.settled() {
			_ = p.client.Purge(kafka.PurgeQueue | kafka.PurgeInFlight) // fails only for an unknown flag
			time.Sleep(fullWait)
		}
		p.login.close()
		p.client.Close()
		<-p.reaped
	})
}
