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
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// startKafka is an Apache Kafka of one broker for a test.
func startKafka(t testing.TB, config map[string]string) []string {
	t.Helper()
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{Brokers: 1, Config: config})
	if err != nil {
		t.Fatalf("start Kafka: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := k.Stop(ctx); err != nil {
			t.Errorf("stop Kafka: %v", err)
		}
	})
	return k.Bootstrap()
}

// prepare makes a topic with n records in its partition 0, and returns a client.
func prepare(t testing.TB, brokers []string, topic string, partitions int32, n int) *kgo.Client {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0), kgo.DisableClientMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	if _, err := kadm.NewClient(cl).CreateTopic(ctx, partitions, 1, nil, topic); err != nil {
		t.Fatal(err)
	}
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

func kafkaConfig(brokers []string, topic string) engine.Config {
	cfg := testConfig()
	cfg.Brokers, cfg.Topic, cfg.Group, cfg.DeadLetterTopic = brokers, topic, topic+"-group", ""
	cfg.Visibility = time.Minute
	cfg.CommitEvery, cfg.Log = 100*time.Millisecond, slog.New(slog.DiscardHandler)
	return cfg
}

// line is the network of an engine, which can be cut: as far as the cluster can tell, the
// process is dead then.
type line struct {
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
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
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

func open(t testing.TB, cfg engine.Config) (*Engine, *line) {
	t.Helper()
	l := new(line)
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

// drain receives and acknowledges until n offsets below it are done, and counts what came
// by offset.
func drain(t testing.TB, e *Engine, n int, times map[int64]int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for done := len(times); done < n; done = len(times) {
		leases, err := e.Receive(ctx, 100)
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

// TestLimitOfKafka has a broker that takes very short metadata. The engine reads how
// short, pauses before, and never leaves out the map: when it dies, what was flushed is
// not delivered again. Invariants 1, 4 and 7.
func TestLimitOfKafka(t *testing.T) {
	const limit, records = 24, 2000
	brokers := startKafka(t, map[string]string{
		limitKey: fmt.Sprint(limit), "group.initial.rebalance.delay.ms": "0",
	})
	cl := prepare(t, brokers, "short", 1, records)
	cfg := kafkaConfig(brokers, "short")
	cfg.SessionTimeout = 6 * time.Second
	e, net := open(t, cfg)
	if e.limit != limit {
		t.Fatalf("the limit is %d, read was %d", limit, e.limit)
	}

	// Acknowledge every other record, until nothing more comes.
	times := map[int64]int{}
	received := 0
	for range 120 {
		ctx, cancel := context.WithTimeout(ctx, 500*time.Millisecond)
		leases, err := e.Receive(ctx, 10)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			if len(e.Counts().Paused) > 0 {
				break
			}
			continue
		}
		must(t, err)
		received += len(leases)
		for _, l := range leases {
			if l.At.Offset%2 == 1 {
				must(t, e.Ack(ctx, l))
				times[l.At.Offset]++
			}
		}
	}
	if c := e.Counts(); len(c.Paused) != 1 || c.InFlight > cfg.MaxInFlight || received >= cfg.MaxInFlight {
		t.Fatalf("received %d, counted %+v", received, c)
	}
	must(t, e.Flush(ctx))
	offsets, err := kadm.NewClient(cl).FetchOffsets(ctx, cfg.Group)
	must(t, err)
	committed, _ := offsets.Lookup("short", 0)
	if n := len(committed.Metadata); committed.At != 0 || n == 0 || n > limit {
		t.Fatalf("committed %d with %q of %d characters", committed.At, committed.Metadata, n)
	}
	if len(times) < 20 {
		t.Fatalf("%d records are done in a map of %d characters", len(times), len(committed.Metadata))
	}
	// The broker would not have taken a character more.
	var over kadm.Offsets
	over.Add(kadm.Offset{Topic: "short", At: 0, LeaderEpoch: -1, Metadata: strings.Repeat("x", limit+1)})
	refused, err := kadm.NewClient(cl).CommitOffsets(ctx, "another", over)
	must(t, err)
	if err := refused.Error(); !errors.Is(err, kerr.OffsetMetadataTooLarge) {
		t.Fatalf("metadata above the limit: %v", err)
	}

	net.die()
	e2, _ := open(t, cfg)
	drain(t, e2, records, times)
	for offset := range int64(records) {
		if n := times[offset]; n != 1 {
			t.Fatalf("the record at %d was acknowledged %d times", offset, n)
		}
	}
	must(t, e2.Flush(ctx))
	if c := e2.Counts(); len(c.Paused) != 0 || c.CommitBehind != 0 || c.InFlight != 0 {
		t.Fatalf("counted %+v", c)
	}
}

// TestUnknownLimit takes the default where the brokers do not tell.
func TestUnknownLimit(t *testing.T) {
	c, err := kfake.NewCluster(kfake.NumBrokers(1))
	must(t, err)
	defer c.Close()
	prepare(t, c.ListenAddrs(), "queue", 1, 1)
	cfg := kafkaConfig(c.ListenAddrs(), "queue")
	e, _ := open(t, cfg)
	if e.limit != defaultLimit {
		t.Fatalf("the limit is %d", e.limit)
	}
	times := map[int64]int{}
	drain(t, e, 1, times)
	cfg.Topic = "nowhere"
	if _, err := New(ctx, cfg); !errors.Is(err, lease.ErrConfig) {
		t.Fatalf("a topic that is not there: %v", err)
	}
}

// TestHandedOver has members come and go while records are acknowledged: the next owner
// begins where the last one stopped. Nothing that was acknowledged is delivered again,
// since all of them leave in good order. Invariant 5.
func TestHandedOver(t *testing.T) {
	const records, partitions = 20_000, 6
	c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.BrokerConfigs(map[string]string{"group.initial.rebalance.delay.ms": "0"}))
	must(t, err)
	defer c.Close()
	prepare(t, c.ListenAddrs(), "queue", partitions, records)
	cfg := kafkaConfig(c.ListenAddrs(), "queue")
	cfg.MaxInFlight = 2000
	cfg.CommitEvery = time.Hour // commits are those of revocations
	var mu sync.Mutex
	acked := map[lease.ID]int{}
	work := func(ctx context.Context, e *Engine, round int) {
		for ctx.Err() == nil {
			leases, err := e.Receive(ctx, 7)
			if err != nil {
				return
			}
			time.Sleep(time.Millisecond)
			for i := range leases {
				l := leases[len(leases)-1-i]
				if (l.At.Offset+int64(round))%5 == 0 {
					continue // left to another round
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
}
