package offsetmap

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func prepare(t testing.TB, c cluster.Cluster, topic string, partitions int32, n int) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(append(cluster.AccessTo(c).Options(), kgo.SeedBrokers(c.Bootstrap()...),
		kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.DisableClientMetrics())...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	clustertest.Topic(t, c, topic, int(partitions), 1, nil)
	value := []byte(strings.Repeat("x", 100))
	var failed error
	var once sync.Once
	for i := range n {
		r := &kgo.Record{Topic: topic, Partition: int32(i) % partitions, Key: fmt.Append(nil, i), Value: value}
		cl.Produce(ctx, r, func(_ *kgo.Record, err error) {
			if err != nil {
				once.Do(func() { failed = err })
			}
		})
	}
	if err := cl.Flush(ctx); err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	return cl
}

func kafkaConfig(c cluster.Cluster, topic string) engine.Config {
	cfg := configOn(c.Bootstrap(), topic)
	cfg.Client = cluster.AccessTo(c).Options()
	return cfg
}

func configOn(brokers []string, topic string) engine.Config {
	cfg := testConfig()
	cfg.Brokers, cfg.Topic, cfg.Group, cfg.DeadLetterTopic = brokers, topic, topic+"-group", ""
	cfg.Visibility = time.Minute
	cfg.CommitEvery, cfg.Log = 100*time.Millisecond, slog.New(slog.DiscardHandler)
	return cfg
}

// To the cluster, cutting a line looks like a crash.
type line struct {
	under access.Dial
	mu    sync.Mutex
	conns []net.Conn
	cut   bool
}

func (l *line) dial(ctx context.Context, network, address string) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, errors.New("cut")
	}
	c, err := l.under(ctx, network, address)
	if err == nil {
		l.conns = append(l.conns, c)
	}
	return c, err
}

func (l *line) die() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = true
	for _, c := range l.conns {
		_ = c.Close()
	}
}

func open(t testing.TB, c cluster.Cluster, cfg engine.Config) (*Engine, *line) {
	t.Helper()
	l := &line{under: cluster.AccessTo(c).Dialer(0)}
	cfg.Client = append(cfg.Client, kgo.Dialer(l.dial))
	e, err := New(ctx, cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = e.Close(ctx)
	})
	return e.(*Engine), l
}

// drain acknowledges until all n offsets below n are done, and counts deliveries.
func drain(t testing.TB, e *Engine, n int, times map[int64]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for done := len(times); done < n; done = len(times) {
		leases, err := engine.Receive(ctx, e, 100)
		if err != nil {
			t.Fatalf("%d of %d: %v", done, n, err)
		}
		for _, l := range leases {
			if err := e.Ack(ctx, l); err != nil {
				t.Fatal(err)
			}
			times[l.At.Offset]++
		}
	}
}

func TestUnknownLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := virtual.Start(t, virtual.Options{})
		prepare(t, c, "queue", 1, 1)
		cfg := kafkaConfig(c, "queue")
		e, _ := open(t, c, cfg)
		if e.limit != defaultLimit {
			t.Fatalf("the limit is %d", e.limit)
		}
		times := map[int64]int{}
		drain(t, e, 1, times)
		cfg.Topic = "nowhere"
		if _, err := New(ctx, cfg); !errors.Is(err, lease.ErrConfig) {
			t.Fatalf("a topic that is not there: %v", err)
		}
	})
}

// Invariant 5.
func TestHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const records, partitions = 20_000, 6
		c := startFake(t)
		prepare(t, c, "queue", partitions, records)
		cfg := kafkaConfig(c, "queue")
		cfg.MaxInFlight = 2000
		cfg.CommitEvery = time.Hour // only revocations commit
		cfg.RetryTopic = ""         // a fetch that waits for its records would hold up partitions that are assigned meanwhile
		var mu sync.Mutex
		acked := map[lease.ID]int{}
		work := func(ctx context.Context, e *Engine, round int) {
			for ctx.Err() == nil {
				leases, err := engine.Receive(ctx, e, 7)
				if err != nil {
					return
				}
				time.Sleep(time.Millisecond)
				for i := range leases {
					l := leases[len(leases)-1-i]
					if (l.At.Offset+int64(round))%5 == 0 {
						continue
					}
					switch err := e.Ack(ctx, l); {
					case err == nil:
						mu.Lock()
						acked[l.At]++
						mu.Unlock()
					case !errors.Is(err, lease.ErrLost):
						t.Errorf("ack: %v", err)
					}
				}
			}
		}
		all := func() bool {
			mu.Lock()
			defer mu.Unlock()
			return len(acked) == records
		}
		round := 0
		for ; !all(); round++ {
			if round == 100 {
				t.Fatalf("%d of %d acknowledged", len(acked), records)
			}
			var members sync.WaitGroup
			for i := range 2 {
				members.Go(func() {
					e, err := New(ctx, cfg)
					if err != nil {
						t.Error(err)
						return
					}
					ctx, cancel := context.WithTimeout(ctx, time.Duration(300+200*i)*time.Millisecond)
					defer cancel()
					work(ctx, e.(*Engine), round)
					if err := e.Close(context.Background()); err != nil {
						t.Errorf("close: %v", err)
					}
				})
			}
			members.Wait()
		}
		if round < 3 {
			t.Errorf("all was done in %d rounds: too few owners", round)
		}
		for at, n := range acked {
			if n != 1 {
				t.Fatalf("%v was acknowledged %d times", at, n)
			}
		}
	})
}
