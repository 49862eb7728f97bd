package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
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

// queue is what a run has beside its consumers where they take records from a queue: the
// topics that the queue writes to, who redelivers where that is nobody's of them, and
// who reads the dead letters.
type queue struct {
	group   *queued.Group
	of      kmq.Config // of a member, but for its clients
	traffic traffic
	tell    queueLog

	dead    cluster.Topic // of the dead letters; none without a name
	reader  *probe.TopicReader
	tracker *kmq.Tracker // of all members, where they have none themselves

	trackerEnded bool

	empty bool  // it has nothing any more, by what the drain found
	peak  int64 // of what was in flight, at the ends of intervals
}

// The topics and the group that a queue has beside those of the run.
const (
	markersSuffix = "-markers"
	deadSuffix    = "-dead"
	trackerSuffix = "-tracker"
)

// CheckQueue says why the queue of s can't be what consumers take records from, beyond
// what the scenario's own validation knows; nil if it can, or there is none.
func CheckQueue(s scenario.Scenario) error {
	if s.Consume.Queue.Used() && !stamped(s) {
		return fmt.Errorf("load.record.size: the books of a queue need records of at least %d bytes, which carry a stamp: make them larger, or leave consume.queue out", payload.StampSize)
	}
	return nil
}

// hasQueue tells that the consumers take records from a queue.
func (r *run) hasQueue() bool { return r.cfg.Scenario.Consume.Queue.Used() }

// commitsNothing tells that no group commits offsets that could be read.
func (r *run) commitsNothing() bool {
	return r.manual() || r.cfg.Scenario.Consume.Queue.Engine == string(kmq.Share)
}

// checkQueue refuses a queue that can't be.
func (r *run) checkQueue(context.Context) error { return CheckQueue(r.cfg.Scenario) }

// queueTimeout bounds how long a queue may take to open, or a tracker to close.
const queueTimeout = 30 * time.Second

// openQueue opens the queue with its consumers.
func (r *run) openQueue(ctx context.Context) (l remote.Load, err error) {
	r.queue = &queue{tell: queueLog{journal: r.journal}}
	if err := r.openDeadLetters(ctx); err != nil {
		return l, err
	}
	r.queue.of = r.queueConfig()
	if r.queue.of.Tracker == kmq.External {
		if err := r.openTracker(ctx); err != nil {
			return l, err
		}
	}
	g, err := queued.Start(r.queueGroupConfig())
	if err != nil {
		return l, r.denied("the run's queue", err)
	}
	r.queue.group = g
	l = remote.Load{Axis: r.axis, Consumers: g, Partitions: r.topic.Partitions}
	l.Settings, l.Workers = g.Settings(), g.Workers()
	return l, r.readDeadLetters()
}

// openDeadLetters makes the topic of the dead letters, where there is to be one.
func (r *run) openDeadLetters(ctx context.Context) (err error) {
	if !r.cfg.Scenario.Consume.Queue.Dead() {
		return nil
	}
	create, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	t := r.cfg.Scenario.Topic
	r.queue.dead, err = r.admin.CreateTopic(create, r.topic.Name+deadSuffix, r.topic.Partitions, t.Replication, nil)
	return err
}

// readDeadLetters has the dead letters taken into the books as they come.
func (r *run) readDeadLetters() (err error) {
	if r.queue.dead.Name == "" {
		return nil
	}
	r.queue.reader, err = probe.ReadTopic(r.cfg.Cluster.Bootstrap(), r.access(), r.queue.dead.Name, r.queue.dead.Partitions, r.queue.group.DeadLetter)
	return err
}

// queueConfig is what each member of the queue is.
func (r *run) queueConfig() kmq.Config {
	c := r.cfg.Scenario.Consume
	q := c.Queue
	return kmq.Config{
		Brokers: r.cfg.Cluster.Bootstrap(), Topic: r.topic.Name, Group: r.groupIDs[0], Engine: kmq.Engine(q.Engine),
		Visibility: time.Duration(q.Visibility), MaxDeliveries: q.MaxDeliveries, DeadLetterTopic: r.queue.dead.Name,
		MaxInFlight: q.InFlight, CommitEvery: time.Duration(c.Commit.Interval), MarkersTopic: r.markersTopic(),
		Tracker: kmq.TrackerMode(q.Tracker), Transactions: q.Transactions, StartFirst: q.StartFirst, Acks: kmq.Acks(q.Acks),
		SessionTimeout: time.Duration(c.SessionTimeout), Logger: r.queue.tell.logger(),
	}
}

// markersTopic is the topic of the markers; none where there are no markers.
func (r *run) markersTopic() string {
	if r.cfg.Scenario.Consume.Queue.Engine != string(kmq.Markers) {
		return ""
	}
	return r.topic.Name + markersSuffix
}

// clientOptions are those of the clients of one member, whose connections hang on a line.
func (r *run) clientOptions(name string, line *meter.Line) []kgo.Opt {
	dial := line.Hang(r.access().Dialer(dialTimeout))
	options := append(r.access().Login(),
		kgo.ClientID(fmt.Sprintf("kafka-bench-%s-%s", r.writer.ID(), name)), kgo.DisableClientMetrics(),
		kgo.Dialer(r.access().Secure(dial)), kgo.WithHooks(&r.queue.traffic))
	f := r.cfg.Scenario.Consume.Fetch
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

// dialTimeout bounds the opening of a connection.
const dialTimeout = 5 * time.Second

// openMember opens the member of a number.
func (r *run) openMember(number int) (queued.Queue, error) {
	line := &meter.Line{}
	cfg := r.queue.of
	cfg.Client = r.clientOptions(fmt.Sprintf("consumer-%d", number), line)
	cfg.Logger = cfg.Logger.With("consumer", number)
	ctx, cancel := context.WithTimeout(context.Background(), queueTimeout)
	defer cancel()
	q, err := kmq.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return &kmqQueue{queue: q, order: kmq.Order(r.cfg.Scenario.Consume.Queue.Order), line: line}, nil
}

// openTracker opens the one tracker of all members.
func (r *run) openTracker(ctx context.Context) (err error) {
	cfg := r.queue.of
	cfg.Client = r.clientOptions("tracker", &meter.Line{})
	cfg.Logger = cfg.Logger.With("consumer", "tracker")
	ctx, cancel := context.WithTimeout(ctx, queueTimeout)
	defer cancel()
	r.queue.tracker, err = kmq.OpenTracker(ctx, cfg)
	return err
}

// queueGroupConfig is what the consumers of the queue are.
func (r *run) queueGroupConfig() queued.Config {
	s := r.cfg.Scenario
	c, q := s.Consume, s.Consume.Queue
	return queued.Config{
		Open: r.openMember, Ready: r.awaitOwned,
		Members: c.Consumers, Numbers: numbers(s), Threads: q.Threads, Batch: q.Batch,
		Ordered: q.Order != string(kmq.Unordered), Locks: locksOf(q.Engine),
		Drop: float64(q.Drop.Share), Nack: q.Drop.How == "nack", Delay: q.Backoff.Delay,
		Producers: s.Load.Producers + fillers(s), Filled: fillers(s), Partitions: r.topic.Partitions, From: r.from,
		Plan: plan(c), Seed: s.Load.Record.Seed, Hold: r.readOnly() || readsFill(s), Sized: r.readOnly(),
		Axis: r.axis, ClosedLoop: r.arrivals == nil, Run: runNumber(r.writer.ID()), Settings: queueSettings(q),
		OnEvent: func(kind, what, reason string) { r.journal.once(kind, what, errors.New(reason)) },
	}
}

// locksOf says what ends the locks of an engine beside the clock.
func locksOf(engine string) queued.Locks {
	switch kmq.Engine(engine) {
	case kmq.Markers:
		return queued.LocksStay
	case kmq.Share:
		return queued.LocksOfMember
	default:
		return queued.LocksOfOwner
	}
}

// queueSettings are what a member's queue is, by the keys of the scenario.
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
	if q.Transactions {
		all = append(all, driver.Setting{Name: "transactions", Value: "true"})
	}
	if q.StartFirst {
		all = append(all, driver.Setting{Name: "start_first", Value: "true"})
	}
	return all
}

// ownedPoll is how often it is asked whether the group has its partitions.
const ownedPoll = 50 * time.Millisecond

// awaitOwned waits until the members of the queue have all partitions, and the tracker
// has those of the markers.
func (r *run) awaitOwned(ctx context.Context) error {
	share := r.queue.of.Engine == kmq.Share
	if err := r.awaitGroup(ctx, r.groupIDs[0], r.topic.Name, r.cfg.Scenario.Consume.Consumers, share); err != nil {
		return err
	}
	if r.queue.of.Engine != kmq.Markers {
		return nil
	}
	return r.awaitGroup(ctx, r.groupIDs[0]+trackerSuffix, r.markersTopic(), 1, false)
}

// awaitGroup waits until a group has so many members at the least and all partitions of a
// topic.
func (r *run) awaitGroup(ctx context.Context, group, topic string, members int, share bool) error {
	tick := time.NewTicker(ownedPoll)
	defer tick.Stop()
	for {
		owned, err := r.admin.Owned(ctx, group, topic, share)
		if err == nil && owned.Stable && owned.Members >= members && owned.Partitions == r.topic.Partitions {
			return nil
		}
		if failed := r.queueFailed(); failed != nil {
			return failed
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("the group %s has %d members of %d, and %d of %d partitions have one: %w",
				group, owned.Members, members, owned.Partitions, r.topic.Partitions, ctx.Err()), err)
		}
	}
}

// queueFailed is what ended a consumer of the queue, if anything did.
func (r *run) queueFailed() error {
	if r.queue.group == nil {
		return nil
	}
	return r.queue.group.Err()
}
