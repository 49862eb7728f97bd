// Package offsetmap is the engine that keeps acknowledged offsets beyond the committed one in the
// metadata of the commit.
//
// A partition's commit is the offset of its oldest record that is not done. The commit's metadata
// is a map of what is done beyond that offset; [coder] defines the format. The engine needs no
// other topic and writes nothing for a single record. Brokers bound the metadata. So a partition
// takes a new record only if the map will fit after any later acknowledgements; otherwise it is
// paused. The map is never cut.
//
// A record whose lock expires, or that is released, is delivered again from its place. If its delay is long, the map
// nearly full, or retention about to delete the record, it moves to the group's retry topic, which the member reads too:
// a copy with the number of deliveries is written there, and the original is done. So no record holds back the commit
// forever. The metadata also holds the deliveries of open records; after a crash they count if they were committed.
//
// Files to know: offsetmap.go, partition.go, codec.go, epochs.go, suspect.go, waiting.go, retry.go, mover.go.
package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// deleteEvery is the time between two deletions of settled records in the retry topic.
const deleteEvery = time.Minute

type outlet interface {
	Push(leases ...*lease.Lease)
	Append(leases ...*lease.Lease)
	Pause(partition int32)
	Resume(partition int32)
}

// Engine implements [engine.Engine] with maps in its commits.
type Engine struct {
	cfg    engine.Config
	topics engine.Topics

	set      *lease.Set
	member   *member.Member
	out      outlet
	producer producer
	copier   copier
	watch    *retention.Watch

	// mu is locked before the locks of the set and of the member.
	mu         sync.Mutex
	limit      int // of a commit's metadata, in characters; may be lowered
	calm       *sync.Cond
	partitions map[int32]*partition
	pool       *pool
	moves      []*move
	large      []*move
	toRead     []toRead
	failed     bool
	// waitingBytes is the size of the records that wait in memory and do not count.
	waitingBytes int
	missing      engine.Missing
	held         int
	counts       engine.Counts

	careful atomic.Bool // a partition is suspect, or has no flag yet
	lending engine.Turn // one careful hand-out at a time
	// waitsAlone is a record that waits until no handler runs, or before which others wait for its handler.
	waitsAlone lease.ID

	begun []*lease.Lease // Begin's buffer: only one call of Begin runs at a time

	coding sync.Mutex // guards coder and tight
	coder  coder
	tight  *engine.Complaint
	wake   chan struct{}
	life   context.Context // ends when the engine is closed
	stop   context.CancelFunc

	wakeLarge   chan struct{}
	closeCopies func()

	wakeReader chan struct{}
	reread     func(ctx context.Context, partition int32, offsets []int64) ([]*kgo.Record, error)
	rereader   rereader

	running sync.WaitGroup
	started chan struct{}
	closing sync.Once
	closed  error

	complaint *engine.Complaint
	givenUp   *engine.GivenUp
}

// New opens the engine. It returns after it has checked the topics.
func New(ctx context.Context, cfg engine.Config) (engine.Engine, error) {
	topics, limit, err := look(ctx, cfg)
	if err != nil {
		return nil, err
	}
	e := newEngine(cfg, limit, topics)
	e.member, err = member.Open(ctx, member.Config{
		Config: cfg, Handler: handler{e}, Set: e.set, Lend: cfg.Visibility, Retries: cfg.RetryTopic != "",
		// A resumed partition waits for the running fetch.
		Options: []kgo.Opt{kgo.FetchMaxWait(500 * time.Millisecond)},
	})
	if err != nil {
		e.set.Close()
		return nil, err
	}
	copies := engine.NewCopier(&e.cfg, e.member.Client())
	e.closeCopies = copies.Close
	e.start(e.member, e.member.Client(), copies)
	e.watch = retention.New(e.member.Client(), cfg.Log, e.needed, cfg.Topic)
	if cfg.RetryTopic != "" {
		e.running.Go(func() {
			engine.Every(e.life, deleteEvery, cfg.Log, "delete settled retries", e.member.DeleteRetries)
		})
	}
	return e, nil
}

func newEngine(cfg engine.Config, limit int, topics engine.Topics) *Engine {
	e := &Engine{
		cfg: cfg, limit: limit, topics: topics, wakeReader: make(chan struct{}, 1),
		partitions: map[int32]*partition{}, pool: newPool(cfg.MaxInFlight), closeCopies: func() {}, wake: make(chan struct{}, 1), wakeLarge: make(chan struct{}, 1), started: make(chan struct{}),
		complaint: engine.NewComplaint(cfg.Log), tight: engine.NewComplaint(cfg.Log),
		givenUp: engine.NewGivenUp(cfg.Log), lending: engine.NewTurn(),
	}
	e.calm, e.waitsAlone = sync.NewCond(&e.mu), noRecord
	e.rereader = rereader{cfg: &e.cfg}
	e.reread = e.rereader.read
	e.set = lease.NewSet(cfg.MaxInFlight, e.expired)
	return e
}

// Partitions may be assigned before start, but their records wait for it.
func (e *Engine) start(out outlet, p producer, c copier) {
	ctx, stop := context.WithCancel(context.Background())
	e.out, e.producer, e.copier, e.life, e.stop = out, p, c, ctx, stop
	e.running.Go(func() { e.moveRecords(ctx) })
	e.running.Go(func() { e.moveLarge(ctx) })
	e.running.Go(func() { e.readRecords(ctx) })
	e.running.Go(func() { e.learnLimit(ctx) })
	close(e.started)
}

// Take is the member's: see engine.Engine.
func (e *Engine) Take(ctx context.Context, max int) ([]*lease.Lease, error) {
	return e.member.Take(ctx, max)
}

// Lend is the member's, unless deliveries are to be durable first: see engine.Engine.
func (e *Engine) Lend(ctx context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	if e.careful.Load() {
		return e.lendCarefully(ctx, leases, to)
	}
	return e.member.Lend(ctx, leases, to)
}

// Return gives back taken records: see engine.Engine.
func (e *Engine) Return(leases []*lease.Lease) {
	e.mu.Lock()
	leases = slices.DeleteFunc(leases, func(l *lease.Lease) bool { return !e.unpark(l) })
	e.mu.Unlock()
	e.member.Return(leases)
}

// ForgetHolder implements [engine.Engine].
func (e *Engine) ForgetHolder(l *lease.Lease) { e.member.ForgetHolder(l) }

// Ack marks a record as processed for the next commit.
func (e *Engine) Ack(_ context.Context, l *lease.Lease) error {
	e.mu.Lock()
	err := e.set.Settle(l, lease.Accepted)
	if err == nil {
		e.counts.Acked++
		e.finish(l.Private.(*slot))
	}
	e.mu.Unlock()
	if err == nil {
		step.At(step.Acked)
	}
	return err
}

func (e *Engine) finish(s *slot) {
	e.unkeep(s)
	p := s.run.of
	p.done(s)
	if len(p.held) > 0 {
		e.release(p)
	}
}

func (e *Engine) release(p *partition) {
	n := 0
	var ready []*lease.Lease
	for ; n < len(p.held) && p.fits(p.held[n].At.Offset, e.limit); n++ {
		l := p.held[n]
		s := l.Private.(*slot)
		if _, handOut := e.take(s); handOut {
			ready = append(ready, l)
		} else if s.phase == waiting {
			e.delay(s)
		}
	}
	p.held = p.held[n:]
	p.pass()
	e.held -= n
	e.out.Append(ready...)
	if p.paused && len(p.held) <= e.cfg.MaxInFlight/16 {
		p.paused = false
		e.out.Resume(p.id)
	}
}

// Nack releases a record.
func (e *Engine) Nack(_ context.Context, l *lease.Lease, delay time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	err := e.giveBack(l, l.Attempt+1, delay)
	if err == nil {
		e.counts.Nacked++
	}
	return err
}

// Unhand gives back a record whose delivery does not count. Without a delay its next lease has no deadline, so commits do
// not count the delivery either.
func (e *Engine) Unhand(_ context.Context, l *lease.Lease, delay time.Duration) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.giveBack(l, l.Attempt, delay)
}

// giveBack settles a lease so that its record is delivered again, as an attempt with this number.
func (e *Engine) giveBack(l *lease.Lease, attempt int, delay time.Duration) error {
	s, next, until := l.Private.(*slot), l.Again(), time.Now().Add(delay)
	waits := delay > 0 && !e.isLast(attempt-1)
	moves := waits && e.movesAfter(l, delay)
	next.Attempt = attempt
	deadline := time.Time{}
	if waits && !moves {
		next.Attempt, deadline = attempt-1, until // a waiting record has the number of the ended attempt
	}
	if err := e.set.Swap(l, lease.Released, next, deadline); err != nil {
		return err
	}
	s.lease = next
	switch {
	case moves:
		e.enqueue(s, move{until: until})
	case waits:
		e.wait(s)
	default:
		e.again(s, next, time.Time{})
	}
	return nil
}

// In again, next is the lease of the next attempt, which is in the set without a deadline. due is
// the end of the lock; zero: lateness is not measured.
func (e *Engine) again(s *slot, next *lease.Lease, due time.Time) {
	s.lease = next
	if deliveries := next.Attempt - 1; e.isLast(deliveries) {
		e.enqueue(s, move{dead: true, due: due, reason: fmt.Sprintf("delivered %d times", deliveries)})
		return
	}
	s.phase, s.run.of.changed = live, true
	if !due.IsZero() {
		e.counts.Lateness.Add(time.Since(due))
	}
	e.out.Push(next)
}

func (e *Engine) expired(l *lease.Lease) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := l.Private.(*slot)
	if s.lease != l {
		return // its copy just became durable
	}
	if s.phase == live {
		e.counts.Expired++
	}
	if s.run.of.gone || s.phase == void {
		e.unkeep(s)
		return
	}
	if s.phase == moving {
		e.overdue(s, l)
		return
	}
	complete := true
	if s.phase == waiting {
		complete = e.unshelve(s)
	} else {
		l.Failed("the lock expired", time.Now())
	}
	next := l.Again()
	e.set.Add(next, time.Time{})
	if !complete {
		s.lease, s.phase = next, reading
		e.set.Excuse(next)
		e.readAgain(toRead{slot: s, lease: next, due: l.Deadline()})
		return
	}
	e.again(s, next, l.Deadline())
}

// Extend sets the lock to expire d from now.
func (e *Engine) Extend(_ context.Context, l *lease.Lease, d time.Duration) error {
	return e.set.Extend(l, time.Now().Add(d))
}

// Reject gives a record up. If ctx ends first, the copy is still written. If the lock expires,
// Reject returns lease.ErrExpired and the record is delivered again. If the dead-letter topic
// refuses the copy or is missing, Reject returns the topic's error and the record is delivered
// again later.
func (e *Engine) Reject(ctx context.Context, l *lease.Lease, reason string) error {
	told := make(chan error, 1)
	e.mu.Lock()
	next := l.Again()
	err := e.set.Swap(l, lease.Rejected, next, l.Deadline())
	if err == nil {
		s := l.Private.(*slot)
		s.lease = next
		e.enqueue(s, move{dead: true, reason: reason, rejected: true, told: told})
	}
	e.mu.Unlock()
	if err != nil {
		return err
	}
	select {
	case err = <-told:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Flush commits what is known: see engine.Engine.
func (e *Engine) Flush(ctx context.Context) error {
	return engine.Persist(ctx, e.cfg.Log, "commit", func(ctx context.Context) error {
		if err := e.commitOnce(ctx); err != nil {
			return err
		}
		return e.whole()
	})
}

// whole returns an error if a commit lacks a map.
func (e *Engine) whole() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, p := range e.partitions {
		if p.tight {
			return fmt.Errorf("partition %d of topic %s: %w", lease.NumberInTopic(id), e.cfg.TopicOf(id), errTooLong)
		}
	}
	return nil
}

// Close gives back what is not settled, commits, and leaves the group.
func (e *Engine) Close(ctx context.Context) error {
	e.closing.Do(func() {
		e.watch.Close()
		e.closed = e.member.Close(ctx)
		e.halt()
	})
	return e.closed
}

func (e *Engine) halt() {
	e.stop()
	e.running.Wait()
	e.closeCopies()
	e.rereader.close()
	e.set.Close()
}

// Counts returns the engine's counters.
func (e *Engine) Counts() engine.Counts {
	c := engine.Counts{RetentionAlarm: e.watch.Alarm()}
	e.member.Counts(&c)
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.count(c)
}

// A partition with held records counts as paused.
func (e *Engine) count(c engine.Counts) engine.Counts {
	own := e.counts
	own.Delivered, own.Redelivered = c.Delivered, c.Redelivered
	own.InFlight, own.OldestUnacked, own.CommitBehind = c.InFlight, c.OldestUnacked, c.CommitBehind
	own.RetentionAlarm = c.RetentionAlarm
	own.Waiting = e.set.Excused()
	if own.Waiting >= mostWaiting {
		own.Blocked = append(own.Blocked, fmt.Sprintf("%d records wait for another attempt: further ones count against MaxInFlight", own.Waiting))
	}
	if e.waitsAlone != noRecord {
		own.Blocked = append(own.Blocked, fmt.Sprintf("record %v waits until the running handlers have ended: "+
			"it, or one of theirs, may have killed a process", e.waitsAlone))
	}
	for id, p := range e.partitions {
		if len(p.held) == 0 {
			continue
		}
		own.Blocked = append(own.Blocked, fmt.Sprintf("partition %d of topic %s: the map of its commit is full: %d records are open from offset %d on (%s is %d)",
			lease.NumberInTopic(id), e.cfg.TopicOf(id), p.window.Open(), p.window.Committable(), limitKey, e.limit))
		if !lease.IsRetry(id) {
			own.Paused = append(own.Paused, id)
		}
	}
	slices.Sort(own.Blocked)
	slices.Sort(own.Paused)
	return own
}

func (e *Engine) needed(context.Context) ([]retention.Need, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([]retention.Need, 0, len(e.partitions))
	for id, p := range e.partitions {
		if lease.IsRetry(id) {
			continue // it has no limit of retention, or one that the operator chose
		}
		n := retention.Need{Topic: e.cfg.Topic, Partition: id}
		n.From = p.window.Committable()
		if !p.begun {
			n.From = retention.Start
		}
		all = append(all, n)
	}
	return all, nil
}

var (
	_ producer       = (*kgo.Client)(nil)
	_ member.Deleter = handler{}
	_ member.Cutter  = handler{}
	_ member.Mapper  = handler{}
)

var errTooLong = errors.New("the map is longer than the broker's offset.metadata.max.bytes")
