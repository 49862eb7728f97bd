package crash

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

type world struct {
	t       testing.TB
	spec    queueSpec
	book    *book
	own     []kgo.Opt // without faults
	launch  func(childSpec) worker
	client  *kgo.Client
	admin   *kadm.Client
	queue   *follower
	retries *follower // of the retry topic, or nil
	dead    *follower // or nil
	markers *follower // or nil
	probes  probeState

	produced atomic.Int64
	serial   atomic.Int64
	seed     uint64
	broken   int // killed or stopped with open records
}

type way struct {
	name     string
	engine   string
	external bool
}

const partitions = 4

func newWorld(t testing.TB, c cluster.Cluster, replication int16, w way) *world {
	t.Helper()
	return newWorldOf(t, c, replication, w, partitions, nil)
}

func newWorldOf(t testing.TB, c cluster.Cluster, replication int16, w way, partitions int32, change func(*queueSpec)) *world {
	t.Helper()
	name := strings.ReplaceAll(w.name, " ", "-") + fmt.Sprintf("-%d", time.Now().UnixNano()%1e9)
	spec := queueSpec{
		Brokers: c.Bootstrap(), dial: cluster.AccessTo(c).Dialer(0), Topic: name, Group: "g-" + name, Engine: w.engine, Partitions: partitions,
		Born: time.Now().Add(-time.Hour).Truncate(time.Second), DeadLetters: name + "-dead",
		MaxInFlight: 60, Session: time.Second, Heartbeat: 100 * time.Millisecond,
	}
	if w.engine != plainEngine {
		spec.Visibility, spec.MaxDeliveries = 1500*time.Millisecond, 4
	}
	if w.engine == shareEngine {
		spec.MaxDeliveries = 8
	}
	spec.External = w.external
	if change != nil {
		change(&spec)
	}
	v := &world{t: t, spec: spec, own: cluster.AccessTo(c).Options(), seed: *killsSeed}
	v.client = v.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(50*time.Millisecond))
	v.admin = kadm.NewClient(v.client)
	v.launch = v.puppet
	kept := map[string]string{"retention.ms": "-1", "min.insync.replicas": fmt.Sprint(max(1, replication-1))}
	clustertest.Topic(t, c, spec.DeadLetters, int(partitions), int(replication), kept)
	if w.engine != plainEngine {
		clustertest.Topic(t, c, spec.retryTopic(), int(partitions), int(replication), kept)
	}
	maps.Copy(kept, spec.TopicConfigs)
	clustertest.Topic(t, c, spec.Topic, int(partitions), int(replication), kept)
	var err error
	if v.book, err = openBook(filepath.Join(t.TempDir(), "journal")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { v.book.file.Close() })
	v.queue = v.follow(spec.Topic)
	if w.engine != plainEngine {
		v.retries = v.follow(spec.retryTopic())
	}
	v.dead = v.follow(spec.DeadLetters)
	return v
}

func (v *world) newClient(with ...kgo.Opt) *kgo.Client {
	v.t.Helper()
	opts := append(slices.Clone(v.own), kgo.SeedBrokers(v.spec.Brokers...), kgo.DisableClientMetrics())
	client, err := kgo.NewClient(append(opts, with...)...)
	if err != nil {
		v.t.Fatal(err)
	}
	v.t.Cleanup(client.Close)
	return client
}

func (v *world) child(slot string) childSpec {
	return childSpec{
		Name: fmt.Sprintf("%s%d", slot, v.serial.Add(1)), Journal: v.book.path, Role: roleQueue, Queue: v.spec,
		Workers: 4, Batch: 5, Seed: v.seed, Work: 20 * time.Millisecond, Verbose: *verbose,
	}
}

func (v *world) produce(ctx context.Context, n int) error {
	from := int(v.produced.Load())
	var records []*kgo.Record
	for i := range n {
		records = append(records, numbered(v.spec.Topic, v.spec.Partitions, v.spec.Born, from+i))
	}
	if err := v.client.ProduceSync(ctx, records...).FirstErr(); err != nil {
		return fmt.Errorf("produce: %w", err)
	}
	v.produced.Add(int64(n))
	return nil
}

// feed produces records until stop is called; the parameter ahead bounds the unprocessed ones.
func (v *world) feed(ahead int) (stop func() error) {
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	var failed error
	wg.Go(func() {
		for ctx.Err() == nil {
			if failed = v.book.read(); failed != nil {
				return
			}
			if open := int(v.produced.Load()) - v.book.done(); open < ahead {
				if failed = v.produce(context.WithoutCancel(ctx), 20); failed != nil {
					return
				}
				continue
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	return sync.OnceValue(func() error {
		cancel()
		wg.Wait()
		return failed
	})
}

func (b *book) done() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := 0
	for number, f := range b.fates {
		if f.processed+f.rejected > 0 || poison(number) && len(f.deliveries) > 1 {
			n++
		}
	}
	return n
}

func (v *world) committed(ctx context.Context, group, topic string) (map[int32]kadm.Offset, error) {
	for {
		fetched, err := v.admin.FetchOffsets(ctx, group)
		if err == nil {
			err = fetched.Error()
		}
		if err == nil {
			at := make(map[int32]kadm.Offset)
			for p := range v.spec.Partitions {
				at[p] = kadm.Offset{Partition: p, At: -1}
				if o, ok := fetched.Lookup(topic, p); ok {
					at[p] = o.Offset
				}
			}
			return at, nil
		}
		if errors.Is(err, kerr.GroupIDNotFound) {
			return map[int32]kadm.Offset{}, nil
		}
		if ctx.Err() != nil {
			return nil, err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
