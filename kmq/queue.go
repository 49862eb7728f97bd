package kmq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
	"kafkabench.example/kafka-bench/kmq/internal/offsetmap"
	"kafkabench.example/kafka-bench/kmq/internal/plain"
	"kafkabench.example/kafka-bench/kmq/internal/share"
)

// Queue hands out the records of a topic to one member of a group. Its methods may be
// called on any goroutine.
type Queue struct {
	engine  engine.Engine
	kind    Engine
	lent    time.Duration // Visibility
	backoff Backoff
	log     *slog.Logger
	handed  handed

	// stopping ends when nothing more is given out.
	stopping context.Context
	stop     context.CancelFunc
	closed   atomic.Bool
	settling atomic.Int64 // calls that settle, or flush, and have not returned

	receiving sync.RWMutex // held for reading by those that receive

	closing  sync.Once
	closeErr error
}

// Stats are the counters of a queue, or of a tracker, since it was opened. Its fields count
// records, all of them in this process:
//
//   - Delivered int64: handed out, every attempt; of these Redelivered int64 with an attempt
//     above 1.
//   - Acked, Nacked, Rejected int64: settled by the application.
//   - Expired int64: locks that ran out.
//   - Lost int64: in flight when their partition, or their lock, went to another member.
//   - Tailed, DeadLettered int64: copied to the tail of their partition, or to the
//     dead-letter topic.
//   - Missing int64: not in the log any more when they were to be delivered (again).
//   - Retried int64: what a tracker tried in vain and tries again, or copies that were refused.
//   - Unreadable int64: markers that a tracker could not read.
//   - InFlight int: handed out, or ready to be, and not settled, now.
//   - CommitBehind int64: beyond the committed offsets, now; Share does not know: 0.
//
// And what is so now:
//
//   - OldestUnacked time.Time: the timestamp of the oldest record in flight; zero: none.
//   - Paused []int32: the partitions that take nothing new, for lack of room.
//   - RetentionAlarm string: what retention is about to delete and is not settled; empty:
//     nothing. It is looked for every 30 s; Share has none.
//
// And Lateness, how long after its deadline each redelivery of this process was made:
//
//   - Lateness.Bounds() []time.Duration: the upper bounds of the buckets, from 1 ms to 30 s.
//   - Lateness.Counts [15]int64: the redeliveries of each bucket; the last: above all bounds.
//   - Lateness.Sum time.Duration: of all.
type Stats = engine.Counts

// Open joins the group and begins to fetch. It returns once the configuration is known to
// be right for the topics that are there (errors are [ErrConfig] or the cluster's), not
// once it has partitions. A group that has committed nothing begins with the oldest record
// of the topic. ctx bounds the opening alone.
func Open(ctx context.Context, cfg Config) (*Queue, error) {
	cfg, err := cfg.resolve()
	if err != nil {
		return nil, err
	}
	e, err := openEngine(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	q := newQueue(e, &cfg)
	q.log.Info("kmq: queue opened")
	return q, nil
}

func openEngine(ctx context.Context, cfg *Config) (engine.Engine, error) {
	switch cfg.Engine {
	case Markers:
		return markers.New(ctx, cfg.engine())
	case OffsetMap:
		return offsetmap.New(ctx, cfg.engine())
	case Share:
		return share.New(ctx, cfg.engine())
	default:
		return plain.New(ctx, cfg.engine())
	}
}

// newQueue is the queue of an engine; cfg is resolved.
func newQueue(e engine.Engine, cfg *Config) *Queue {
	stopping, stop := context.WithCancel(context.Background())
	return &Queue{
		engine: e, kind: cfg.Engine, lent: cfg.Visibility, backoff: cfg.Backoff, log: cfg.engine().Log,
		stopping: stopping, stop: stop,
	}
}

// Receive waits for at least one record, or for ctx, and returns at most max. It
// acknowledges nothing. It returns ctx's error if that ends first, and [ErrClosed] once
// the queue is closed or being drained. Any other error is one that no waiting mends, such
// as a permission that is missing: the queue gives out nothing more.
func (q *Queue) Receive(ctx context.Context, max int) ([]Delivery, error) {
	if max < 1 {
		return nil, fmt.Errorf("%w: Receive is asked for %d records: ask for at least 1", ErrConfig, max)
	}
	q.receiving.RLock()
	defer q.receiving.RUnlock()
	if q.stopping.Err() != nil {
		return nil, ErrClosed
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	leases, err := q.ready(max)
	if len(leases) == 0 && err == nil {
		leases, err = q.wait(ctx, max)
	}
	if err != nil {
		return nil, err
	}
	q.handed.add(leases)
	out := make([]Delivery, len(leases))
	for i, l := range leases {
		out[i] = Delivery{Record: l.Record, lease: l, queue: q}
	}
	return out, nil
}

// over is a context that has ended: with it an engine returns what is ready, without
// waiting.
var over = func() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}()

// ready returns what can be had without waiting, which spares a busy queue the contexts
// that waiting takes.
func (q *Queue) ready(max int) ([]*lease.Lease, error) {
	leases, err := q.engine.Receive(over, max)
	if errors.Is(err, context.Canceled) {
		return nil, nil
	}
	return leases, err
}

// wait waits for records until ctx ends or the queue stops.
func (q *Queue) wait(ctx context.Context, max int) ([]*lease.Lease, error) {
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(q.stopping, cancel)()
	leases, err := q.engine.Receive(until, max)
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

// Flush waits until what was settled before is durable. With [Share] it returns [ErrLost] if the
// brokers refused acknowledgements, or did not answer them, since the last Flush that returned it: now
// or long before. Their records may be delivered again. Brokers answer for a partition at once: it may
// have been a release or a renewal that they refused.
func (q *Queue) Flush(ctx context.Context) error {
	if !q.enter() {
		return ErrClosed
	}
	defer q.leave()
	return q.engine.Flush(ctx)
}

// enter begins a call that [Queue.Close] waits for, until leave; false once it is closed.
func (q *Queue) enter() bool {
	q.settling.Add(1)
	if q.closed.Load() {
		q.leave()
		return false
	}
	return true
}

func (q *Queue) leave() { q.settling.Add(-1) }

// settled waits until no call that entered is under way.
func (q *Queue) settled(ctx context.Context) error {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for q.settling.Load() > 0 {
		select {
		case <-look.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Drain gives out nothing more, waits until everything that was received is settled or has
// expired or is lost, and for the calls that settle it, and flushes. A queue that was drained can only be closed. If ctx ends
// first, its error is returned, and Drain may be called again.
func (q *Queue) Drain(ctx context.Context) error {
	if q.closed.Load() {
		return ErrClosed
	}
	q.hush()
	err := q.handed.wait(ctx, &q.closed)
	if err == nil { // whoever settled the last of them had entered before
		err = q.settled(ctx)
	}
	if err != nil {
		return fmt.Errorf("kmq: drain: %w", err)
	}
	return q.Flush(ctx)
}

// hush has nothing more given out, and waits for those that receive.
func (q *Queue) hush() {
	q.stop()
	q.receiving.Lock()
	defer q.receiving.Unlock()
}

// Close waits for the calls that settle a record, gives back what is not settled, flushes,
// and leaves the group. Whoever holds a record that was given back can't settle it any more:
// that returns [ErrClosed]. ctx bounds the waiting and the flushing, and a call that is under
// way when it ends may fail; nothing of the queue runs any more when Close returns, whatever
// it returns. With [Share] it returns [ErrLost] if acknowledgements were refused, or not answered, and no
// [Queue.Flush] returned that: their records may be delivered again. Closing again returns the same.
func (q *Queue) Close(ctx context.Context) error {
	q.closing.Do(func() {
		q.hush()
		q.closed.Store(true)
		q.closeErr = errors.Join(q.settled(ctx), q.engine.Close(ctx))
		if q.closeErr != nil {
			q.log.Info("kmq: queue closed", "error", q.closeErr)
			return
		}
		q.log.Info("kmq: queue closed")
	})
	return q.closeErr
}

// Stats are the counters of this queue since it was opened.
func (q *Queue) Stats() Stats { return q.engine.Counts() }
