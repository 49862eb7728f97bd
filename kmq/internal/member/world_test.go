package member

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

const (
	topic    = "t"
	group    = "g"
	patience = time.Minute
)

// recorder is a handler that does the least, and writes down what it is asked.
type recorder struct {
	set      *lease.Set
	beginErr error

	mu        sync.Mutex
	diary     []string
	committed map[int32]Offset // as assigned
	next      map[int32]int64
	busy      bool
	metadata  string
}

func newRecorder(bound int) *recorder {
	return &recorder{set: lease.NewSet(bound, nil), committed: make(map[int32]Offset), next: make(map[int32]int64)}
}

func (r *recorder) write(format string, args ...any) {
	r.diary = append(r.diary, fmt.Sprintf(format, args...))
}

func (r *recorder) Assigned(_ context.Context, partition int32, committed Offset) (int64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.committed[partition] = committed
	r.next[partition] = max(committed.At, 0)
	r.write("assigned %d", partition)
	return committed.At, nil
}

func (r *recorder) Begin(_ context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	r.mu.Lock()
	if r.beginErr != nil {
		defer r.mu.Unlock()
		return nil, r.beginErr
	}
	r.busy = true
	partitions := make(map[int32]bool)
	for _, rec := range records {
		partitions[rec.Partition] = true
		r.next[rec.Partition] = rec.Offset + 1
	}
	r.write("begin %v", sorted(partitions))
	r.mu.Unlock()
	time.Sleep(time.Millisecond) // long enough for others to come in between
	r.mu.Lock()
	defer r.mu.Unlock()
	r.busy = false
	leases := lease.FromRecords(records)
	r.set.AddAll(leases, time.Time{})
	return leases, nil
}

func (r *recorder) Committable(partitions []int32) map[int32]Offset {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[int32]Offset)
	for p, next := range r.next {
		if partitions == nil || slices.Contains(partitions, p) {
			out[p] = Offset{At: next, Metadata: r.metadata}
		}
	}
	return out
}

func (r *recorder) Flush(_ context.Context, partitions []int32) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.write("flush in the middle of begin")
	}
	r.write("flush %v", sorted(set(partitions)))
	return nil
}

func (r *recorder) Forget(partitions []int32) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.busy {
		r.write("forget in the middle of begin")
	}
	for _, p := range partitions {
		delete(r.next, p)
	}
	r.set.LoseAll(func(l *lease.Lease) bool { return slices.Contains(partitions, l.At.Partition) })
	r.write("forget %v", sorted(set(partitions)))
}

func set(partitions []int32) map[int32]bool {
	m := make(map[int32]bool)
	for _, p := range partitions {
		m[p] = true
	}
	return m
}

func (r *recorder) read() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.diary)
}

// place is a cluster with a topic, and what is asked of it.
type place struct {
	*testing.T
	on      *virtual.Cluster
	cluster *kfake.Cluster // the same
	client  *kgo.Client
}

// newPlace makes one in the bubble that the test runs in.
func newPlace(t *testing.T) *place {
	c := virtual.Start(t, virtual.Options{Config: map[string]string{
		"group.min.session.timeout.ms": "1000", "group.initial.rebalance.delay.ms": "0",
	}})
	c.Topic(t, topic, 4)
	client := c.NewClient(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	return &place{T: t, on: c, cluster: c.Fake(), client: client}
}

func (p *place) config(r *recorder, bound int) Config {
	return Config{
		Config: engine.Config{
			Brokers: p.on.Bootstrap(), Client: p.on.Client(), Topic: topic, Group: group, MaxInFlight: bound,
			CommitEvery: 10 * time.Millisecond, SessionTimeout: 3 * time.Second, Log: slog.New(slog.DiscardHandler),
		},
		Handler: r, Set: r.set,
	}
}

func (p *place) open(r *recorder, bound int) *Member {
	p.Helper()
	m, err := Open(p.Context(), p.config(r, bound))
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = m.Close(ctx)
		r.set.Close()
	})
	return m
}

func (p *place) produce(n int) {
	p.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: int32(i % 4)}
	}
	if err := p.client.ProduceSync(p.Context(), records...).FirstErr(); err != nil {
		p.Fatal(err)
	}
}

// take receives and settles n records.
func (p *place) take(m *Member, n int) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.Context(), patience)
	defer cancel()
	for n > 0 {
		ls, err := engine.Receive(ctx, m, n)
		if err != nil {
			p.Fatalf("receive: %v, with %d to come", err, n)
		}
		for _, l := range ls {
			_ = m.cfg.Set.Settle(l, lease.Accepted)
		}
		n -= len(ls)
	}
}

// until waits for a condition.
func (p *place) until(what string, is func() bool) {
	p.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("%s: not within %v", what, patience)
		}
	}
}
