package kgogate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
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
	shed                                        map[string]*atomic.Int64
}

// Stats counts a producer's records since Open.
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
	Shed map[string]int64
}

// Open returns a producer that sends through client what the gate admits, and starts the gate, which
// reads the lag through the same client. Close ends them; the caller closes the client after that. Open
// reads the lag once, within ctx, so that a wrong name or a missing right is an error here. Only while the
// group has no coordinator, as the first group of a new cluster, it tries again, for up to 10 s. The error
// joins all mistakes, including client settings with which the gate cannot keep a bound.
func Open(ctx context.Context, client *kgo.Client, cfg Config) (*Producer, error) {
	faults := cfg.faults()
	if cfg.Gate.Source == nil && client != nil {
		source, err := Lag(client, cfg)
		if err != nil {
			faults = append(faults, err)
		}
		cfg.Gate.Source = source
	}
	if client == nil {
		faults = append(faults, errNoClient)
	} else {
		faults = append(faults, cfg.clientFaults(client)...)
	}
	if cfg.Gate.Controller == nil {
		cfg.Gate.Controller = backpressure.Credit{MaxLag: cfg.MaxLag}
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	gate, err := openGate(ctx, cfg.Gate)
	if err != nil {
		return nil, err
	}
	if cfg.MaxDeferred == 0 {
		cfg.MaxDeferred = defaultMaxDeferred
	}
	cfg.warnOfTransactions(client)
	p := &Producer{client: client, gate: gate, cfg: cfg, ordered: appendsInOrder(client)}
	p.closing, p.close = context.WithCancel(context.Background())
	p.shed = make(map[string]*atomic.Int64)
	for reason := range shedReasons {
		p.shed[reason] = new(atomic.Int64)
	}
	return p, nil
}

// openGate gives a new cluster the time to make its topic of committed offsets, which the first request begins.
func openGate(ctx context.Context, cfg backpressure.Config) (*backpressure.Gate, error) {
	for tries := 0; ; tries++ {
		gate, err := backpressure.Open(ctx, cfg)
		if tries == 100 || !errors.Is(err, kerr.CoordinatorNotAvailable) && !errors.Is(err, kerr.CoordinatorLoadInProgress) {
			return gate, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Gate returns the producer's gate, for its stats and metrics. The producer closes it.
func (p *Producer) Gate() *backpressure.Gate { return p.gate }

// Produce asks the gate to admit the record, then passes the record to the client's Produce. The
// promise, which may be nil, is called once: by the client; with an error that wraps [ErrShed] if the record
// was dropped; or with the context's error if the context ended before the record was admitted. The
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
		p.drop(o, shedByClose)
	case p.cfg.Excess == Block:
		p.waitAndSend(o)
	case p.cfg.Excess == Shed && p.gate.TryAcquire(1):
		p.send(o)
	case p.cfg.Excess == Shed:
		p.drop(o, shedByGate)
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

// Close ends the gate, drops the waiting records, ends the waiting calls of Produce, and returns when
// the producer's goroutines have ended; it waits for no broker. The client still sends the records that
// it has, and their promises still report to the gate. An admitted record that waits for space in
// the client's buffer gets an error that wraps [ErrClosed], and its fate counts as unknown. To lose
// nothing, call Flush before.
func (p *Producer) Close() {
	p.close()
	p.gate.Close()
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
		Shed:      make(map[string]int64, len(p.shed)),
	}
	s.Produced = p.produced.Load() // read last, so that it is never less than Acked + Failed + Unknown
	for reason, n := range p.shed {
		s.Shed[reason] = n.Load()
	}
	return s
}

func (p *Producer) waitAndSend(o order) {
	if err := p.gate.Acquire(o.ctx, 1); err != nil {
		p.giveUp(o, err)
		return
	}
	p.send(o)
}

func (p *Producer) giveUp(o order, err error) {
	switch {
	case o.ctx.Err() != nil:
		p.abandon(o, o.ctx.Err())
	case p.closing.Err() != nil:
		p.drop(o, shedByClose)
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

func (p *Producer) drop(o order, reason string) {
	p.shed[reason].Add(1)
	o.promise(o.record, fmt.Errorf("kgogate: %w: %s", ErrShed, shedReasons[reason]))
}

func (p *Producer) abandon(o order, err error) {
	p.abandoned.Add(1)
	o.promise(o.record, err)
}
