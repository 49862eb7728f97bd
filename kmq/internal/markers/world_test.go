package markers

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// patience is how long something may take that must happen, on a busy machine.
const patience = 60 * time.Second

// world is a cluster with one queue's topics.
type world struct {
	testing.TB
	on     cluster.Cluster
	fake   *kfake.Cluster // nil: a real one
	ctx    context.Context
	cfg    engine.Config
	client *kgo.Client
	adm    *kadm.Client
}

// newWorld makes one in the bubble that the test runs in.
func newWorld(t testing.TB, partitions int32, with ...func(*engine.Config)) *world {
	t.Helper()
	return inBubble(t, 1, partitions, with...)
}

func inBubble(t testing.TB, brokers int, partitions int32, with ...func(*engine.Config)) *world {
	t.Helper()
	c := virtual.Start(t, virtual.Options{Brokers: brokers, Config: shortSessions})
	w := onCluster(t, c, partitions, with...)
	w.fake = c.Fake()
	return w
}

// shortSessions has members put out a second after they fell silent.
var shortSessions = map[string]string{"group.min.session.timeout.ms": "1000"}

func onCluster(t testing.TB, c cluster.Cluster, partitions int32, with ...func(*engine.Config)) *world {
	t.Helper()
	name := fmt.Sprintf("queue-%d", time.Now().UnixNano())
	w := &world{TB: t, on: c, cfg: engine.Config{
		Brokers: c.Bootstrap(), Client: cluster.AccessTo(c).Options(), Topic: name, Group: name + "-group", MarkersTopic: name + "-markers",
		RetryTopic: name + "-retry", DeadLetterTopic: name + "-dead",
		Visibility: 30 * time.Second, MaxInFlight: 1000, CommitEvery: 50 * time.Millisecond,
		SessionTimeout: 6 * time.Second,
		Log:            logTo(t.Output()),
	}}
	for _, f := range with {
		f(&w.cfg)
	}
	var cancel context.CancelFunc
	w.ctx, cancel = context.WithTimeout(context.Background(), 3*patience)
	t.Cleanup(cancel)
	w.client = w.newClient(
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.MetadataMinAge(50*time.Millisecond))
	w.adm = kadm.NewClient(w.client)
	clustertest.Topic(t, c, name, int(partitions), 1, nil)
	return w
}

// newClient opens a client of the cluster, which is closed when the test ends.
func (w *world) newClient(with ...kgo.Opt) *kgo.Client {
	w.Helper()
	opts := append(slices.Clone(w.cfg.Client), kgo.SeedBrokers(w.cfg.Brokers...), kgo.DisableClientMetrics())
	cl, err := kgo.NewClient(append(opts, with...)...)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(cl.Close)
	return cl
}

func visible(d time.Duration) func(*engine.Config) {
	return func(c *engine.Config) { c.Visibility = d }
}

func (w *world) open() *queue {
	w.Helper()
	e, err := New(w.ctx, w.cfg)
	if err != nil {
		w.Fatalf("open: %v", err)
	}
	w.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		_ = e.Close(ctx)
	})
	return e.(*queue)
}

// produce writes n records to a partition.
func (w *world) produce(partition int32, n int) {
	w.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{
			Topic: w.cfg.Topic, Partition: partition, Key: fmt.Appendf(nil, "k%d", i), Value: fmt.Appendf(nil, "v%d", i),
			Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("x")}}, Timestamp: time.UnixMilli(time.Now().UnixMilli() - 1000),
		}
	}
	if err := w.client.ProduceSync(w.ctx, records...).FirstErr(); err != nil {
		w.Fatalf("produce: %v", err)
	}
}

func (w *world) receive(q *queue, n int) []*lease.Lease {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	var all []*lease.Lease
	for len(all) < n {
		ls, err := engine.Receive(ctx, q, n-len(all))
		if err != nil {
			w.Fatalf("receive: %v, after %d of %d; %+v", err, len(all), n, q.Counts())
		}
		all = append(all, ls...)
	}
	return all
}

func (w *world) ack(q *queue, ls ...*lease.Lease) {
	w.Helper()
	for _, l := range ls {
		if err := q.Ack(w.ctx, l); err != nil {
			w.Fatalf("ack: %v", err)
		}
	}
}

func (w *world) flush(q *queue) {
	w.Helper()
	if err := q.Flush(w.ctx); err != nil {
		w.Fatalf("flush: %v", err)
	}
}

// until waits for what must come.
func (w *world) until(what string, holds func() bool) {
	w.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatalf("never: %s", what)
		}
	}
}

// read is the log of a partition of a topic up to its end.
func (w *world) read(topic string, partition int32) []*kgo.Record {
	w.Helper()
	ends, err := w.adm.ListEndOffsets(w.ctx, topic)
	if err != nil {
		w.Fatal(err)
	}
	starts, err := w.adm.ListStartOffsets(w.ctx, topic)
	if err != nil {
		w.Fatal(err)
	}
	end, _ := ends.Lookup(topic, partition)
	start, _ := starts.Lookup(topic, partition)
	if start.Offset == end.Offset {
		return nil
	}
	cl := w.newClient(kgo.KeepControlRecords(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {partition: kgo.NewOffset().AtStart()}}))
	defer cl.Close()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	var all []*kgo.Record
	for len(all) == 0 || all[len(all)-1].Offset+1 < end.Offset {
		f := cl.PollFetches(ctx)
		if err := f.Err0(); err != nil {
			w.Fatalf("read %s: %v", topic, err)
		}
		all = append(all, f.Records()...)
	}
	return all
}

// markers are those of a partition, with their offsets.
func (w *world) markers(partition int32) map[int64]marker.Marker {
	w.Helper()
	all := map[int64]marker.Marker{}
	for _, r := range w.read(w.cfg.MarkersTopic, partition) {
		if r.Attrs.IsControl() {
			continue
		}
		m, err := marker.Parse(r.Key, r.Value)
		if err != nil {
			w.Fatalf("marker %d: %v", r.Offset, err)
		}
		all[r.Offset] = m
	}
	return all
}

// committed is what a group has committed of a partition; -1 if nothing.
func (w *world) committed(group, topic string, partition int32) int64 {
	w.Helper()
	all, err := w.adm.FetchOffsetsForTopics(w.ctx, group, topic)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		w.Fatal(err)
	}
	o, ok := all.Lookup(topic, partition)
	if !ok {
		return -1
	}
	return o.At
}

// heard collects what is logged.
type heard struct {
	mu    sync.Mutex
	lines []string
}

func (h *heard) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, string(b))
	return len(b), nil
}

func (h *heard) all() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return fmt.Sprint(h.lines)
}

func logTo(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// deleteBefore deletes the records of partition 0 before an offset, as retention does.
func (w *world) deleteBefore(topic string, offset int64) {
	w.Helper()
	var o kadm.Offsets
	o.Add(kadm.Offset{Topic: topic, At: offset, LeaderEpoch: -1})
	if res, err := w.adm.DeleteRecords(w.ctx, o); err != nil || res.Error() != nil {
		w.Fatal(err, res.Error())
	}
}

// set sets a topic's config.
func (w *world) set(topic, key, value string) {
	w.Helper()
	change := []kadm.AlterConfig{{Op: kadm.SetConfig, Name: key, Value: &value}}
	if _, err := w.adm.AlterTopicConfigs(w.ctx, change, topic); err != nil {
		w.Fatal(err)
	}
}

func contextFor(w *world, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, d)
}
