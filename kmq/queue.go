package kmq

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// Queue delivers a topic's records to one member of a group. Its methods are safe for concurrent
// use.
type Queue struct {
	engine engine.Engine
	parker engine.Parker // of an ordered queue; or nil
	lent   time.Duration
	most   int // deliveries; 0: no limit
	order  Order
	retry  Retry
	log    *slog.Logger

	handlers calledHandlers

	// stopping is done when nothing more may be delivered.
	stopping context.Context
	stop     context.CancelFunc
	calls    *calls       // that settle or flush
	taking   sync.RWMutex // take holds it for reading

	running atomic.Bool  // a Run that keeps an order
	seed    maphash.Seed // of the names of lines
	leaving sync.Mutex
	left    map[uint64]*line // by the last run of an ordered queue, all blocked

	closing  sync.Once
	closeErr error
}

// Open joins the group and begins to fetch. It returns before partitions are assigned, after it has
// checked the existing topics. The error is [ErrConfig] or the cluster's. A group without commits
// begins with the oldest record of the topic. ctx bounds only Open itself.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	open := cfg.Engine.open
	if of := engine.OpenerOf(ctx); of != nil { // kmqtest's
		open = of
	}
	e, err := open(ctx, cfg.engine())
	if err != nil {
		return nil, err
	}
	q := newQueue(e, &cfg)
	q.log.Info("kmq: queue opened")
	return q, nil
}

func newQueue(e engine.Engine, cfg *Config) *Queue {
	stopping, stop := context.WithCancel(context.Background())
	var parker engine.Parker
	if cfg.Order != Unordered {
		parker, _ = e.(engine.Parker)
	}
	return &Queue{
		parker: parker, seed: maphash.MakeSeed(), left: make(map[uint64]*line),
		engine: e, lent: cfg.Visibility, most: max(cfg.MaxDeliveries, 0), order: cfg.Order,
		retry: cfg.Retry, log: cfg.engine().Log,
		stopping: stopping, stop: stop, calls: newCalls(),
	}
}

// Receive waits for at least one record or for the end of ctx, and returns at most max records. It
// acknowledges nothing. It returns ctx's error if ctx ends first, and [ErrClosed] after Close. Any other
// error is permanent, such as a permission that has been missing for a minute: the queue delivers nothing more.
func (q *Queue) Receive(ctx context.Context, max int) ([]Delivery, error) {
	if max < 1 {
		return nil, fmt.Errorf("%w: Receive is asked for %d records: ask for at least 1", ErrConfig, max)
	}
	q.giveBackLeft()
	leases, err := engine.Receive(ctx, lender{q}, max)
	if err != nil {
		return nil, err
	}
	out := make([]Delivery, len(leases))
	for i, l := range leases {
		out[i] = Delivery{Record: l.Record, lease: l, queue: q}
	}
	return out, nil
}

// lender is the queue's engine, until the queue is closed.
type lender struct{ q *Queue }

func (l lender) Take(ctx context.Context, max int) ([]*lease.Lease, error) { return l.q.take(ctx, max) }

func (l lender) Lend(ctx context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	return l.q.engine.Lend(ctx, leases, to)
}

// over is a context that has ended: with it, an engine returns ready records without waiting.
var over = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// take waits for at least one record that is neither locked nor counted yet.
func (q *Queue) take(ctx context.Context, max int) ([]*lease.Lease, error) {
	q.taking.RLock()
	defer q.taking.RUnlock()
	if q.stopping.Err() != nil {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	leases, err := q.engine.Take(over, max)
	if !errors.Is(err, context.Canceled) {
		return leases, err
	}
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.stopping, cancel)()
	leases, err = q.engine.Take(until, max)
	switch {
	case err == nil:
		return leases, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case q.stopping.Err() != nil:
		return nil, ErrClosed
	}
	return nil, err
}

// Flush waits until everything that was settled before the call is durable. With [Share] it returns
// [ErrLost] if brokers refused or did not answer acknowledgements since the last Flush that
// returned ErrLost. The records of these acknowledgements may be delivered again. Brokers answer
// for a whole partition, so they may have refused a release or a renewal instead.
func (q *Queue) Flush(ctx context.Context) error {
	if !q.calls.enter() {
		return ErrClosed
	}
	defer q.calls.leave()
	return q.engine.Flush(ctx)
}

// Close waits for running calls that settle, gives back unsettled records, flushes, and leaves the
// group. A delivery that Close gave back then returns [ErrClosed]. ctx bounds the waiting and the
// flushing; calls that still run when it ends may fail. Afterwards nothing of the queue runs, even
// with an error, except handlers that ignore their contexts. With [Share] it returns [ErrLost] if brokers
// refused or did not answer acknowledgements and no [Queue.Flush] reported that; their records may be
// delivered again. A second Close returns the same error. In a handler, Close returns ErrClosed and does
// nothing: end the context of Run instead.
func (q *Queue) Close(ctx context.Context) error {
	if ctx.Value(handlerOf{q}) != nil {
		return fmt.Errorf("%w only by others than its handlers: end the context of Run", ErrClosed)
	}
	q.closing.Do(func() {
		q.stopTaking()
		q.closeErr = errors.Join(q.calls.close(ctx), q.engine.Close(ctx))
		if q.closeErr != nil {
			q.log.Info("kmq: queue closed", "error", q.closeErr)
			return
		}
		q.log.Info("kmq: queue closed")
	})
	return q.closeErr
}

// stopTaking returns when no take runs.
func (q *Queue) stopTaking() {
	q.stop()
	q.taking.Lock()
	defer q.taking.Unlock()
}

// Stats returns the counters of this queue since it was opened.
func (q *Queue) Stats() Stats {
	s := statsOf(q.engine.Counts())
	q.handlers.tell(&s)
	return s
}
