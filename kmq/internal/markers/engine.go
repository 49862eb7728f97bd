package markers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// queue is the engine: a member of the group, what it writes, and a tracker unless others
// run it.
type queue struct {
	cfg    engine.Config
	topics topics
	scribe scribe
	holder uint32 // tells this process's starts apart
	began  time.Time
	delays *delays

	writer  *kgo.Client
	copier  *engine.Copier
	member  *member.Member
	set     *lease.Set
	out     *outbox
	starts  *starts
	tracker *Tracker         // nil: others run it
	watch   *retention.Watch // nil: the tracker does
	keeper  *keeper
	late    *late
	soon    *soon // nil: the starts' transactions commit

	started started

	marking sync.Mutex              // who marks leases, and who asks; taken before the set's lock
	keeping map[int32]chan struct{} // by partition, of which leases are being extended

	acked, nacked, rejected, expired,
	lost, deadLettered atomic.Int64
	givenUp *engine.GivenUp

	closing  sync.Once
	closeErr error
}

// New opens the engine. The markers' topic is created if it is missing. Errors are
// lease.ErrConfig or the cluster's.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	topics, err := prepare(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	q := &queue{
		keeping: make(map[int32]chan struct{}),
		cfg:     cfg, topics: topics, scribe: newScribe(&cfg), holder: rand.Uint32(), began: time.Now(), delays: newDelays(delayedAtMost, cfg.Log),
		givenUp: engine.NewGivenUp(cfg.Log),
		started: started{careful: carefulFor(cfg.CommitEvery), parts: map[int32]*position{}},
	}
	q.writer, err = kgo.NewClient(cfg.ClientOptions(writerOptions(&cfg, topics)...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	q.copier = engine.NewCopier(&q.cfg, q.writer)
	q.set = lease.NewSet(cfg.MaxInFlight, q.ranOut)
	q.out = newOutbox(q.writer, &cfg, q.holder)
	if err := q.open(ctx); err != nil {
		q.release()
		return nil, err
	}
	return q, nil
}

// open opens what may fail.
func (q *queue) open(ctx context.Context) (err error) {
	if q.starts, err = newStarts(q); err != nil {
		return err
	}
	q.late = newLate(q)
	q.keeper = newKeeper(q)
	if !q.cfg.Transactions {
		q.soon = newSoon(q)
	}
	_, err = member.Open(ctx, member.Config{
		Config: q.cfg, Handler: handler{q}, Set: q.set, Options: isolation(&q.cfg),
		Opened: func(m *member.Member) { q.member = m },
	})
	if err != nil {
		return err
	}
	if q.cfg.ExternalTracker {
		q.watch = newWatch(&q.cfg, q.writer, q.reach)
		return nil
	}
	if q.tracker, err = openTracker(q.cfg, q.topics); err != nil {
		return errors.Join(err, q.member.Close(ctx))
	}
	q.out.tell(q.tracker.poke)
	return nil
}

// isolation is how the topics are read.
func isolation(cfg *engine.Config) []kgo.Opt {
	if cfg.Transactions {
		return []kgo.Opt{kgo.FetchIsolationLevel(kgo.ReadCommitted())}
	}
	return nil
}

// Receive is as engine.Engine has it.
func (q *queue) Receive(ctx context.Context, most int) ([]*lease.Lease, error) {
	leases, err := q.member.Receive(ctx, most)
	q.mark(leases, handed)
	return leases, err
}

// Ack notes an end marker, which is written with others within 100 ms. It waits only
// at the bound of what is not written.
func (q *queue) Ack(ctx context.Context, l *lease.Lease) error {
	left, err := q.settle(ctx, l, lease.Accepted)
	if err != nil {
		return err
	}
	q.acked.Add(1)
	q.note(l, fact{partition: l.At.Partition, kind: marker.End, reason: marker.Acked})
	if left < hurryBefore {
		q.out.hasten()
	}
	step.At(step.Acked)
	return nil
}

// Nack notes a release marker: the tracker delivers the record again once the delay has
// passed. Delays are of whole milliseconds, rounded up, and at most marker.MaxDuration. The
// tracker keeps what waits: past delayedAtMost of a partition the error is lease.ErrDelayed, and
// the record stays lent.
func (q *queue) Nack(ctx context.Context, l *lease.Lease, delay time.Duration) error {
	delay, err := millis(delay, 0)
	if err != nil {
		return err
	}
	if err := q.kept(ctx, l.At.Partition); err != nil {
		return err
	}
	if err := q.set.Check(l); err != nil {
		return err
	}
	until, err := q.delays.take(l.At.Partition, time.Since(q.began), delay)
	if err != nil {
		return err
	}
	if _, err := q.settle(ctx, l, lease.Released); err != nil {
		q.delays.giveBack(l.At.Partition, until)
		return err
	}
	q.nacked.Add(1)
	q.note(l, fact{partition: l.At.Partition, kind: marker.Release, delay: delay})
	return nil
}

// Unhand notes a release marker that says that the record was not delivered.
func (q *queue) Unhand(ctx context.Context, l *lease.Lease) error {
	if err := q.kept(ctx, l.At.Partition); err != nil {
		return err
	}
	if _, err := q.settle(ctx, l, lease.Released); err != nil {
		return err
	}
	q.note(l, fact{partition: l.At.Partition, kind: marker.Release, undelivered: true})
	return nil
}

func (q *queue) settle(ctx context.Context, l *lease.Lease, as lease.State) (left time.Duration, err error) {
	if err := q.out.room(ctx, l.At.Partition); err != nil {
		return 0, err
	}
	return q.set.SettleLeft(l, as)
}

// millis rounds a duration up to what a marker can say.
func millis(d, least time.Duration) (time.Duration, error) {
	if d < least || d > marker.MaxDuration {
		return 0, fmt.Errorf("%w: a duration of %v: choose one from %v to %v", lease.ErrConfig, d, least, marker.MaxDuration)
	}
	return (d + time.Millisecond - 1).Truncate(time.Millisecond), nil
}

// Extend writes an extend marker and returns when it is durable.
func (q *queue) Extend(ctx context.Context, l *lease.Lease, d time.Duration) error {
	if err := q.set.Check(l); err != nil {
		return err
	}
	if err := q.ExtendAll(ctx, []*lease.Lease{l}, d); err != nil {
		return err
	}
	return q.set.Check(l)
}

// ExtendAll writes an extend marker for each run of offsets and returns when all are
// durable.
func (q *queue) ExtendAll(ctx context.Context, leases []*lease.Lease, d time.Duration) error {
	d, err := millis(d, time.Millisecond)
	if err != nil {
		return err
	}
	if err := q.kept(ctx, partitionsOf(leases)...); err != nil {
		return err
	}
	return q.extend(ctx, leases, d)
}

// Reject copies a record to the dead-letter topic and notes its end once the copy is
// durable. If ctx ends before, or the cluster refuses the copy, the lease is settled all
// the same, and the record will be delivered again after its deadline.
func (q *queue) Reject(ctx context.Context, l *lease.Lease, reason string) error {
	if q.cfg.DeadLetterTopic == "" {
		return fmt.Errorf("%w: reject a record without a DeadLetterTopic; name one, or acknowledge the record", lease.ErrUnsupported)
	}
	if _, err := q.settle(ctx, l, lease.Rejected); err != nil {
		return err
	}
	step.At(step.BeforeCopy)
	dead := lease.DeadLetter(l.Original(), l.Origin, l.Attempt, reason, q.cfg.Group, q.cfg.DeadLetterTopic, q.topics.DeadLetterPartitions)
	if err := q.copier.Bury(ctx, dead); err != nil {
		return fmt.Errorf("kmq: the record was not rejected and will be delivered again: %w", err)
	}
	step.At(step.Copied)
	q.rejected.Add(1)
	q.deadLettered.Add(1)
	q.givenUp.Record(l.Origin, reason)
	q.note(l, fact{partition: l.At.Partition, kind: marker.End, reason: marker.DeadLettered})
	q.out.hasten() // the copy took some of its time
	return nil
}

// Flush waits until what was settled is in the markers' topic, or has nothing open before it,
// and the offsets of what was started are committed: what was settled and is not committed
// would be read, and started, once more.
func (q *queue) Flush(ctx context.Context) error {
	if err := engine.Persist(ctx, q.cfg.Log, "write start markers", q.late.flush); err != nil {
		return err
	}
	if err := q.starts.flushLate(ctx); err != nil {
		return err
	}
	if _, err := q.starts.standing(); err != nil { // some of it may never be started, or committed
		return err
	}
	if err := q.out.flush(ctx); err != nil {
		return err
	}
	return engine.Persist(ctx, q.cfg.Log, "commit", q.member.Commit)
}

// Close leaves the group, gives back by release markers what is not settled, and ends the
// tracker last, so that it can still deliver that again.
func (q *queue) Close(ctx context.Context) error {
	q.closing.Do(func() {
		errs := []error{q.member.Close(ctx)}
		q.keeper.close()
		q.giveBack()
		errs = append(errs, q.out.flush(ctx))
		if q.tracker != nil {
			errs = append(errs, q.tracker.Close(ctx))
		}
		q.release()
		q.closeErr = errors.Join(errs...)
	})
	return q.closeErr
}

// giveBack releases what is open. What was never handed out does not count as delivered;
// what is not known to be started is not committed either, and is read again.
func (q *queue) giveBack() {
	open := q.set.LoseAll(nil)
	q.lost.Add(int64(len(open)))
	q.marking.Lock()
	defer q.marking.Unlock()
	for _, l := range open {
		if l.Mark&begun == 0 {
			continue
		}
		delivered := l.Mark&handed != 0
		q.out.put(fact{partition: l.At.Partition, kind: marker.Release, undelivered: !delivered}, l.At.Offset)
	}
}

// release ends what runs.
func (q *queue) release() {
	if q.keeper != nil {
		q.keeper.close()
	}
	if q.soon != nil {
		q.soon.close()
	}
	if q.watch != nil {
		q.watch.Close()
	}
	if q.starts != nil {
		q.starts.close()
	}
	if q.late != nil {
		q.late.close()
	}
	q.copier.Close()
	q.out.close(q.writer.Close)
	q.set.Close()
}

// Counts are the engine's counters, with those of its tracker.
func (q *queue) Counts() engine.Counts {
	var c engine.Counts
	if q.tracker != nil {
		c = q.tracker.Counts()
	}
	q.member.Counts(&c)
	c.Acked, c.Nacked, c.Rejected = q.acked.Load(), q.nacked.Load(), q.rejected.Load()
	c.Expired, c.Lost = q.expired.Load(), q.lost.Load()
	c.DeadLettered += q.deadLettered.Load()
	if q.watch != nil {
		c.RetentionAlarm = q.watch.Alarm()
	}
	return c
}

// reach is what the retention of the queue's topic must cover, as far as a queue knows it
// whose tracker is elsewhere: the rest is the tracker's.
func (q *queue) reach() []reach {
	var all []reach
	for _, p := range q.member.Owned() {
		all = append(all, reach{partition: p, record: -1, marker: -1})
	}
	return all
}
