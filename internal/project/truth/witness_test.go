package truth

import (
	"context"
	"sync"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

// tapped is a driver with somebody on the line, who may watch what goes through
// and change it. A nil function lets everything through. The functions are
// called on the goroutines of workers, clients and members.
type tapped struct {
	driver.Driver
	// produce is called with each record before the client gets it; false keeps
	// the record from the client.
	produce func(r *driver.Record, done func(driver.Done)) (pass bool)
	// done is called with what the client reports of each record, in place of
	// the worker's own function, which it may pass the report on to.
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
	return &tappedConsumer{Consumer: inner, Pauser: inner.(driver.Pauser), WireCounter: inner.(driver.WireCounter), tap: d}, nil
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

// identity is what makes a record of a run unique.
type identity struct {
	producer  uint16
	partition int32
	sequence  uint64
}

// stampOf reads the stamp of a record of any run; ok is false for other records.
func stampOf(value []byte) (s payload.Stamp, id identity, ok bool) {
	s, check := payload.ReadStamp(value)
	return s, identity{s.Producer, s.Partition, s.Sequence}, check == payload.Intact
}

// witness keeps books of its own: every single record by name, as no tool could
// that runs for hours.
type witness struct {
	mu      sync.Mutex
	sent    map[identity]time.Time
	settled map[identity]settlement
	twice   int // settled twice, which no driver may
	// A record is delivered to the application between the poll that first
	// returned it and the moment when the application is done with its chunk.
	polledAt, handledAt map[identity]time.Time
}

// settlement is how the client handed a record back.
type settlement struct {
	outcome  driver.Outcome
	offset   int64
	measured bool
	at       time.Time
}

func newWitness() *witness {
	return &witness{
		sent: make(map[identity]time.Time), settled: make(map[identity]settlement),
		polledAt: make(map[identity]time.Time), handledAt: make(map[identity]time.Time),
	}
}

// watch returns a driver that the witness listens to.
func (w *witness) watch(d driver.Driver) *tapped {
	return &tapped{Driver: d, produce: w.produced, done: w.done, poll: w.polled}
}

func (w *witness) produced(r *driver.Record, _ func(driver.Done)) bool {
	_, id, _ := stampOf(r.Value)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[id] = time.Now()
	return true
}

func (w *witness) done(d driver.Done, pass func(driver.Done)) {
	defer pass(d)
	at := time.Now()
	stamp, id, _ := stampOf(d.Value)
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, before := w.settled[id]; before {
		w.twice++
	}
	w.settled[id] = settlement{outcome: d.Outcome, offset: d.Offset, measured: stamp.Intended >= 0, at: at}
}

func (w *witness) polled(chunks []driver.Chunk) []driver.Chunk {
	at := time.Now()
	for i, c := range chunks {
		var ids []identity
		for _, r := range c.Records {
			if _, id, ok := stampOf(r.Value); ok {
				ids = append(ids, id)
			}
		}
		w.note(w.polledAt, ids, at)
		chunks[i].Free = func() {
			w.note(w.handledAt, ids, time.Now())
			if c.Free != nil {
				c.Free()
			}
		}
	}
	return chunks
}

// note remembers when something happened to records for the first time.
func (w *witness) note(when map[identity]time.Time, ids []identity, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, id := range ids {
		if _, before := when[id]; !before {
			when[id] = at
		}
	}
}

// settledAt is when each record was handed back.
func (w *witness) settledAt() map[identity]time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := make(map[identity]time.Time, len(w.settled))
	for id, s := range w.settled {
		at[id] = s.at
	}
	return at
}

// with counts the records of a phase that ended so.
func (w *witness) with(outcome driver.Outcome, measured bool) (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.settled {
		if s.outcome == outcome && s.measured == measured {
			n++
		}
	}
	return n
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
