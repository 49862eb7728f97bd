package kgogate

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/backpressure"
)

// Producer is a franz-go client behind a gate. Its methods may be called from any
// number of goroutines. Records that one goroutine produces reach the client in
// that order, apart from those that are shed; with a gate for each partition, in
// that order within a partition.
type Producer struct {
	client  *kgo.Client
	gate    gate
	cfg     Config
	ordered bool

	closing context.Context // ends with Close
	close   context.CancelFunc
	waiting waiting

	produced, acked, failed, unknown, abandoned atomic.Int64
	shed                                        map[backpressure.ShedReason]*atomic.Int64
}

// Stats are what a producer did since it was made, in records.
type Stats struct {
	// Produced were admitted and handed to the client, which reported of them so
	// far that they were Acked, Failed (not in the log) or Unknown.
	Produced, Acked, Failed, Unknown int64
	// Deferred wait in the queue now.
	Deferred int64
	// Abandoned were given up because their context ended before they were
	// admitted.
	Abandoned int64
	// Shed were dropped, by reason: "gate", "queue", "degrade", "close".
	Shed map[backpressure.ShedReason]int64
}

// New returns a producer that sends through client what gate admits. Both stay
// the caller's: somebody must feed the gate, with Watch or Report, and the client
// is to be closed after the producer. All faults of cfg are reported at once.
func New(client *kgo.Client, gate *backpressure.Gate, cfg Config) (*Producer, error) {
	return newProducer(client, whole{gate}, cfg)
}

// NewPartitioned returns a producer with a gate for each partition. The partition
// of each record must be set before Produce and kept by the client: it needs
// kgo.RecordPartitioner(kgo.ManualPartitioner()).
func NewPartitioned(client *kgo.Client, gate *backpressure.Partitioned, cfg Config) (*Producer, error) {
	return newProducer(client, byPartition{gate}, cfg)
}

func newProducer(client *kgo.Client, gate gate, cfg Config) (*Producer, error) {
	if err := cfg.faults(client); err != nil {
		return nil, err
	}
	if cfg.MaxDeferred == 0 {
		cfg.MaxDeferred = DefaultMaxDeferred
	}
	p := &Producer{client: client, gate: gate, cfg: cfg, ordered: appendsInOrder(client)}
	p.closing, p.close = context.WithCancel(context.Background())
	p.waiting.lanes = make(map[int32]*lane)
	p.shed = make(map[backpressure.ShedReason]*atomic.Int64)
	for _, reason := range []backpressure.ShedReason{backpressure.ShedByGate, backpressure.ShedByQueue, backpressure.ShedByDegrade, ShedByClose} {
		p.shed[reason] = new(atomic.Int64)
	}
	return p, nil
}

// Produce asks the gate for the record and hands it to the client, whose Produce
// says what happens then. The promise, which may be nil, is called once: by the
// client, or with a [ShedError] if the record was dropped, or with the context's
// error if that ended before the record was admitted. The last two are not on the
// client's goroutine, so promises run beside each other.
//
// It waits for room with Block alone, and for space in the client's buffer as the
// client does. Then it must not be called in a promise: room may depend on the
// promises behind.
func (p *Producer) Produce(ctx context.Context, r *kgo.Record, promise func(*kgo.Record, error)) {
	if ctx == nil {
		ctx = context.Background()
	}
	if promise == nil {
		promise = func(*kgo.Record, error) {}
	}
	o := order{ctx, r, promise}
	switch {
	case ctx.Err() != nil:
		p.abandon(o, ctx.Err())
	case p.closing.Err() != nil:
		p.drop(o, ShedByClose)
	case p.cfg.Excess == Block:
		p.waitAndSend(o)
	case p.cfg.Excess == Shed && p.gate.try(r.Partition):
		p.send(o)
	case p.cfg.Excess == Shed:
		p.drop(o, backpressure.ShedByGate)
	case p.passes(r.Partition):
		p.send(o)
	default:
		p.excess(o)
	}
}

// order is what Produce was asked for.
type order struct {
	ctx     context.Context
	record  *kgo.Record
	promise func(*kgo.Record, error)
}

// ProduceSync produces the records and waits for all of them. The results are in
// the order in which the records' fates became known. It is not faster than the
// client's linger, which it does not cut short.
func (p *Producer) ProduceSync(ctx context.Context, rs ...*kgo.Record) kgo.ProduceResults {
	var (
		all     sync.WaitGroup
		mu      sync.Mutex
		results = make(kgo.ProduceResults, 0, len(rs))
	)
	all.Add(len(rs))
	for _, r := range rs {
		p.Produce(ctx, r, func(r *kgo.Record, err error) {
			mu.Lock()
			results = append(results, kgo.ProduceResult{Record: r, Err: err})
			mu.Unlock()
			all.Done()
		})
	}
	all.Wait()
	return results
}

// Flush waits until no record is deferred and the client has no record left. It
// returns the error of ctx if that ends before. How long it takes is up to the
// consumers, because it is they who make room.
func (p *Producer) Flush(ctx context.Context) error {
	if err := p.waiting.wait(ctx); err != nil {
		return err
	}
	return p.client.Flush(ctx)
}

// Close drops the records that wait, ends the calls of Produce that wait, and returns
// when the producer's goroutines have ended. What the client already has goes its
// way, and its promises still tell the gate. To lose nothing, call Flush before.
func (p *Producer) Close() {
	p.close()
	p.waiting.end()
}

// Stats returns what the producer did up to now.
func (p *Producer) Stats() Stats {
	s := Stats{
		Deferred:  p.waiting.count(),
		Acked:     p.acked.Load(),
		Failed:    p.failed.Load(),
		Unknown:   p.unknown.Load(),
		Abandoned: p.abandoned.Load(),
		Shed:      make(map[backpressure.ShedReason]int64, len(p.shed)),
	}
	s.Produced = p.produced.Load() // after what became of them, so that it is never less
	for reason, n := range p.shed {
		s.Shed[reason] = n.Load()
	}
	return s
}

// waitAndSend is Block.
func (p *Producer) waitAndSend(o order) {
	if err := p.acquire(o); err != nil {
		p.giveUp(o, err)
		return
	}
	p.send(o)
}

// acquire waits for room until the order's context ends or the producer closes.
func (p *Producer) acquire(o order) error {
	partition := o.record.Partition
	if p.gate.open(partition) && p.gate.try(partition) {
		return nil
	}
	if o.ctx.Done() == nil {
		return p.gate.acquire(p.closing, partition)
	}
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	return p.gate.acquire(ctx, partition)
}

// giveUp ends an order that was not admitted, for the reason that there was first.
func (p *Producer) giveUp(o order, err error) {
	switch {
	case o.ctx.Err() != nil:
		p.abandon(o, o.ctx.Err())
	case p.closing.Err() != nil:
		p.drop(o, ShedByClose)
	default:
		p.abandon(o, err)
	}
}

// send hands an admitted record to the client. The gate hears of its fate before
// the promise does.
func (p *Producer) send(o order) {
	p.produced.Add(1)
	partition := o.record.Partition
	p.client.Produce(o.ctx, o.record, func(r *kgo.Record, err error) {
		p.settle(partition, r, err)
		o.promise(r, err)
	})
}

// settle tells the gate what became of a record that was admitted for a partition.
func (p *Producer) settle(partition int32, r *kgo.Record, err error) {
	switch {
	case err == nil:
		p.acked.Add(1)
		p.gate.acked(r.Topic, r.Partition, r.Offset)
		p.gate.done(partition)
	case neverInLog(err, p.ordered):
		p.failed.Add(1)
		p.gate.done(partition)
	default:
		p.unknown.Add(1)
		p.gate.unsure(partition)
	}
}

func (p *Producer) drop(o order, reason backpressure.ShedReason) {
	p.shed[reason].Add(1)
	if p.cfg.OnShed != nil {
		p.cfg.OnShed(o.record, reason)
	}
	o.promise(o.record, &ShedError{Reason: reason})
}

func (p *Producer) abandon(o order, err error) {
	p.abandoned.Add(1)
	o.promise(o.record, err)
}
