package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq"
)

const (
	partitions = 3
	patience   = 90 * time.Second
	moment     = time.Second
	session    = 3 * time.Second
)

type world struct {
	*testing.T
	Subject
	can     able
	cluster cluster.Cluster
	access  access.Access
	seeds   []string
	ctx     context.Context
	client  *kgo.Client
	topic   string
	dead    string
	group   string
}

func newWorld(t *testing.T, s Subject, can able, c cluster.Cluster) *world {
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	t.Cleanup(cancel)
	name := fmt.Sprintf("law-%s-%08x", s.Engine, rand.Uint32())
	w := &world{
		T: t, Subject: s, can: can, cluster: c, access: cluster.AccessTo(c), seeds: c.Bootstrap(), ctx: ctx,
		topic: name, dead: name + "-dead", group: name + "-group",
	}
	w.client = w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	w.create(name, partitions)
	return w
}

func (w *world) newClient(with ...kgo.Opt) *kgo.Client {
	w.Helper()
	opts := append(w.access.Options(), kgo.SeedBrokers(w.seeds...), kgo.DisableClientMetrics())
	client, err := kgo.NewClient(append(opts, with...)...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(client.Close)
	return client
}

// create waits until all brokers know the topic, because a client may give up if one does not.
func (w *world) create(topic string, partitions int) {
	w.Helper()
	clustertest.Topic(w, w.cluster, topic, partitions, 1, nil)
}

func (w *world) config(with ...func(*kmq.Config)) kmq.Config {
	cfg := kmq.Config{
		Brokers: w.seeds, Topic: w.topic, Group: w.group, Engine: w.Engine,
		CommitEvery: 50 * time.Millisecond, SessionTimeout: session, Client: append(w.access.Options(), w.Subject.Client...),
		Logger: slog.New(uniqueKeys{t: w.T}),
	}
	if w.can.lend {
		cfg.Visibility = 30 * time.Second
	}
	for _, f := range with {
		f(&cfg)
	}
	return cfg
}

func lendFor(d time.Duration) func(*kmq.Config) {
	return func(c *kmq.Config) { c.Visibility = d }
}

func inFlight(n int) func(*kmq.Config) {
	return func(c *kmq.Config) { c.MaxInFlight = n }
}

func inOrder(o kmq.Order) func(*kmq.Config) {
	return func(c *kmq.Config) { c.Order = o }
}

func (w *world) withDead(c *kmq.Config) { c.DeadLetterTopic = w.dead }

func (w *world) open(with ...func(*kmq.Config)) *kmq.Queue {
	w.Helper()
	q, err := kmq.Open(w.ctx, w.config(with...))
	if err != nil {
		w.Fatalf("open: %v", err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = q.Close(ctx)
	})
	return q
}

func (w *world) close(q *kmq.Queue) {
	w.Helper()
	if err := q.Close(w.ctx); err != nil {
		w.Errorf("close: %v", err)
	}
}

// produce writes record i to partition i mod partitions.
func (w *world) produce(n int, with ...func(i int, r *kgo.Record)) []kmq.ID {
	w.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: w.topic, Partition: int32(i % partitions), Value: fmt.Appendf(nil, "record %d", i)}
		for _, f := range with {
			f(i, records[i])
		}
	}
	if err := w.client.ProduceSync(w.ctx, records...).FirstErr(); err != nil {
		w.Fatalf("produce: %v", err)
	}
	ids := make([]kmq.ID, n)
	for i, r := range records {
		ids[i] = kmq.ID{Partition: r.Partition, Offset: r.Offset}
	}
	return ids
}

func (w *world) receive(q *kmq.Queue, n int) []kmq.Delivery {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	var all []kmq.Delivery
	for len(all) < n {
		ds, err := q.Receive(ctx, n-len(all))
		if err != nil {
			w.Fatalf("receive: %v, after %d of %d records: %v", err, len(all), n, sorted(ids(all)))
		}
		all = append(all, ds...)
	}
	return all
}

// each settles each record as it comes, because open records may delay the others.
func (w *world) each(q *kmq.Queue, n int, settle func(kmq.Delivery)) (all []kmq.ID) {
	w.Helper()
	for len(all) < n {
		for _, d := range w.upTo(q, n-len(all)) {
			all = append(all, d.ID())
			settle(d)
		}
	}
	return all
}

func (w *world) acked(q *kmq.Queue, n int) []kmq.ID {
	w.Helper()
	return w.each(q, n, func(d kmq.Delivery) { w.ack(d) })
}

func (w *world) upTo(q *kmq.Queue, most int) []kmq.Delivery {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	ds, err := q.Receive(ctx, most)
	if err != nil {
		w.Fatalf("receive: %v", err)
	}
	return ds
}

func (w *world) one(q *kmq.Queue) kmq.Delivery {
	w.Helper()
	return w.receive(q, 1)[0]
}

// nothing fails if a record comes within a moment.
func (w *world) nothing(q *kmq.Queue) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, moment)
	defer cancel()
	ds, err := q.Receive(ctx, 1)
	if len(ds) > 0 {
		w.Errorf("record %v came, attempt %d, where none should", ds[0].ID(), ds[0].Attempt())
	} else if !errors.Is(err, context.DeadlineExceeded) {
		w.Errorf("receive: %v", err)
	}
}

func (w *world) ack(ds ...kmq.Delivery) {
	w.Helper()
	for _, d := range ds {
		if err := d.Ack(w.ctx); err != nil {
			w.Errorf("ack of %v: %v", d.ID(), err)
		}
	}
}

func (w *world) flush(q *kmq.Queue) {
	w.Helper()
	if err := q.Flush(w.ctx); err != nil {
		w.Errorf("flush: %v", err)
	}
}

func (w *world) is(what string, err, kind error) {
	w.Helper()
	if !errors.Is(err, kind) {
		w.Errorf("%s: %v, want %v", what, err, kind)
	}
}

func (w *world) same(what string, got, want []kmq.ID) {
	w.Helper()
	got, want = sorted(got), sorted(want)
	if !slices.Equal(got, want) {
		w.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func ids(ds []kmq.Delivery) []kmq.ID {
	out := make([]kmq.ID, len(ds))
	for i, d := range ds {
		out[i] = d.ID()
	}
	return out
}

func compare(a, b kmq.ID) int {
	if a.Partition != b.Partition {
		return int(a.Partition - b.Partition)
	}
	return int(a.Offset - b.Offset)
}

func sorted(ids []kmq.ID) []kmq.ID { return slices.SortedFunc(slices.Values(ids), compare) }

func (w *world) deadLetters(n int) []*kgo.Record {
	w.Helper()
	reader := w.newClient(kgo.ConsumeTopics(w.dead))
	defer reader.Close()
	var all []*kgo.Record
	for len(all) < n {
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		fetches := reader.PollFetches(ctx)
		cancel()
		if w.ctx.Err() != nil || errors.Is(fetches.Err0(), context.DeadlineExceeded) {
			w.Fatalf("%d of %d dead letters came", len(all), n)
		}
		all = append(all, fetches.Records()...)
	}
	ctx, cancel := context.WithTimeout(w.ctx, moment)
	defer cancel()
	if all = append(all, reader.PollFetches(ctx).Records()...); len(all) != n {
		w.Errorf("there are %d dead letters, want %d", len(all), n)
	}
	return all
}

// To brokers, cutting a wire looks like a crash.
type wire struct {
	under access.Dial
	mu    sync.Mutex
	conns map[net.Conn]bool
	gone  bool
}

func (x *wire) use(c *kmq.Config) {
	c.Client = append(c.Client, kgo.Dialer(x.dial))
}

func (x *wire) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := x.under(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.gone {
		conn.Close()
		return nil, errors.New("the wire is cut")
	}
	if x.conns == nil {
		x.conns = make(map[net.Conn]bool)
	}
	x.conns[conn] = true
	return conn, nil
}

func (x *wire) cut() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.gone = true
	for conn := range maps.Keys(x.conns) {
		conn.Close()
	}
}

// uniqueKeys fails the test if an event has a key twice, which JSON does not allow.
type uniqueKeys struct {
	t    *testing.T
	keys []string
}

func (uniqueKeys) Enabled(context.Context, slog.Level) bool { return true }

func (u uniqueKeys) Handle(_ context.Context, event slog.Record) error {
	keys := slices.Clone(u.keys)
	event.Attrs(func(a slog.Attr) bool {
		if slices.Contains(keys, a.Key) {
			u.t.Errorf("the event %q has the key %s twice", event.Message, a.Key)
		}
		keys = append(keys, a.Key)
		return true
	})
	return nil
}

func (u uniqueKeys) WithAttrs(attrs []slog.Attr) slog.Handler {
	u.keys = slices.Clone(u.keys)
	for _, a := range attrs {
		u.keys = append(u.keys, a.Key)
	}
	return u
}

func (u uniqueKeys) WithGroup(string) slog.Handler { return u }
