package markers

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
)

// Group returns the group of the trackers of a queue's group. It reads the markers and commits what
// it has done with.
func Group(group string) string { return group + "-tracker" }

const (
	// beat is the time between two looks at what is due. Markers come together at the brokers meanwhile,
	// unless there are many, so that reading them costs few requests.
	beat = 20 * time.Millisecond
	many = 512
	// redeliveringAtMost is in how many partitions records are read and copied at a time.
	redeliveringAtMost = 32
	// deleteEvery is the time between two deletions of settled records of the retry topic.
	deleteEvery = time.Minute
)

// Tracker redelivers the records of a group whose locks have expired. It is a member of a group of
// its own; several share the partitions of the markers.
type Tracker struct {
	cfg    engine.Config
	topics engine.Topics
	scribe scribe
	began  time.Time

	member *member.Member
	set    *lease.Set  // empty
	client *kgo.Client // reads and writes copies, writes ends and ticks
	copier *engine.Copier
	out    *outbox // ends of copied records
	watch  *retention.Watch

	deletions *engine.Deletions

	mu    sync.Mutex
	parts map[int32]*part
	late  engine.Histogram

	turns chan struct{} // redeliveries under way

	tailed, deadLettered, missing, unreadable, retried atomic.Int64
	givenUp                                            *engine.GivenUp

	running  context.Context
	halt     context.CancelFunc
	work     sync.WaitGroup
	closing  sync.Once
	closeErr error
}

// NewTracker opens a tracker that is not part of a queue, with the configuration of the group's
// queues.
func NewTracker(ctx context.Context, cfg engine.Config) (*Tracker, error) {
	topics, err := prepare(ctx, &cfg)
	if err != nil {
		return nil, err
	}
	return openTracker(ctx, cfg, topics)
}

func openTracker(ctx context.Context, cfg engine.Config, topics engine.Topics) (*Tracker, error) {
	// A client of its own: fetches of the member's client would wait behind those that wait for markers.
	client, err := kgo.NewClient(cfg.ClientOptions(writerOptions(&cfg)...)...)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	t := &Tracker{
		cfg: cfg, topics: topics, scribe: newScribe(&cfg), began: time.Now(), parts: make(map[int32]*part),
		turns: make(chan struct{}, redeliveringAtMost), givenUp: engine.NewGivenUp(cfg.Log),
		client: client, out: newOutbox(client, &cfg, 0), set: lease.NewSet(cfg.MaxInFlight, nil),
	}
	t.running, t.halt = context.WithCancel(context.Background())
	t.copier, t.watch = engine.NewCopier(&t.cfg, client), newWatch(&t.cfg, client, t.needs)
	t.deletions = engine.NewDeletions(client, cfg.RetryTopic)
	_, err = member.Open(ctx, member.Config{
		Config: cfg, Handler: trackerHandler{t}, Set: t.set, Topic: cfg.MarkersTopic, Group: Group(cfg.Group),
		Options: []kgo.Opt{kgo.KeepControlRecords()}, // they take offsets
		Opened:  func(m *member.Member) { t.member = m },
	})
	if err != nil {
		t.free()
		return nil, err
	}
	t.work.Go(t.run)
	t.work.Go(func() {
		engine.Every(t.running, deleteEvery, cfg.Log, "delete settled records of the retry topic", t.deleteSettled)
	})
	return t, nil
}

func (t *Tracker) free() {
	t.halt()
	t.watch.Close()
	t.copier.Close()
	t.out.close()
	t.client.Close()
	t.set.Close()
}

// Close ends the redeliveries under way, commits, and leaves the group. ctx bounds that; nothing runs
// any more when it returns.
func (t *Tracker) Close(ctx context.Context) error {
	t.closing.Do(func() {
		t.halt()
		t.work.Wait()
		err := t.member.Close(ctx)
		if errors.Is(err, kerr.UnknownMemberID) || errors.Is(err, kerr.IllegalGeneration) || errors.Is(err, kerr.FencedInstanceID) {
			t.cfg.Log.Warn("kmq: the group has put the tracker out: others read its markers again", "error", err)
			err = nil
		}
		t.free()
		t.closeErr = err
	})
	return t.closeErr
}

// Wait returns what ended the tracker, lease.ErrClosed after Close, or ctx's error if ctx ends first.
func (t *Tracker) Wait(ctx context.Context) error {
	_, err := t.member.Take(ctx, 1)
	return err
}

// Counts returns the counters of what a tracker does.
func (t *Tracker) Counts() engine.Counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	return engine.Counts{
		Tailed: t.tailed.Load(), DeadLettered: t.deadLettered.Load(), Missing: t.missing.Load(),
		Retried: t.retried.Load(), Unreadable: t.unreadable.Load(),
		RetentionAlarm: t.watch.Alarm(), Lateness: t.late,
	}
}

func (t *Tracker) countLate(by time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.late.Add(by)
}

// now is a reading of the tracker's clock.
func (t *Tracker) now() time.Duration { return time.Since(t.began) }

// run starts what is due, until the tracker is closed.
func (t *Tracker) run() {
	next := time.NewTicker(beat)
	defer next.Stop()
	for {
		select {
		case <-next.C:
			for _, p := range t.all(nil) {
				p.act(t.now())
			}
		case <-t.running.Done():
			return
		}
	}
}

// all returns those of the tracker's partitions that are listed; nil: all.
func (t *Tracker) all(listed []int32) (parts []*part) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for id, p := range t.parts {
		if listed == nil || slices.Contains(listed, id) {
			parts = append(parts, p)
		}
	}
	return parts
}

// needs is what the retention of the topics must cover.
func (t *Tracker) needs() (all []need) {
	for _, p := range t.all(nil) {
		all = append(all, p.needs()...)
	}
	return all
}

// trackerHandler is the tracker as its member asks it. It makes no leases of markers.
type trackerHandler struct{ *Tracker }

func (h trackerHandler) Assigned(_ context.Context, id int32, committed member.Offset) (int64, error) {
	h.Forget([]int32{id})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parts[id] = newPart(h.Tracker, id, committed.At)
	return committed.At, nil
}

func (h trackerHandler) Begin(ctx context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	now := h.now()
	for _, p := range h.all(nil) {
		p.take(records, now)
	}
	if len(records) < many {
		select {
		case <-time.After(beat):
		case <-ctx.Done():
		}
	}
	return nil, nil
}

// Committable is at the oldest start with an open record.
func (h trackerHandler) Committable(partitions []int32) map[int32]member.Offset {
	out := make(map[int32]member.Offset)
	for _, p := range h.all(partitions) {
		out[p.partition] = member.Offset{At: p.committable()}
	}
	return out
}

// Flush waits for the redeliveries under way, and their ends. What is cut off is redelivered twice.
func (h trackerHandler) Flush(ctx context.Context, partitions []int32) error {
	ctx, cancel := context.WithTimeout(ctx, flushFor)
	defer cancel()
	parts := h.all(partitions)
	for _, p := range parts {
		p.finish()
	}
	for _, p := range parts {
		stop := context.AfterFunc(ctx, p.cancel)
		p.work.Wait()
		stop()
	}
	_ = h.out.flush(ctx)
	return nil
}

func (h trackerHandler) Forget(partitions []int32) {
	for _, p := range h.all(partitions) {
		p.finish()
		p.cancel()
		p.work.Wait()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range partitions {
		delete(h.parts, id)
	}
}
