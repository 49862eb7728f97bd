package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/load/queued"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/run/remote"
	"kafkabench.example/kafka-bench/kmq"
)

type queue struct {
	*base
	group   *queued.Group
	of      kmq.Config // of a member, without its client options
	traffic traffic
	tell    queueLog

	dead    cluster.Topic // the name is empty without a dead-letter topic
	reader  *probe.TopicReader
	tracker *kmq.Tracker // of all members; nil if they have their own

	trackerEnded bool

	empty bool
	// In a part: when the queue was last inspected, and how many inspections in a row found it
	// empty. asking guards both, and empty.
	asking  sync.Mutex
	askedAt time.Time
	empties int
}

func newQueue(b *base) *queue {
	return &queue{base: b, tell: queueLog{axis: b.axis, journal: b.journal}}
}

// leads reports whether this process has the tracker and reads the dead letters, for all members.
func (q *queue) leads() bool {
	return q.portion.whole() || q.portion.leads
}

const (
	markersSuffix = "-markers"
	deadSuffix    = "-dead"
	retrySuffix   = "-retry"
	trackerSuffix = "-tracker"
)

// Names of engines in scenarios.
const (
	markersEngine = "markers"
	mapEngine     = "offsetmap"
	shareEngine   = "share"
)

// CheckQueue returns why consumers cannot use the queue of s, beyond the scenario's own validation;
// nil if they can, or if s has no queue.
func CheckQueue(s scenario.Scenario) error {
	if s.Consume.Queue.Used() && !stamped(s) {
		return fmt.Errorf("load.record.size: the books of a queue need records of at least %d bytes, which carry a stamp: make them larger, set load.record.stamp: header, or leave consume.queue out", payload.StampSize)
	}
	return nil
}

func (b *base) hasQueue() bool { return b.cfg.Scenario.Consume.Queue.Used() }

func (b *base) commitsNothing() bool {
	return b.manual() || b.cfg.Scenario.Consume.Queue.Engine == shareEngine
}

func (r *run) checkQueue(context.Context) error { return CheckQueue(r.cfg.Scenario) }

const queueTimeout = 30 * time.Second

func (q *queue) open(ctx context.Context) (l remote.Load, err error) {
	if err := q.openDeadLetters(ctx); err != nil {
		return l, err
	}
	if q.of, err = q.config(); err != nil {
		return l, err
	}
	if q.tracksApart() && q.leads() {
		if err := q.openTracker(ctx); err != nil {
			return l, err
		}
	}
	g, err := queued.Start(q.groupConfig())
	if err != nil {
		return l, q.denied("the run's queue", err)
	}
	q.group = g
	l = remote.Load{Axis: q.axis, Consumers: g, Partitions: q.topic.Partitions}
	l.Settings, l.Workers = g.Settings(), g.Workers()
	return l, q.readDeadLetters()
}

func (q *queue) openDeadLetters(ctx context.Context) (err error) {
	if !q.portion.whole() {
		q.dead = cluster.Topic{Name: q.topic.Name + deadSuffix, Partitions: q.topic.Partitions, Existing: true}
		return nil
	}
	create, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	t := q.cfg.Scenario.Topic
	q.dead, err = q.admin.CreateTopic(create, q.topic.Name+deadSuffix, q.topic.Partitions, t.Replication, q.topicConfig(nil))
	return err
}

func (q *queue) readDeadLetters() (err error) {
	if q.dead.Name == "" || !q.leads() {
		return nil
	}
	q.reader, err = probe.ReadTopic(q.seeds(), q.access(), q.dead.Name, q.dead.Partitions,
		func(r *kgo.Record) { q.group.DeadLetter(stampIn(r.Headers), r.Value) })
	return err
}

// tracksApart reports whether one tracker runs for all members, and none in a member.
func (q *queue) tracksApart() bool { return q.cfg.Scenario.Consume.Queue.Tracker == "external" }

func (q *queue) config() (kmq.Config, error) {
	c := q.cfg.Scenario.Consume
	set := c.Queue
	engine, err := kmq.ParseEngine(set.Engine)
	switch set.Engine {
	case markersEngine:
		engine = kmq.Markers{Topic: q.markersTopic(), RetryTopic: q.retryTopic(), ExternalTracker: q.tracksApart()}
	case mapEngine:
		engine = kmq.OffsetMap{RetryTopic: q.retryTopic()}
	case shareEngine:
		engine = kmq.Share{RetryTopic: q.retryTopic()}
	}
	return kmq.Config{
		Brokers: q.seeds(), Topic: q.topic.Name, Group: q.groupIDs[0], Engine: engine,
		Visibility: time.Duration(set.Visibility), MaxDeliveries: mostDeliveries(set), DeadLetterTopic: q.dead.Name, Order: kmq.Order(set.Order),
		MaxInFlight: set.InFlight, CommitEvery: time.Duration(c.Commit.Interval),
		Acks: kmq.Acks(set.Acks), SessionTimeout: time.Duration(c.SessionTimeout), Logger: q.tell.logger(),
	}, err
}

// mostDeliveries is what the library calls a number of deliveries; 0 is no limit in a scenario.
func mostDeliveries(q scenario.Queue) int {
	if q.MaxDeliveries == 0 {
		return kmq.Unlimited
	}
	return q.MaxDeliveries
}

func (b *base) markersTopic() string {
	if b.cfg.Scenario.Consume.Queue.Engine != markersEngine {
		return ""
	}
	return b.topic.Name + markersSuffix
}

// retryTopic returns "" if the queue has none.
func (b *base) retryTopic() string {
	set := b.cfg.Scenario.Consume.Queue
	if set.Engine == markersEngine || set.Engine == shareEngine || set.Engine == mapEngine && kmq.Order(set.Order) == kmq.Unordered {
		return b.topic.Name + retrySuffix
	}
	return ""
}

func (q *queue) clientOptions(name string, line *meter.Line) []kgo.Opt {
	dial := line.Hang(q.access().Dialer(dialTimeout))
	options := append(q.access().Login(),
		kgo.ClientID(cmp.Or(q.clientID(), fmt.Sprintf("kafka-bench-%s-%s", q.runID, name))), kgo.DisableClientMetrics(),
		kgo.Dialer(q.access().Secure(dial)), kgo.WithHooks(&q.traffic))
	f := q.cfg.Scenario.Consume.Fetch
	if f.MinBytes > 0 {
		options = append(options, kgo.FetchMinBytes(int32(f.MinBytes)))
	}
	if f.MaxBytes > 0 {
		options = append(options, kgo.FetchMaxBytes(int32(f.MaxBytes)))
	}
	if f.MaxPartitionBytes > 0 {
		options = append(options, kgo.FetchMaxPartitionBytes(int32(f.MaxPartitionBytes)))
	}
	if f.MaxWait > 0 {
		options = append(options, kgo.FetchMaxWait(time.Duration(f.MaxWait)))
	}
	return options
}

const dialTimeout = 5 * time.Second

func (q *queue) openMember(number int) (queued.Queue, error) {
	line := &meter.Line{}
	cfg := q.of
	cfg.Client = q.clientOptions(fmt.Sprintf("consumer-%d", number), line)
	cfg.Logger = cfg.Logger.With("consumer", number)
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	opened, err := kmq.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &kmqQueue{queue: opened, line: line}, nil
}

func (q *queue) openTracker(ctx context.Context) (err error) {
	cfg := q.of
	cfg.Client = q.clientOptions("tracker", &meter.Line{})
	cfg.Logger = cfg.Logger.With("consumer", "tracker")
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	q.tracker, err = kmq.OpenTracker(ctx, cfg)
	return err
}

func (q *queue) groupConfig() queued.Config {
	s := q.cfg.Scenario
	c, set := s.Consume, s.Consume.Queue
	from := q.from
	if !q.leads() {
		from = nil
	}
	return queued.Config{
		Open: q.openMember, Ready: q.awaitOwned,
		Members: c.Consumers, Only: q.portion.members, Numbers: numbers(s), Threads: set.Threads, Batch: set.Batch,
		Ordered: set.Order != string(kmq.Unordered), Locks: locksOf(set.Engine),
		Drop: float64(set.Drop.Share), Nack: set.Drop.How == "nack", Delay: set.Backoff.Delay,
		Producers: s.Load.Producers + s.Fillers(), Filled: s.Fillers(), Partitions: q.topic.Partitions, From: from,
		Plan: workPlan(c), Seed: s.Load.Record.Seed, Hold: q.readOnly() || readsFill(s),
		Axis: q.axis, Offsets: q.offsets, ClosedLoop: s.Load.Rate.IsMax() || q.readOnly(), Run: runNumber(q.runID),
		Settings: queueSettings(set), Tracker: q.trackerCounts(),
		OnEvent: func(kind, what, reason string) { q.journal.Once(kind, what, errors.New(reason)) },
	}
}

// locksOf returns what ends an engine's locks before their time.
func locksOf(engine string) queued.Locks {
	switch engine {
	case markersEngine:
		return queued.LocksStay
	case shareEngine:
		return queued.LocksOfMember
	default:
		return queued.LocksOfOwner
	}
}

func queueSettings(q scenario.Queue) []driver.Setting {
	all := []driver.Setting{
		{Name: "engine", Value: q.Engine}, {Name: "threads", Value: strconv.Itoa(q.Threads)},
		{Name: "batch", Value: strconv.Itoa(q.Batch)}, {Name: "in_flight", Value: strconv.Itoa(q.InFlight)},
		{Name: "max_deliveries", Value: strconv.Itoa(q.MaxDeliveries)}, {Name: "order", Value: q.Order},
	}
	for _, more := range []driver.Setting{{Name: "acks", Value: q.Acks}, {Name: "tracker", Value: q.Tracker}} {
		if more.Value != "" {
			all = append(all, more)
		}
	}
	if q.Visibility > 0 {
		all = append(all, driver.Setting{Name: "visibility", Value: q.Visibility.String()})
	}
	return all
}

const ownedPoll = 50 * time.Millisecond

func (q *queue) awaitOwned(ctx context.Context) error {
	if err := q.awaitGroup(ctx, q.groupIDs[0], q.topic.Name, q.cfg.Scenario.Consume.Consumers,
		q.groupKind()); err != nil {
		return err
	}
	if q.cfg.Scenario.Consume.Queue.Engine != markersEngine {
		return nil
	}
	return q.awaitGroup(ctx, q.groupIDs[0]+trackerSuffix, q.markersTopic(), 1, cluster.ClassicGroup)
}

func (q *queue) awaitGroup(ctx context.Context, group, topic string, members int,
	kind cluster.GroupKind) error {
	tick := time.NewTicker(ownedPoll)
	defer tick.Stop()
	for {
		owned, err := q.admin.Owned(ctx, group, topic, kind)
		if err == nil && owned.Stable && owned.Members >= members && owned.Partitions == q.topic.Partitions {
			return nil
		}
		if failed := q.failed(); failed != nil {
			return failed
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the group %s has %d members of %d, and %d of %d partitions have one: %w",
				group, owned.Members, members, owned.Partitions, q.topic.Partitions, ctx.Err()), err)
		}
	}
}

func (q *queue) failed() error {
	if q.group == nil {
		return nil
	}
	return q.group.Err()
}
