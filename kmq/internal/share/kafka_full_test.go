//go:build full

package share

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func TestOnKafka(t *testing.T) {
	k := clustertest.Shared(t)
	of := fmt.Sprintf("share-%d-", time.Now().UnixNano())
	client, err := kgo.NewClient(kgo.SeedBrokers(k.Bootstrap()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	must(t, err)
	t.Cleanup(client.Close)

	open := func(t *testing.T, name string, records int, change func(*engine.Config)) (*Engine, engine.Config) {
		t.Helper()
		if records > 0 {
			clustertest.Topic(t, k, name, 2, 1, nil)
		}
		for i := range records {
			r := &kgo.Record{Topic: name, Partition: int32(i) % 2, Value: []byte{byte(i)}}
			must(t, client.ProduceSync(t.Context(), r).FirstErr())
		}
		cfg := engine.Config{
			Brokers: k.Bootstrap(), Topic: name, Group: name, Visibility: 30 * time.Second,
			DeadLetterTopic: name + "-dead", RetryTopic: engine.RetryTopic(name, name), MaxInFlight: 100, CommitEvery: time.Second, Log: slog.New(slog.DiscardHandler),
		}
		if change != nil {
			change(&cfg)
		}
		e, err := New(t.Context(), cfg)
		must(t, err)
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			if err := e.Close(ctx); err != nil {
				t.Errorf("close: %v", err)
			}
		})
		return e.(*Engine), cfg
	}
	w := func(t *testing.T) *world { return &world{t: t} }
	records := func(t *testing.T, topic string) (n int64) {
		t.Helper()
		ends, err := kadm.NewClient(client).ListEndOffsets(t.Context(), topic)
		must(t, err)
		ends.Each(func(o kadm.ListedOffset) { n += o.Offset })
		return n
	}

	t.Run("released oftener than the broker allows", func(t *testing.T) {
		t.Parallel()
		const most = 12
		e, cfg := open(t, of+"nack", 2, func(c *engine.Config) { c.MaxDeliveries = most })
		if e.group.limit >= most {
			t.Fatalf("the brokers allow %d deliveries", e.group.limit)
		}
		attempts := make(map[lease.ID]int)
		for range 2 * most {
			l := w(t).receive(e, 1)[0]
			if attempts[l.Origin()]++; attempts[l.Origin()] != l.Attempt {
				t.Fatalf("%v: attempt %d at delivery %d", l.Origin(), l.Attempt, attempts[l.Origin()])
			}
			must(t, e.Nack(t.Context(), l, 0))
		}
		w(t).nothing(e, time.Second)
		if n := records(t, cfg.DeadLetterTopic); n != 2 {
			t.Errorf("%d dead letters, want 2", n)
		}
	})
	t.Run("forgotten, then accepted, then gone", func(t *testing.T) {
		t.Parallel()
		e, cfg := open(t, of+"forgotten", 20, func(c *engine.Config) { c.Visibility = time.Second })
		w(t).receive(e, 20)
		for _, l := range w(t).receive(e, 20) {
			if l.Attempt != 2 {
				t.Errorf("attempt %d", l.Attempt)
			}
			must(t, e.Ack(t.Context(), l))
		}
		must(t, e.Close(t.Context()))
		again, _ := open(t, cfg.Topic, 0, func(c *engine.Config) { c.Visibility = time.Second })
		w(t).nothing(again, 10*time.Second)
	})
	t.Run("dead letters", func(t *testing.T) {
		t.Parallel()
		e, _ := open(t, of+"hopeless", 3, func(c *engine.Config) { c.MaxDeliveries, c.DeadLetterTopic = 3, of+"hopeless-dead" })
		for range 3 * 3 {
			must(t, e.Nack(t.Context(), w(t).receive(e, 1)[0], 0))
		}
		w(t).nothing(e, time.Second)
		if n := records(t, of+"hopeless-dead"); n != 3 {
			t.Errorf("%d dead letters, want 3", n)
		}
	})
	t.Run("longer than the lock", func(t *testing.T) {
		t.Parallel()
		e, cfg := open(t, of+"slow", 1, func(c *engine.Config) { c.Visibility = time.Second })
		l := w(t).receive(e, 1)[0]
		must(t, e.Extend(t.Context(), l, time.Minute))
		other, _ := open(t, cfg.Topic, 0, func(c *engine.Config) { c.Visibility = time.Second })
		w(t).nothing(other, 20*time.Second) // the lock is 15 s
		must(t, e.Ack(t.Context(), l))
		must(t, e.Flush(t.Context()))
		if c := e.Counts(); c.Lost != 0 || c.Expired != 0 {
			t.Errorf("counts: %+v", c)
		}
	})
	t.Run("a session that is shorter than the heartbeat was", func(t *testing.T) {
		t.Parallel()
		_, cfg := open(t, of+"session", 1, func(c *engine.Config) {
			before := map[string]string{sessionOfGroup.name: "45000", beatOfGroup.name: "5000"}
			must(t, settings{}.alter(t.Context(), client, c.Group, before))
			awaitSettings(t, client, c.Group, "45000", "5000")
			c.SessionTimeout = 3 * time.Second
		})
		awaitSettings(t, client, cfg.Group, "3000", "1000")
	})
	t.Run("a group that is another kind of group", func(t *testing.T) {
		t.Parallel()
		clustertest.Topic(t, k, of+"taken", 1, 1, nil)
		must(t, kadm.NewClient(client).CommitAllOffsets(t.Context(), of+"taken",
			kadm.Offsets{of + "taken": {0: {Topic: of + "taken", Partition: 0, At: 0}}}))
		_, err := New(t.Context(), engine.Config{
			Brokers: k.Bootstrap(), Topic: of + "taken", Group: of + "taken", MaxInFlight: 1, Log: slog.New(slog.DiscardHandler),
		})
		if !errors.Is(err, lease.ErrConfig) || !strings.Contains(err.Error(), of+"taken") {
			t.Errorf("a consumer group's name: %v", err)
		}
	})
}

// awaitSettings waits for a session and a heartbeat in milliseconds: brokers learn them from the controller after a moment.
func awaitSettings(t *testing.T, client *kgo.Client, name, session, beat string) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		group, err := describe(t.Context(), client, kmsg.ConfigResourceTypeGroupConfig, name)
		must(t, err)
		s, b := group.value[sessionOfGroup.name], group.value[beatOfGroup.name]
		if s == session && b == beat {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("a session of %s ms, a heartbeat each %s ms; want %s and %s", s, b, session, beat)
		}
	}
}
