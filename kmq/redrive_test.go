package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
)

// Dead letters are delivered again from attempt 1 on, each once, as they were produced.
func TestRedrive(t *testing.T) {
	for _, engine := range []kmq.Engine{kmq.OffsetMap{}, kmq.Markers{}} {
		t.Run(engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(engine)
				cfg.MaxDeliveries, cfg.Retry = 2, kmq.Exponential(time.Millisecond, time.Millisecond)
				var mu sync.Mutex
				var seen []string
				repaired := false
				run := func() {
					q := i.open(cfg)
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
					defer cancel()
					i.do(q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
						mu.Lock()
						defer mu.Unlock()
						seen = append(seen, fmt.Sprint(d.ID(), " ", string(d.Record.Value), " ", d.Attempt(), " ", d.Record.Timestamp.Sub(i.since), " ", len(d.Record.Headers)))
						if d.ID().Offset < 3 && !repaired {
							return errors.New("the bank is closed")
						}
						return nil
					}, kmq.RunConfig{}))
					i.do(q.Close(t.Context()))
				}
				redrive := func(want int64) {
					t.Helper()
					if n, err := kmq.Redrive(t.Context(), cfg); err != nil || n != want {
						t.Errorf("%d copied, want %d: %v", n, want, err)
					}
				}
				run()
				foreign := &kgo.Record{Topic: cfg.DeadLetterTopic, Value: []byte("of nobody")}
				i.do(i.on.NewClient(i).ProduceSync(t.Context(), foreign).FirstErr())
				seen, repaired = nil, true
				redrive(3)
				redrive(0)
				run()
				slices.Sort(seen)
				if want := []string{"0@0 0 1 0s 0", "0@1 1 1 1s 0", "0@2 2 1 2s 0"}; !slices.Equal(seen, want) {
					t.Errorf("it delivered %q, want %q", seen, want)
				}
				redrive(0)
			})
		})
	}
}

func TestRedriveRefuses(t *testing.T) {
	for _, c := range []struct {
		engine kmq.Engine
		order  kmq.Order
		want   string
	}{
		{kmq.Plain{}, "", "a queue of engine plain and order none has no retry topic: produce its dead letters to topic orders again"},
		{kmq.Share{}, "", "topic orders.billing.retry does not exist"},
		{kmq.OffsetMap{}, kmq.ByKey, "a queue of engine offsetmap and order key has no retry topic"},
		{kmq.OffsetMap{}, "", "topic orders.billing.retry does not exist: no queue of this topic and group with a retry topic has been opened"},
	} {
		t.Run(fmt.Sprint(c.engine, c.order), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg := newInspected(t).config(c.engine)
				cfg.Order = c.order
				if _, err := kmq.Redrive(t.Context(), cfg); !errors.Is(err, kmq.ErrConfig) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v\nwant: %s", err, c.want)
				}
			})
		})
	}
}

// A redrive that cannot read all dead letters is no success. Aborted records at the end of a partition hold up none.
func TestRedriveIsThroughOrFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		i := newInspected(t)
		cfg := i.config(kmq.OffsetMap{})
		i.do(i.open(cfg).Close(t.Context())) // it has created the topics
		aborting := i.on.NewClient(i, kgo.TransactionalID("aborting"))
		i.do(aborting.BeginTransaction())
		i.do(aborting.ProduceSync(t.Context(), &kgo.Record{Topic: cfg.DeadLetterTopic}).FirstErr())
		i.do(aborting.EndTransaction(t.Context(), kgo.TryAbort))
		start := time.Now()
		if n, err := kmq.Redrive(t.Context(), cfg); n != 0 || err != nil || time.Since(start) > 10*time.Second {
			t.Errorf("%d copied after %v: %v", n, time.Since(start), err)
		}
		i.do(i.on.NewClient(i).ProduceSync(t.Context(), &kgo.Record{Topic: cfg.DeadLetterTopic}).FirstErr())
		silent := i.on.Fake().Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Topic: cfg.DeadLetterTopic, Err: kerr.NotLeaderForPartition, Count: -1})
		defer silent.Remove()
		if _, err := kmq.Redrive(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "1 partitions of topic "+cfg.DeadLetterTopic+" were not read") {
			t.Errorf("from a silent broker: %v", err)
		}
	})
}
