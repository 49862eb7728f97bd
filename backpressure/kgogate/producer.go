package kgogate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
)

// Producer is a franz-go client behind a gate. Its methods may be called from any number of
// goroutines. Records from one goroutine reach the client in order, except dropped records.
type Producer struct {
	client  *kgo.Client
	gate    *backpressure.Gate
	cfg     Config
	ordered bool

	closing context.Context
	close   context.CancelFunc
	waiting waiting

	produced, acked, failed, unknown, abandoned atomic.Int64
	shed                                        map[backpressure.ShedReason]*atomic.Int64
}

// Stats counts a producer's records since New.
type Stats struct {
	// Produced counts records that were admitted and given to the client. So far the client has
	// reported some of them as Acked, Failed (not in the log) or Unknown.
	Produced, Acked, Failed, Unknown int64
	// Deferred counts records that wait in the queue now.
	Deferred int64
	// Abandoned counts records that were given up before they were admitted, because their context
	// ended or the gate can never admit them.
	Abandoned int64
	// Shed counts dropped records by reason: "gate", "queue", "degrade", "close".
	Shed map[backpressure.ShedReason]int64
}

// New returns a producer that sends through client the records that gate admits. The caller reads
// the lag for the gate, with Watch or Report, and closes the client after the producer. The error
// joins all mistakes, including client settings with which the gate cannot keep a bound.
func New(client *kgo.Client, gate *backpressure.Gate, cfg Config) (*Producer, error) {
	faults := cfg.faults()
	if gate == nil {
		faults = append(faults, errNoGate)
	}
	switch {
	case client == nil:
		faults = append(faults, errNoClient)
	case gate != nil:
		faults = append(faults, cfg.clientFaults(client, gate)...)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return newProducer(client, gate, cfg), nil
}

var (
	errNoClient = errors.New("kgogate: no client: the producer sends through a *kgo.Client")
	errNoGate   = errors.New("kgogate: no gate: to admit everything, use a gate without a controller")
)

func newProducer(client *kgo.Client, gate *backpressure.Gate, cfg Config) *Producer {
	if cfg.MaxDeferred == 0 {
		cfg.MaxDeferred = DefaultMaxDeferred
	}
	p := &Producer{client: client, gate: gate, cfg: cfg, ordered: appendsInOrder(client)}
	p.closing, p.close = context.WithCancel(context.Background())
	p.shed = make(map[backpressure.ShedReason]*atomic.Int64)
	for _, reason := range []backpressure.ShedReason{backpressure.ShedByGate, backpressure.ShedByQueue,
		backpressure.ShedByDegrade, ShedByClose} {
		p.shed[reason] = new(atomic.Int64)
	}
	return p
}

// Produce asks the gate to admit the record, then passes the record to the client's Produce. The
// promise, which may be nil, is called once: by the client; with a [ShedError] if the record was
// dropped; or with the context's error if the context ended before the record was admitted. The
// last two kinds run on other goroutines than the client's promises, and concurrently with them.
// After Close each record is dropped.
//
// If a context ends after the client has the record, the record's fate is unknown, and the record
// counts for the gate's time of doubt. So deadlines for each record use up the bound when the
// brokers are slow.
//
// Produce waits for room only with Block, and for space in the client's buffer as the client does.
// If Produce may wait, do not call it in a promise: room may depend on later promises.
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
	case p.cfg.Excess == Shed && p.gate.TryAcquire(1):
		p.send(o)
	case p.cfg.Excess == Shed:
		p.drop(o, backpressure.ShedByGate)
	case p.passes():
		p.send(o)
	default:
		p.excess(o)
	}
}

type order struct {
	ctx     context.Context
	record  *kgo.Record
	promise func(*kgo.Record, error)
}

// ProduceSync produces the records and waits for all of them. The results are in the order in which
// the records' fates became known. It does not shorten the client's linger.
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

// Flush waits until no record is deferred and the client's buffer is empty, or returns the error of
// ctx. The wait depends on the consumers, because they make room.
func (p *Producer) Flush(ctx context.Context) error {
	if err := p.waiting.wait(ctx); err != nil {
		return err
	}
	return p.client.Flush(ctx)
}

// Close drops the waiting records, ends the waiting calls of Produce, and returns when the
// producer's goroutines have ended; it waits for no broker. The client still sends the records that
// it has, and their promises still report to the gate. An admitted record that waits for space in
// the client's buffer gets an error that wraps [ErrClosed], and its fate counts as unknown. To lose
// nothing, call Flush before.
func (p *Producer) Close() {
	p.close()
	p.waiting.end()
}

// Stats returns the producer's counters.
func (p *Producer) Stats() Stats {
	s := Stats{
		Deferred:  p.waiting.count(),
		Acked:     p.acked.Load(),
		Failed:    p.failed.Load(),
		Unknown:   p.unknown.Load(),
		Abandoned: p.abandoned.Load(),
		Shed:      make(map[backpressure.ShedReason]int64, len(p.shed)),
	}
	s.Produced = p.produced.Load() // read last, so that it is never less than Acked + Failed + Unknown
	for reason, n := range p.shed {
		s.Shed[reason] = n.Load()
	}
	return s
}

func (p *Producer) waitAndSend(o order) {
	if err := p.acquire(o); err != nil {
		p.giveUp(o, err)
		return
	}
	p.send(o)
}

func (p *Producer) acquire(o order) error {
	if err := p.closing.Err(); err != nil { // even if there is room
		return err
	}
	if p.gate.Open() && p.gate.TryAcquire(1) {
		return nil
	}
	if o.ctx.Done() == nil {
		return p.gate.Acquire(p.closing, 1)
	}
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	defer context.AfterFunc(p.closing, cancel)()
	return p.gate.Acquire(ctx, 1)
}

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

// send reports the record's fate to the gate before it calls the promise.
func (p *Producer) send(o order) {
	p.produced.Add(1)
	way := &entering{Context: o.ctx, closing: p.closing}
	p.client.Produce(way, o.record, func(r *kgo.Record, err error) {
		p.settle(r, err)
		if errors.Is(err, context.Canceled) && way.cut() {
			err = fmt.Errorf("kgogate: %w while the record waited for space in the client's buffer: %w", ErrClosed, err)
		}
		o.promise(r, err)
		way.over()
	})
	way.entered()
}

func (p *Producer) settle(r *kgo.Record, err error) {
	switch {
	case err == nil:
		p.acked.Add(1)
		p.gate.Acked(r.Topic, r.Partition, r.Offset)
		p.gate.Done(1)
	case neverInLog(err, p.ordered):
		p.failed.Add(1)
		p.gate.Done(1)
	default:
		p.unknown.Add(1)
		p.gate.Unsure(1)
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
