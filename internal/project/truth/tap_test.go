package truth

import (
	"context"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// tapped is a driver whose functions may observe and change records; nil changes nothing. They are
// called on the goroutines of workers, clients and members.
type tapped struct {
	driver.Driver
	// produce is called with each record before the client gets it; false keeps the record from the
	// client.
	produce func(r *driver.Record, done func(driver.Done)) (pass bool)
	// done is called with the client's report of each record, instead of the worker's own function,
	// to which it may pass the report.
	done func(d driver.Done, pass func(driver.Done))
	// poll may replace what a poll returned.
	poll func([]driver.Chunk) []driver.Chunk
}

func (d *tapped) NewProducer(cfg driver.ProducerConfig) (driver.Producer, error) {
	p := &tappedProducer{tap: d, onDone: cfg.OnDone}
	cfg.OnDone = func(report driver.Done) {
		if d.done == nil {
			p.onDone(report)
			return
		}
		d.done(report, p.onDone)
	}
	inner, err := d.Driver.NewProducer(cfg)
	if err != nil {
		return nil, err
	}
	p.Producer, p.WireCounter = inner, inner.(driver.WireCounter)
	return p, nil
}

func (d *tapped) NewConsumer(cfg driver.ConsumerConfig) (driver.Consumer, error) {
	inner, err := d.Driver.NewConsumer(cfg)
	if err != nil {
		return nil, err
	}
	return &tappedConsumer{
		Consumer: inner, Pauser: inner.(driver.Pauser), WireCounter: inner.(driver.WireCounter), tap: d,
	}, nil
}

type tappedProducer struct {
	driver.Producer
	driver.WireCounter
	tap    *tapped
	onDone func(driver.Done)
}

func (p *tappedProducer) Produce(r *driver.Record) {
	if p.tap.produce == nil || p.tap.produce(r, p.onDone) {
		p.Producer.Produce(r)
	}
}

type identity struct {
	producer  uint16
	partition int32
	sequence  uint64
}

// stampOf reads the stamp of any run's record; ok is false for other records.
func stampOf(header *payload.Header, value []byte) (s payload.Stamp, id identity, ok bool) {
	s, check := payload.ReadRecord(header, value)
	return s, identity{s.Producer, s.Partition, s.Sequence}, check == payload.Intact
}

type tappedConsumer struct {
	driver.Consumer
	driver.Pauser
	driver.WireCounter
	tap *tapped
}

func (c *tappedConsumer) Poll(ctx context.Context) ([]driver.Chunk, error) {
	chunks, err := c.Consumer.Poll(ctx)
	if c.tap.poll != nil && len(chunks) > 0 {
		chunks = c.tap.poll(chunks)
	}
	return chunks, err
}
