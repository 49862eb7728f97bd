package markers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
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
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// queue is the engine: a member of the group, what it writes, and a tracker unless others run it.
type queue struct {
	cfg    engine.Config
	topics engine.Topics
	scribe scribe
	holder uint32 // distinguishes this process's starts

	writer  *kgo.Client
	copier  *engine.Copier
	member  *member.Member
	set     *lease.Set
	out     *outbox
	tracker *Tracker         // nil: others run it
	watch   *retention.Watch // nil: the tracker's
	givenUp *engine.GivenUp

	running  context.Context // ends when no more starts are written
	halt     context.CancelFunc
	work     sync.WaitGroup // writes starts
	starting pending        // calls that write start markers

	mu        sync.Mutex               // guards also the marks of leases; taken before the set's lock
	windows   map[int32]*window.Window // of the partitions that the member has
	extending map[int32]engine.Turn
	trouble   *engine.Complaint

	delayed atomic.Int64 // records given back with a delay that has not passed

	acked, nacked, rejected, expired, lost, deadLettered atomic.Int64

	closing  sync.Once
	closeErr error
}

// New opens the engine. The markers' topic is created if it is missing. Errors are lease.ErrConfig
// or the cluster's.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	topics, err := prepare(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	q := &queue{
		cfg: cfg, topics: topics, scribe: newScribe(&cfg), holder: rand.Uint32(),
		windows: make(map[int32]*window.Window), extending: make(map[int32]engine.Turn),
		trouble: engine.NewComplaint(cfg.Log), givenUp: engine.NewGivenUp(cfg.Log),
	}
	q.writer, err = kgo.NewClient(cfg.ClientOptions(writerOptions(&cfg)...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	q.running, q.halt = context.WithCancel(context.Background())
	q.copier = engine.NewCopier(&q.cfg, q.writer)
	q.set = lease.NewSet(cfg.MaxInFlight, func(*lease.Lease) { q.expired.Add(1) })
	q.out = newOutbox(q.writer, &cfg, q.holder)
	if err := q.open(ctx); err != nil {
		q.free()
		return nil, err
	}
	return q, nil
}

func (q *queue) open(ctx context.Context) (err error) {
	_, err = member.Open(ctx, member.Config{
		Config: q.cfg, Handler: handler{q}, Set: q.set, Retries: true,
		Opened: func(m *member.Member) { q.member = m },
	})
	if err != nil {
		return err
	}
	if q.cfg.ExternalTracker {
		q.watch = newWatch(&q.cfg, q.writer, func() (all []need) {
			for _, p := range q.member.Owned() {
				all = append(all, need{partition: p, record: -1, marker: -1}) // the tracker knows more
			}
			return all
		})
		return nil
	}
	if q.tracker, err = openTracker(ctx, q.cfg, q.topics); err != nil {
		return errors.Join(err, q.member.Close(ctx))
	}
	q.work.Go(func() {
		if err := q.tracker.Wait(q.running); q.running.Err() == nil {
			q.member.Fail(err)
		}
	})
	return nil
}

// Ack notes an end marker, which is written with others soon.
func (q *queue) Ack(_ context.Context, l *lease.Lease) error {
	if err := q.settle(l, lease.Accepted, fact{kind: marker.End, reason: marker.Acked}); err != nil {
		return err
	}
	q.acked.Add(1)
	step.At(step.Acked)
	return nil
}

// delayedAtMost is how many records a process may have given back with a delay that has not passed:
// the tracker keeps them meanwhile.
const delayedAtMost = 1 << 16

// Nack notes a release marker: the tracker delivers the record again once the delay has passed.
// Delays are rounded up to whole milliseconds, and at most marker.MaxDuration. With delayedAtMost
// delayed records the error is lease.ErrDelayed, and the record stays locked.
func (q *queue) Nack(_ context.Context, l *lease.Lease, delay time.Duration) error {
	if q.cfg.MaxDeliveries > 0 && l.Attempt >= q.cfg.MaxDeliveries {
		delay = 0 // it becomes a dead letter
	}
	if err := q.release(l, fact{kind: marker.Release, delay: delay}); err != nil {
		return err
	}
	q.nacked.Add(1)
	return nil
}

// Unhand notes a release marker that says that the record was not delivered; otherwise it is as Nack.
func (q *queue) Unhand(_ context.Context, l *lease.Lease, delay time.Duration) error {
	return q.release(l, fact{kind: marker.Release, delay: delay, undelivered: true})
}

func (q *queue) release(l *lease.Lease, f fact) (err error) {
	if f.delay, err = millis(f.delay, 0); err != nil {
		return err
	}
	if f.delay > 0 {
		if q.delayed.Add(1) > delayedAtMost {
			q.delayed.Add(-1)
			return fmt.Errorf("%w: %d; give the record back without a delay, or wait: it stays locked until its deadline",
				lease.ErrDelayed, delayedAtMost)
		}
		time.AfterFunc(f.delay, func() { q.delayed.Add(-1) })
	}
	return q.settle(l, lease.Released, f)
}

func (q *queue) settle(l *lease.Lease, as lease.State, f fact) error {
	left, err := q.set.SettleLeft(l, as)
	if err != nil {
		return err
	}
	if f != (fact{}) {
		q.out.put(f.about(l), l.At.Offset, f.kind != marker.End || left < hurryBefore)
	}
	return nil
}

// millis rounds a duration up to what a marker can say.
func millis(d, least time.Duration) (time.Duration, error) {
	if d < least || d > marker.MaxDuration {
		return 0, fmt.Errorf("%w: a duration of %v: choose one from %v to %v", lease.ErrConfig, d, least, marker.MaxDuration)
	}
	return (d + time.Millisecond - 1).Truncate(time.Millisecond), nil
}

// Extend writes a keep-alive marker and returns when it is durable, one call for each partition at a time, so that the last
// extension here is the last in the log. Until it is known to be durable, a lock ends here at the earlier of the two
// deadlines, and a deadline counts from before the write: so it is never later here than in the log.
func (q *queue) Extend(ctx context.Context, l *lease.Lease, d time.Duration) error {
	d, err := millis(d, time.Millisecond)
	if err != nil {
		return err
	}
	q.mu.Lock()
	turn := q.extending[l.At.Partition]
	if turn == nil {
		turn = engine.NewTurn()
		q.extending[l.At.Partition] = turn
	}
	q.mu.Unlock()
	select {
	case turn <- struct{}{}:
		defer turn.Unlock()
	case <-ctx.Done():
		return ctx.Err()
	}
	until, earlier := time.Now().Add(d), l.Deadline()
	if until.Before(earlier) {
		earlier = until
	}
	if err := q.set.Extend(l, earlier); err != nil {
		return err
	}
	m := q.scribe.record(marker.Marker{
		Partition: l.At.Partition, Offset: l.At.Offset, Count: 1, Type: marker.Extend, Duration: d, Holder: q.holder,
	})
	if err := q.copier.Write(ctx, m)[0]; err != nil {
		return cmp.Or(ctx.Err(), fmt.Errorf("kmq: write to partition %d of topic %s: %w", m.Partition, m.Topic, err))
	}
	return q.set.Extend(l, until)
}

// Reject copies a record to the dead-letter topic and notes its end once the copy is durable. If ctx
// ends before, or the cluster refuses the copy, the lease is settled all the same, and the record
// will be delivered again after its deadline.
func (q *queue) Reject(ctx context.Context, l *lease.Lease, reason string) error {
	if err := q.settle(l, lease.Rejected, fact{}); err != nil {
		return err
	}
	step.At(step.BeforeCopy)
	dead := l.DeadLetter(l.Attempt, reason, q.cfg.Group, q.cfg.DeadLetterTopic, q.topics.DeadLetterPartitions)
	if err := q.copier.Bury(ctx, dead); err != nil {
		return fmt.Errorf("kmq: the record was not rejected and will be delivered again: %w", err)
	}
	step.At(step.Copied)
	q.rejected.Add(1)
	q.deadLettered.Add(1)
	q.givenUp.Record(l.Origin(), reason)
	q.out.put(fact{kind: marker.End, reason: marker.DeadLettered}.about(l), l.At.Offset, true)
	return nil
}

// Flush waits until what was settled is in the markers' topic, and the offsets of what was started
// are committed: otherwise it would be read, and started, once more.
func (q *queue) Flush(ctx context.Context) error {
	if err := q.starting.wait(ctx); err != nil {
		return err
	}
	if err := q.out.flush(ctx); err != nil {
		return err
	}
	return engine.Persist(ctx, q.cfg.Log, "commit", q.member.Commit)
}

// Close leaves the group, gives back by release markers what is not settled, and ends the tracker
// last, so that it can still deliver that again.
func (q *queue) Close(ctx context.Context) error {
	q.closing.Do(func() {
		errs := []error{q.member.Close(ctx)}
		q.halt()
		q.giveBack()
		errs = append(errs, q.out.flush(ctx))
		if q.tracker != nil {
			errs = append(errs, q.tracker.Close(ctx))
		}
		q.free()
		q.closeErr = errors.Join(errs...)
	})
	return q.closeErr
}

// giveBack releases what is open. What was not handed out does not count as delivered; what has no
// durable start is read again.
func (q *queue) giveBack() {
	open := q.set.LoseAll(nil)
	q.lost.Add(int64(len(open)))
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range open {
		if l.Mark >= started {
			q.out.put(fact{kind: marker.Release, undelivered: l.Mark < handed}.about(l), l.At.Offset, true)
		}
	}
}

// free ends what runs.
func (q *queue) free() {
	q.halt()
	if q.watch != nil {
		q.watch.Close()
	}
	q.copier.Close()
	q.out.close()
	q.writer.Close()
	q.work.Wait()
	q.set.Close()
}

// Counts returns the engine's counters, with those of its tracker.
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

func byPartition(leases []*lease.Lease) map[int32][]*lease.Lease {
	of := make(map[int32][]*lease.Lease)
	for _, l := range leases {
		of[l.At.Partition] = append(of[l.At.Partition], l)
	}
	return of
}

// runs sorts leases of one partition and cuts them into runs of offsets of one leader epoch, each
// for one marker.
func runs(leases []*lease.Lease) (all [][]*lease.Lease) {
	slices.SortFunc(leases, func(a, b *lease.Lease) int { return cmp.Compare(a.At.Offset, b.At.Offset) })
	from := 0
	for i, l := range leases {
		if i+1 == len(leases) || leases[i+1].At.Offset != l.At.Offset+1 || leases[i+1].Index != l.Index || i+1-from == marker.MaxCount {
			all = append(all, leases[from:i+1])
			from = i + 1
		}
	}
	return all
}
