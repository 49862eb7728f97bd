package retention

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/project/virtual"
)

const topic = "queue"

type world struct {
	*testing.T
	on     *virtual.Cluster
	fake   *kfake.Cluster
	client *kgo.Client
	adm    *kadm.Client
	watch  *Watch

	mu      sync.Mutex
	needs   []Need
	unasked error
	log     bytes.Buffer
}

func inWorld(t *testing.T, f func(t *testing.T, w *world)) {
	t.Helper()
	virtual.Test(t, virtual.Options{}, func(t *testing.T, c *virtual.Cluster) { f(t, newWorld(t, c)) })
}

func newWorld(t *testing.T, c *virtual.Cluster) *world {
	t.Helper()
	c.Topic(t, topic, 2)
	w := &world{T: t, on: c, fake: c.Fake(), client: c.NewClient(t, kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.DefaultProduceTopic(topic), kgo.TransactionalID("test"))}
	w.adm = kadm.NewClient(w.client)
	w.watch = New(c.NewClient(t), slog.New(slog.NewTextHandler(w, nil)), w.needed, topic)
	t.Cleanup(w.watch.Close)
	return w
}

func (w *world) needed(context.Context) ([]Need, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]Need(nil), w.needs...), w.unasked
}

func (w *world) need(needs ...Need) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.needs = needs
}

func (w *world) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.log.Write(b)
}

func (w *world) said(text string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Count(w.log.String(), text)
}

const (
	begun = "retention does not cover all unsettled records"
	ended = "retention covers all unsettled records again"
)

func (w *world) look() string {
	w.Helper()
	if err := w.watch.Look(w.Context()); err != nil {
		w.Fatal(err)
	}
	return w.watch.Alarm()
}

func (w *world) has(want string) {
	w.Helper()
	if a := w.look(); want == "" && a != "" || !strings.Contains(a, want) {
		w.Errorf("the alarm is %q, want %q", a, want)
	}
}

// The end of a transaction takes one more offset.
func (w *world) write(partition int32, n int, age time.Duration, end kgo.TransactionEndTry) {
	w.Helper()
	w.begin(partition, n, age)
	if err := w.client.EndTransaction(w.Context(), end); err != nil {
		w.Fatal(err)
	}
}

func (w *world) begin(partition int32, n int, age time.Duration) {
	w.Helper()
	if err := w.client.BeginTransaction(); err != nil {
		w.Fatal(err)
	}
	for range n {
		r := &kgo.Record{Partition: partition, Value: []byte("v"), Timestamp: time.Now().Add(-age)}
		if err := w.client.ProduceSync(w.Context(), r).FirstErr(); err != nil {
			w.Fatal(err)
		}
	}
}

func record(partition int32, offset int64) Need {
	return Need{Topic: topic, Partition: partition, From: offset}
}

func TestAlarm(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.write(0, 10, time.Hour, kgo.TryCommit)
		w.write(1, 10, time.Hour, kgo.TryCommit)
		w.need(record(1, 3))
		w.has("")
		w.on.Set(t, topic, Time, "3660000")
		w.has("offset 3 of partition 1 of topic queue is not settled and older than 45m45s of its retention.ms of 1h1m0s")
		w.need(record(1, 4))
		w.has("offset 4")
		if n := w.said(begun); n != 1 {
			t.Errorf("said %d times that it began", n)
		}
		w.need(record(1, 4), record(0, 7))
		if a := w.look(); !strings.HasPrefix(a, "offset 7 of partition 0") || !strings.Contains(a, "; offset 4 of partition 1") {
			t.Errorf("the alarm is %q", a)
		}
		w.on.Delete(t, topic, 1, 6)
		w.need(record(1, 4))
		w.has("offsets 4 to 5 of partition 1 of topic queue are deleted and were not settled")
		if n := w.said(begun); n != 3 || w.said(ended) != 0 {
			t.Errorf("said %d times what it is about", n)
		}
		w.need()
		w.has("")
		w.has("")
		if n := w.said(ended); n != 1 {
			t.Errorf("said %d times that it ended", n)
		}
		w.need(record(0, 7))
		w.on.Set(t, topic, "cleanup.policy", "compact")
		w.has("")
	})
}

func TestStart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.write(0, 10, time.Hour, kgo.TryCommit)
		w.on.Delete(t, topic, 0, 5)
		w.need(Need{Topic: topic, Partition: 0, From: Start}, Need{Topic: topic, Partition: 1, From: Start})
		w.has("")
		w.on.Set(t, topic, Time, "3660000")
		w.has("offset 5 of partition 0")
		if a := w.watch.Alarm(); strings.Contains(a, "partition 1") {
			t.Errorf("partition 1 is empty: %s", a)
		}
	})
}

func TestSize(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.write(0, 50, 0, kgo.TryCommit)
		w.on.Set(t, topic, Bytes, "1000")
		w.need(record(0, 2))
		w.has("offset 2 of partition 0 of topic queue is not settled and about ")
		w.need(record(0, 49))
		w.has("")
	})
}

// Without the configuration only deletions are alarms; without the size, also ages. Each missing
// permission is logged once.
func TestWithoutPermission(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.write(0, 10, time.Hour, kgo.TryCommit)
		w.on.Set(t, topic, Time, "3660000")
		w.on.Set(t, topic, Bytes, "1")
		w.need(record(0, 3))
		deny := func(f kfake.Fault) *kfake.FaultHandle {
			f.Count = -1
			return w.fake.Fault(f)
		}
		for again := 1; again <= 2; again++ {
			denied := deny(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeLogDirs}, TopLevel: true, Err: kerr.ClusterAuthorizationFailed})
			for range 2 {
				if a := w.look(); !strings.Contains(a, Time) || strings.Contains(a, Bytes) {
					t.Errorf("the alarm is %q", a)
				}
			}
			denied.Remove()
			w.has(Bytes)
			if n := w.said("the size of a topic can't be read"); n != again {
				t.Errorf("said %d times that the size is not known", n)
			}
		}
		for again := 1; again <= 2; again++ {
			denied := deny(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeConfigs}, Resource: topic, Err: kerr.TopicAuthorizationFailed})
			if a := w.look(); strings.Contains(a, Time) {
				t.Errorf("the alarm is %q", a)
			}
			w.on.Delete(t, topic, 0, 5)
			w.has("offsets 3 to 4 of partition 0 of topic queue are deleted")
			denied.Remove()
			w.need(record(0, 6))
			w.has(Time)
			if n := w.said("the retention of a topic can't be read"); n != again {
				t.Errorf("said %d times that the retention is not known", n)
			}
			w.need(record(0, 3))
		}
	})
}

func TestLookFails(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.write(0, 10, time.Hour, kgo.TryCommit)
		w.on.Set(t, topic, Time, "3660000")
		w.need(record(0, 3))
		alarm := w.look()
		w.mu.Lock()
		w.unasked = errors.New("no answer")
		w.mu.Unlock()
		if err := w.watch.Look(t.Context()); !errors.Is(err, w.unasked) || alarm == "" || w.watch.Alarm() != alarm {
			t.Errorf("%v; the alarm was %q and is %q", err, alarm, w.watch.Alarm())
		}
		w.mu.Lock()
		w.unasked = nil
		w.mu.Unlock()
		w.watch.Keep("lost")
		if a := w.look(); a != "lost; "+alarm {
			t.Errorf("the alarm is %q", a)
		}
		w.need()
		if a := w.look(); a != "lost" {
			t.Errorf("the alarm is %q", a)
		}
		for i := range 4 {
			w.watch.Keep(fmt.Sprint("lost ", i))
		}
		if a := w.watch.Alarm(); a != "lost; lost 0; lost 1; and 2 more are lost" {
			t.Errorf("the alarm is %q", a)
		}
	})
}
