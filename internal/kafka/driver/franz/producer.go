package franz

import (
	"context"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

type producer struct {
	client   *kgo.Client
	topic    string
	onDone   func(driver.Done)
	acks     driver.Acks
	ordered  bool
	wire     wire
	answers  meter.Answers
	settings []driver.Setting
	closing  sync.Once
}

var (
	_ driver.Producer     = (*producer)(nil)
	_ driver.WireCounter  = (*producer)(nil)
	_ driver.RequestTimer = (*producer)(nil)
)

// slot is this driver's Record.Native: the client's record, and the function that completes it.
type slot struct {
	record   kgo.Record
	promise  func(*kgo.Record, error)
	owner    *driver.Record
	tag      uint64
	producer *producer
	before   meter.Traffic // at Produce
}

func (f *franz) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	if err := driver.CheckProducer(f, cfg); err != nil {
		return nil, err
	}
	p := &producer{
		topic:   cfg.Topic,
		onDone:  cfg.OnDone,
		acks:    cfg.Acks,
		ordered: cfg.Idempotent || cfg.InFlight <= 1,
	}
	options, err := producerOptions(cfg)
	if err != nil {
		return nil, err
	}
	dialer := p.wire.dialer(f.dialer(cfg.Access), cfg.Access)
	if cfg.Acks != driver.AcksNone {
		dialer = p.answers.Watch(dialer)
	}
	options = append(options, kgo.Dialer(dialer), kgo.WithHooks(&p.wire))
	p.client, err = kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	if err := checkCluster(p.client, cfg.ClusterID); err != nil {
		p.client.Close()
		return nil, err
	}
	p.settings = producerSettings(p.client, cfg)
	return p, nil
}

func (p *producer) Produce(r *driver.Record) {
	s, ok := r.Native.(*slot)
	if !ok || s.owner != r {
		s = newSlot(r)
	}
	s.producer, s.tag = p, r.Tag
	s.before = p.wire.traffic()
	s.record.Topic = p.topic
	s.record.Partition = r.Partition
	s.record.Key = r.Key
	s.record.Value = r.Value
	s.record.Headers = s.headers(r.Stamp)
	s.record.Timestamp = r.Created // if it is zero, the client reads a clock
	p.client.Produce(context.Background(), &s.record, s.promise)
}

func newSlot(r *driver.Record) *slot {
	s := &slot{owner: r}
	s.promise = s.done
	r.Native = s
	return s
}

func (s *slot) headers(stamp *payload.Header) []kgo.RecordHeader {
	if stamp == nil {
		return nil
	}
	return append(s.record.Headers[:0], kgo.RecordHeader{Key: payload.HeaderName, Value: stamp[:]})
}

// After OnDone, the record's owner may already reuse it on another goroutine.
func (s *slot) done(record *kgo.Record, err error) {
	p := s.producer
	d := driver.Done{Record: s.owner, Tag: s.tag, Outcome: driver.Acked, Offset: record.Offset, Err: err}
	switch {
	case err != nil:
		d.Outcome = outcome(err, p.wire.traffic().Since(s.before), p.ordered)
		d.Offset = -1
		d.Err = p.answers.Explain(record.Partition, code(err), err)
	case p.acks == driver.AcksNone:
		d.Offset = -1 // unknown: the client's value is the place in the batch
	}
	p.onDone(d)
}

func (p *producer) Settings() []driver.Setting { return p.settings }

// Wire counts produced batches after a broker has accepted them.
func (p *producer) Wire() driver.Wire { return p.wire.meter.Wire() }

func (p *producer) Requests() driver.Requests { return p.wire.requests() }

func (p *producer) Close() {
	p.closing.Do(func() {
		p.client.Close()
		p.awaitPromises()
	})
}

// A closed client fails the remaining records, and calls their promises later, in order. So the promise of one more
// record, which fails because it has no topic, comes last.
func (p *producer) awaitPromises() {
	last := make(chan struct{})
	p.client.Produce(context.Background(), &kgo.Record{}, func(*kgo.Record, error) { close(last) })
	<-last
}
