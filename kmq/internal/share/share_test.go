package share

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// The brokers lock records for two seconds and archive them after five deliveries.
type world struct {
	t       *testing.T
	cluster *virtual.Cluster
	client  *kgo.Client
}

const (
	topic = "queue"
	dead  = "dead"
	retry = "queue.group.retry"
	lock  = 2 * time.Second
)

func newWorld(t *testing.T, brokers int, partitions int32) *world {
	t.Helper()
	return newWorldLending(t, lock, brokers, partitions)
}

func newWorldLending(t *testing.T, lock time.Duration, brokers int, partitions int32) *world {
	t.Helper()
	c := virtual.Start(t, virtual.Options{Brokers: brokers, Config: map[string]string{
		"group.share.heartbeat.interval.ms":   "100",
		"group.share.record.lock.duration.ms": fmt.Sprint(lock.Milliseconds()),
		"share.record.lock.sweep.interval.ms": "50",
	}})
	w := &world{t: t, cluster: c}
	c.Topic(t, topic, partitions)
	c.Topic(t, dead, 2)
	w.client = w.cluster.NewClient(w.t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	return w
}

func (w *world) config() engine.Config {
	return engine.Config{
		Brokers: w.cluster.Bootstrap(), Client: w.cluster.Client(), Topic: topic, Group: "group", DeadLetterTopic: dead, RetryTopic: retry,
		Visibility: 30 * time.Second, MaxInFlight: 100, CommitEvery: time.Second,
		Log: slog.New(slog.DiscardHandler),
	}
}

func (w *world) open(cfg engine.Config) *Engine {
	w.t.Helper()
	e, err := New(w.t.Context(), cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = e.Close(ctx)
	})
	return e.(*Engine)
}

func (w *world) produce(n int, partitions int32) {
	w.t.Helper()
	for i := range n {
		r := &kgo.Record{
			Topic: topic, Partition: int32(i) % partitions, Key: []byte("k"), Value: fmt.Append(nil, i),
			Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}, Timestamp: time.UnixMilli(1_700_000_000_000 + int64(i)),
		}
		if err := w.client.ProduceSync(w.t.Context(), r).FirstErr(); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) receive(e *Engine, n int) []*lease.Lease {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	var all []*lease.Lease
	for len(all) < n {
		got, err := engine.Receive(ctx, e, n-len(all))
		if err != nil {
			w.t.Fatalf("after %d of %d records: %v", len(all), n, err)
		}
		all = append(all, got...)
	}
	return all
}

func (w *world) nothing(e *Engine, d time.Duration) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), d)
	defer cancel()
	if got, err := engine.Receive(ctx, e, 100); err == nil {
		for _, l := range got {
			w.t.Errorf("unexpected: %v, attempt %d", l.Origin(), l.Attempt)
		}
	}
}

func (w *world) written(topic string) []*kgo.Record {
	w.t.Helper()
	cl := w.cluster.NewClient(w.t, kgo.ConsumeTopics(topic), kgo.FetchMaxWait(100*time.Millisecond))
	var all []*kgo.Record
	for {
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Second)
		got := cl.PollFetches(ctx).Records()
		cancel()
		if len(got) == 0 {
			return all
		}
		all = append(all, got...)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func values(all []*lease.Lease) map[string]int {
	seen := make(map[string]int)
	for _, l := range all {
		seen[string(l.Record.Value)]++
	}
	return seen
}

// If the locks were not hidden, franz-go would accept the open records at the next poll.
func TestWhatRunsOutIsDeliveredAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 2)
		w.produce(20, 2)
		cfg := w.config()
		cfg.Visibility = 300 * time.Millisecond
		e := w.open(cfg)
		first := w.receive(e, 20)
		for i, l := range first {
			if i%2 == 0 {
				must(t, e.Ack(t.Context(), l))
			}
		}
		again := w.receive(e, 10)
		if early := time.Until(first[1].Deadline()); early > 0 {
			t.Errorf("delivered again %v before the deadline", early)
		}
		for _, l := range again {
			if l.Attempt != 2 {
				t.Errorf("%v: attempt %d, want 2", l.Origin(), l.Attempt)
			}
			must(t, e.Ack(t.Context(), l))
		}
		if err := e.Ack(t.Context(), first[1]); !errors.Is(err, lease.ErrExpired) {
			t.Errorf("ack after the deadline: %v", err)
		}
		w.nothing(e, time.Second)
		c := e.Counts()
		var late int64
		for _, n := range c.Lateness.Counts {
			late += n
		}
		if c.Expired != 10 || c.Redelivered != 10 || c.Acked != 20 || late != 10 {
			t.Errorf("counts: %+v", c)
		}
		if seen := values(again); len(seen) != 10 {
			t.Errorf("%d different records again, want 10", len(seen))
		}
	})
}

// What a delivery shows of a record is the record, at each attempt.
func TestNack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 2)
		w.produce(2, 2)
		e := w.open(w.config())
		attempts := make(map[lease.ID]int)
		const most = 2 * defaultLimit
		for range 2 * most {
			l := w.receive(e, 1)[0]
			attempts[l.Origin()]++
			if l.Attempt != attempts[l.Origin()] {
				t.Fatalf("%v: attempt %d at delivery %d", l.Origin(), l.Attempt, attempts[l.Origin()])
			}
			if len(l.Record.Headers) != 1 || l.Record.Headers[0].Key != "h" || string(l.Record.Key) != "k" {
				t.Fatalf("the record has changed: %+v", l.Record)
			}
			if want := time.UnixMilli(1_700_000_000_000 + int64(l.Record.Value[0]-'0')); !l.Record.Timestamp.Equal(want) {
				t.Fatalf("timestamp %v, want %v", l.Record.Timestamp, want)
			}
			if l.Record.Partition != l.Origin().Partition {
				t.Fatalf("partition %d of a record from %d", l.Record.Partition, l.Origin().Partition)
			}
			if attempts[l.Origin()] == most {
				must(t, e.Ack(t.Context(), l))
				continue
			}
			must(t, e.Nack(t.Context(), l, 0))
		}
		w.nothing(e, 300*time.Millisecond)
		if n := len(w.written(topic)); n != 2 || len(w.written(dead)) > 0 {
			t.Errorf("%d records in the topic, and 2 were produced; dead letters: %d", n, len(w.written(dead)))
		}
	})
}

// The delay is longer than the brokers' lock.
func TestNackWithADelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 1)
		w.produce(1, 1)
		e := w.open(w.config())
		l := w.receive(e, 1)[0]
		const delay = lock + time.Second
		released := time.Now()
		must(t, e.Nack(t.Context(), l, delay))
		if err := e.Ack(t.Context(), l); !errors.Is(err, lease.ErrSettled) {
			t.Errorf("ack after nack: %v", err)
		}
		again := w.receive(e, 1)[0]
		if waited := time.Since(released); waited < delay || again.Attempt != 2 {
			t.Errorf("attempt %d came after %v, want 2 after %v", again.Attempt, waited, delay)
		}
		must(t, e.Ack(t.Context(), again))
		if c := e.Counts(); c.Expired != 0 || c.Lost != 0 {
			t.Errorf("a delay that is over is no loss: %+v", c)
		}
	})
}

func TestMaxDeliveries(t *testing.T) {
	for _, c := range []struct {
		most, deliveries int
		reason           string
	}{
		{1, 1, "delivered 1 times"},
		{2, 2, "delivered 2 times"},
		{7, 7, "delivered 7 times"},
	} {
		t.Run(fmt.Sprint(c.most), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				w.produce(1, 1)
				cfg := w.config()
				cfg.MaxDeliveries = c.most
				e := w.open(cfg)
				for i := range c.deliveries {
					l := w.receive(e, 1)[0]
					if l.Attempt != i+1 {
						t.Fatalf("attempt %d, want %d", l.Attempt, i+1)
					}
					must(t, e.Nack(t.Context(), l, 0))
				}
				w.nothing(e, 500*time.Millisecond)
				got := w.written(dead)
				if len(got) != 1 || len(w.written(topic)) != 1 {
					t.Fatalf("%d dead letters, want 1; the topic has %d records", len(got), len(w.written(topic)))
				}
				headers := make(map[string]string)
				for _, h := range got[0].Headers {
					headers[h.Key] = string(h.Value)
				}
				if headers["h"] != "v" || headers[lease.HeaderDeliveries] != fmt.Sprint(c.deliveries) || headers[lease.HeaderReason] != c.reason {
					t.Errorf("headers of the dead letter: %q", headers)
				}
				if c, n := e.Counts(), int64(c.deliveries); c.DeadLettered != 1 || c.Delivered != n || c.InFlight != 0 {
					t.Errorf("counts: %+v", c)
				}
			})
		})
	}
}

func TestReject(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 1)
		w.produce(1, 1)
		e := w.open(w.config())
		l := w.receive(e, 1)[0]
		must(t, e.Reject(t.Context(), l, "no such customer"))
		if err := e.Reject(t.Context(), l, "again"); !errors.Is(err, lease.ErrSettled) {
			t.Errorf("rejected twice: %v", err)
		}
		w.nothing(e, 300*time.Millisecond)
		if got := w.written(dead); len(got) != 1 {
			t.Errorf("%d dead letters, want 1", len(got))
		}
		if c := e.Counts(); c.Rejected != 1 || c.DeadLettered != 1 || c.InFlight != 0 {
			t.Errorf("counts: %+v", c)
		}
	})
}

func TestRefusedConfigurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 1)
		cfg := w.config()
		cfg.Topic = "nowhere"
		if _, err := New(t.Context(), cfg); !errors.Is(err, lease.ErrConfig) {
			t.Errorf("a topic that is not there: %v", err)
		}
	})
}

// A record whose dead letter is refused is delivered again, but at the broker's limit it waits for its dead letter.
func TestARefusedDeadLetter(t *testing.T) {
	for _, repaired := range []bool{true, false} {
		t.Run(fmt.Sprint("repaired ", repaired), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				must(t, w.cluster.Fake().DeleteTopic(dead))
				const small = "60"
				must(t, w.cluster.Fake().CreateTopic(dead, 2, map[string]string{"max.message.bytes": small}))
				w.produce(1, 1)
				cfg, log := w.config(), new(virtual.Log)
				cfg.MaxDeliveries, cfg.Log = 1, slog.New(slog.NewTextHandler(log, nil))
				e := w.open(cfg)
				for i := range defaultLimit - 1 {
					l := w.receive(e, 1)[0]
					if l.Attempt != i+1 || l.Origin().Offset != 0 {
						t.Fatalf("attempt %d of %v, want %d of the first record", l.Attempt, l.Origin(), i+1)
					}
					must(t, e.Nack(t.Context(), l, 0))
				}
				w.produce(3, 1)
				for range 3 {
					must(t, e.Ack(t.Context(), w.receive(e, 1)[0]))
				}
				w.nothing(e, 2*lock)
				if c := e.Counts(); c.DeadLettered != 0 || c.Retried != defaultLimit-2 {
					t.Errorf("counts: %+v", c)
				}
				if repaired {
					w.cluster.Set(t, dead, "max.message.bytes", "1000")
					w.nothing(e, 5*time.Second)
					if c := e.Counts(); c.DeadLettered != 1 || c.InFlight != 0 || len(w.written(dead)) != 1 {
						t.Errorf("counts: %+v", c)
					}
				}
				must(t, e.Close(t.Context()))
				if lost := strings.Contains(log.String(), "kmq: a record is lost"); lost == repaired {
					t.Errorf("logged: %s", log)
				}
			})
		})
	}
}
