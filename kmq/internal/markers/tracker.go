package markers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// Group is the group of the trackers of a queue's group: it reads the markers and commits
// what it has read of them.
func Group(group string) string { return group + "-tracker" }

// The rhythm of a tracker.
const (
	// pollAtMost is how many markers are taken in at a time.
	pollAtMost = 10_000
	// pace is how long markers are let come together at the brokers, so that reading
	// them costs few requests, unless a redelivery waits for them.
	pace = 50 * time.Millisecond
	// idle is the longest wait for markers before the partitions are looked at again.
	idle = 500 * time.Millisecond
	// wakeLeast is the shortest.
	wakeLeast = 2 * time.Millisecond
	// tickEvery is the least time between two ticks of a partition.
	tickEvery = 10 * time.Millisecond
	// tickLostAfter is after how long a tick that was written and can't be read is taken for
	// lost, as a leader that fails may lose it, and another is written.
	tickLostAfter = 5 * time.Second
	// redeliveringAtMost is in how many partitions records are redelivered at a time, each
	// of which has as many in memory as are read together. Those whose last try failed are
	// counted apart, so that they can't take the turns of the others.
	redeliveringAtMost = 32
	troubledAtMost     = 16
	// endingAtMost is how many batches of ends of what was redelivered are being written in
	// a partition at a time, before more is redelivered.
	endingAtMost = 3
	// spansAtMost is how many ranges of records are kept of one partition before those
	// that are due are redelivered first, and nothing more is read.
	spansAtMost = 1 << 18
	// revokeFor bounds how long the redeliveries under way may take to end when their
	// partitions are taken away. What is broken off is redelivered twice.
	revokeFor = 10 * time.Second
)

// Tracker redelivers the records of a group whose locks have run out. It is a member of a
// group of its own; several share the partitions of the markers.
type Tracker struct {
	cfg    engine.Config
	topics topics
	scribe scribe
	began  time.Time

	group  *kgo.Client    // reads markers
	writer *kgo.Client    // writes copies, ends and ticks
	reader *reader        // reads what is to be copied
	copier *engine.Copier // writes copies
	txns   *transactions
	large  *transactions // those in which a record is moved alone; nil: none was
	slow   *transactions // those of partitions that are in trouble; nil: none was
	watch  *retention.Watch

	mu    sync.Mutex // held briefly, beside what a poll's turn protects
	parts map[int32]*part

	counting sync.Mutex
	late     engine.Histogram

	poking sync.Mutex
	poked  bool               // the next poll is not to wait
	poll   context.CancelFunc // ends the poll that waits
	rested chan struct{}      // markers are not to be let come together any longer

	turns    chan struct{} // redeliveries under way
	troubled chan struct{} // those of partitions whose last try failed

	tailed, deadLettered, missing, refused, retried atomic.Int64
	givenUp                                         *engine.GivenUp

	ending  sync.Once
	end     error         // what ended the tracker
	ended   chan struct{} // closed with it
	running context.Context
	halt    context.CancelFunc
	ran     chan struct{} // closed when nothing more is begun
	work    sync.WaitGroup
	leaving []<-chan struct{} // closed when the work on a partition that was given up ends; under mu

	closing  sync.Once
	closeErr error
}

// NewTracker opens a tracker that is not part of a queue, with the configuration of the
// group's queues.
func NewTracker(ctx context.Context, cfg engine.Config) (*Tracker, error) {
	topics, err := prepare(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	cfg.ExternalTracker = true
	return openTracker(cfg, topics)
}

func openTracker(cfg engine.Config, topics topics) (t *Tracker, err error) {
	t = &Tracker{
		cfg: cfg, topics: topics, scribe: newScribe(&cfg), began: time.Now(), parts: map[int32]*part{},
		turns: make(chan struct{}, redeliveringAtMost), troubled: make(chan struct{}, troubledAtMost), rested: make(chan struct{}, 1),
		givenUp: engine.NewGivenUp(cfg.Log), ended: make(chan struct{}),
	}
	t.running, t.halt = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			t.release()
		}
	}()
	if t.writer, err = kgo.NewClient(cfg.ClientOptions(writerOptions(&cfg, topics)...)...); err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	if cfg.Transactions {
		if t.txns, err = newTransactions(&cfg, topics); err != nil {
			return nil, err
		}
	}
	t.copier = engine.NewCopier(&t.cfg, t.writer)
	t.reader = newReader(t.writer, cfg.Topic, cfg.Transactions)
	t.watch = newWatch(&t.cfg, t.writer, t.reach)
	opts := cfg.ClientOptions(cfg.GroupOptions(Group(cfg.Group), cfg.MarkersTopic)...)
	opts = append(opts, isolation(&cfg)...)
	opts = append(opts,
		kgo.WithHooks(arrivals(t.now)),
		kgo.KeepControlRecords(), // they take offsets, up to which markers have been read
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.AdjustFetchOffsetsFn(t.from),
		kgo.OnPartitionsAssigned(t.onAssigned),
		kgo.OnPartitionsRevoked(t.onRevoked),
		kgo.OnPartitionsLost(t.onLost),
	)
	if t.group, err = kgo.NewClient(opts...); err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	t.ran = make(chan struct{})
	t.work.Go(func() {
		defer close(t.ran)
		t.run()
	})
	return t, nil
}

// Close ends the redeliveries under way, commits, and leaves the group. ctx bounds that;
// nothing runs any more when it returns.
func (t *Tracker) Close(ctx context.Context) error {
	t.closing.Do(func() {
		t.finish(lease.ErrClosed)
		stop := context.AfterFunc(ctx, func() { t.breakOff(t.owned()) }) // also of what is being taken away
		defer stop()
		await(ctx, t.ran)
		for _, over := range t.left() {
			await(ctx, over)
		}
		err := t.letGo(ctx, t.owned())
		if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.FencedInstanceID) {
			t.cfg.Log.Warn("kmq: the group has put the tracker out: others read its markers again", "error", err)
			err = nil
		}
		t.group.AllowRebalance()
		if left := t.group.LeaveGroupContext(ctx); left != nil {
			err = errors.Join(err, fmt.Errorf("kmq: leave group %s: %w", Group(t.cfg.Group), left))
		}
		t.release()
		t.work.Wait() // what was broken off ends with the clients
		t.closeLate()
		t.closeErr = err
	})
	return t.closeErr
}

// await waits until over is closed, or for ctx.
func await(ctx context.Context, over <-chan struct{}) {
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// leave notes the work on a partition that is being given up: Close waits for it.
func (t *Tracker) leave(over <-chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaving = append(slices.DeleteFunc(t.leaving, func(over <-chan struct{}) bool {
		select {
		case <-over:
			return true
		default:
			return false
		}
	}), over)
}

// left returns the work on partitions that were given up.
func (t *Tracker) left() []<-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.leaving)
}

// Wait returns what ended the tracker, lease.ErrClosed after Close, or the error of ctx once
// that has ended.
func (t *Tracker) Wait(ctx context.Context) error {
	select {
	case <-t.ended:
		return t.end
	case <-ctx.Done():
		return ctx.Err()
	}
}

// finish ends the tracker: it does nothing any more, and Wait says why.
func (t *Tracker) finish(why error) {
	t.ending.Do(func() {
		t.end = why
		close(t.ended)
		t.halt()
		if !errors.Is(why, lease.ErrClosed) {
			t.cfg.Log.Error("kmq: the tracker has ended", "error", why)
		}
	})
}

// refusedTimeout is what a session timeout comes to that the brokers do not allow. A queue
// ends by it, and its tracker with it; one on its own has to by itself.
func (t *Tracker) refusedTimeout(err error) {
	if t.cfg.ExternalTracker {
		t.finish(engine.RefusedSessionTimeout(err))
	}
}

func (t *Tracker) release() {
	t.halt()
	if t.watch != nil {
		t.watch.Close()
	}
	if t.group != nil {
		t.group.CloseAllowingRebalance()
		t.group.AllowRebalance() // closing polls once more, which may hold up a leaving for ever
	}
	if t.txns != nil {
		t.txns.close()
	}
	t.closeLate()
	if t.copier != nil {
		t.copier.Close()
	}
	if t.writer != nil {
		t.writer.Close()
	}
}

// closeLate closes the transactions that were opened when they were needed, if there are
// any: what was broken off may still begin them.
func (t *Tracker) closeLate() {
	t.mu.Lock()
	late := []*transactions{t.large, t.slow}
	t.large, t.slow = nil, nil
	t.mu.Unlock()
	for _, txns := range late {
		if txns != nil {
			txns.close()
		}
	}
}

// Counts are the counters of what a tracker does.
func (t *Tracker) Counts() engine.Counts {
	c := engine.Counts{
		Tailed: t.tailed.Load(), DeadLettered: t.deadLettered.Load(), Missing: t.missing.Load(),
		Retried: t.retried.Load(), Unreadable: t.refused.Load(),
		RetentionAlarm: t.watch.Alarm(),
	}
	t.counting.Lock()
	defer t.counting.Unlock()
	c.Lateness = t.late
	return c
}

// now is the reading of the tracker's clock.
func (t *Tracker) now() time.Duration { return time.Since(t.began) }

// run reads markers, and does what is due, until the tracker is closed.
func (t *Tracker) run() {
	trouble := engine.NewComplaint(t.cfg.Log)
	rest := time.NewTimer(time.Hour)
	defer rest.Stop()
	committed := t.now()
	wake := idle
	for t.running.Err() == nil {
		fetches := t.markers(wake)
		// From here on to AllowRebalance no partition comes or goes.
		t.take(fetches, trouble)
		var wait bool
		wake, wait = t.act()
		if now := t.now(); now-committed >= t.cfg.CommitEvery {
			committed = now
			if err := t.commit(t.running, t.owned()); err != nil && t.running.Err() == nil {
				t.retried.Add(1)
				trouble.About("commit the tracker's offsets", err)
			}
		}
		t.group.AllowRebalance()
		if n := fetches.NumRecords(); n > 0 && n < pollAtMost && wake > 0 && !wait {
			rest.Reset(min(pace, wake))
			select {
			case <-rest.C:
				wake -= pace
			case <-t.rested:
				wake = 0
			case <-t.running.Done():
			}
		}
	}
}

// markers waits for markers, or until it is time to look at the partitions again, or until
// it is poked.
func (t *Tracker) markers(wake time.Duration) kgo.Fetches {
	ctx, cancel := context.WithTimeout(t.running, max(wake, wakeLeast))
	defer cancel()
	t.poking.Lock()
	t.poll = cancel
	if t.poked {
		t.poked = false
		cancel()
	}
	t.poking.Unlock()
	return t.group.PollRecords(ctx, pollAtMost)
}

// poke has the partitions looked at now.
func (t *Tracker) poke() {
	t.poking.Lock()
	defer t.poking.Unlock()
	t.poked = true
	if t.poll != nil {
		t.poll()
	}
	signal(t.rested)
}

// take hands the markers of a poll to their partitions.
func (t *Tracker) take(fetches kgo.Fetches, trouble *engine.Complaint) {
	now := t.now()
	fetches.EachPartition(func(f kgo.FetchTopicPartition) {
		if p := t.part(f.Partition); p != nil && f.Topic == t.cfg.MarkersTopic { // an error may be of none
			p.take(f.FetchPartition, now)
		}
	})
	fetches.EachError(func(_ string, partition int32, err error) {
		if errors.Is(err, kerr.InvalidSessionTimeout) {
			t.refusedTimeout(err)
		}
		if t.running.Err() == nil && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, context.Canceled) {
			t.retried.Add(1)
			trouble.About(fmt.Sprintf("read partition %d of topic %s", partition, t.cfg.MarkersTopic), err)
			_ = engine.NewWait().Sleep(t.running)
		}
	})
}

// act starts what is due, and says when to look again, and whether something that is due
// waits for markers.
func (t *Tracker) act() (wake time.Duration, waits bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	wake = idle
	for _, p := range t.parts {
		w, wait := p.act(now)
		wake, waits = min(wake, w), waits || wait
	}
	return wake, waits
}

func (t *Tracker) part(partition int32) *part {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.parts[partition]
}

func (t *Tracker) owned() []int32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	owned := make([]int32, 0, len(t.parts))
	for p := range t.parts {
		owned = append(owned, p)
	}
	return owned
}

// alone are the transactions in which a record is moved that was refused among others.
func (t *Tracker) alone() (*transactions, error) {
	return t.opened(&t.large, engine.LargeOptions()...)
}

// apart are the transactions of partitions that are in trouble.
func (t *Tracker) apart() (*transactions, error) { return t.opened(&t.slow) }

// opened opens transactions when they are first needed.
func (t *Tracker) opened(at **transactions, more ...kgo.Opt) (*transactions, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if *at == nil {
		txns, err := newTransactions(&t.cfg, t.topics, more...)
		if err != nil {
			return nil, err
		}
		*at = txns
	}
	return *at, nil
}

// counted adds the lateness of redeliveries.
func (t *Tracker) counted(records int64, by time.Duration) {
	t.counting.Lock()
	defer t.counting.Unlock()
	for range records {
		t.late.Add(by)
	}
}

// reach is what the retention of both topics must cover.
func (t *Tracker) reach() []reach {
	t.mu.Lock()
	parts := maps.Clone(t.parts)
	t.mu.Unlock()
	all := make([]reach, 0, len(parts))
	for _, p := range parts {
		all = append(all, p.reach())
	}
	return all
}

// tick writes a tick of a partition; done is told its offset.
func (t *Tracker) tick(partition int32, done func(offset int64, err error)) {
	r := t.scribe.record(marker.Marker{Partition: partition, Offset: -1, Type: marker.Tick})
	t.writer.Produce(t.running, r, func(r *kgo.Record, err error) { done(r.Offset, err) })
}

// arrivals notes of each marker when it came from a broker. It may wait for pace in the client
// before it is polled, or longer: no lock is to last so much longer.
type arrivals func() time.Duration

// arrival is a record's context with the reading of the tracker's clock when it came.
type arrival struct {
	context.Context
	at time.Duration
}

// OnFetchRecordBuffered is of [kgo.HookFetchRecordBuffered].
func (now arrivals) OnFetchRecordBuffered(r *kgo.Record) {
	ctx := r.Context
	if ctx == nil {
		ctx = context.Background() // whoever looks at it may ask it for values
	}
	r.Context = arrival{ctx, now()}
}

// seen is when a marker was read: live from the offset on up to which there were markers when
// the partition came.
func seen(r *kgo.Record, now time.Duration, barrier int64) tracker.Seen {
	if came, ok := r.Context.(arrival); ok {
		now = came.at
	}
	return tracker.Seen{At: now, Live: r.Offset >= barrier}
}
