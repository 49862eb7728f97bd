package markers

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/kmq/internal/engine"
)

// silence has the cluster take, and not answer, what is produced to a topic while it is so,
// and says whether it took any.
func (w *world) silence(topic string, so func() bool) (silent func() bool) {
	w.Helper()
	id := w.topicID(topic)
	var took atomic.Bool
	w.fake.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		for _, rt := range req.(*kmsg.ProduceRequest).Topics {
			if (rt.TopicID == id || rt.Topic == topic) && so() {
				took.Store(true)
				return nil, nil, true
			}
		}
		return nil, nil, false
	})
	return took.Load
}

// returns sees to it that f returns, with a context of a second.
func (w *world) returns(what string, f func(context.Context)) {
	w.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(ctx)
	}()
	select {
	case <-ended:
	case <-time.After(patience / 2):
		w.Fatalf("%s hangs", what)
	}
}

// A broker that takes what is produced and does not answer holds up neither the group that
// takes partitions from a tracker, nor those who close one.
func TestTrackerBesideASilentBroker(t *testing.T) {
	for _, transactions := range []bool{false, true} {
		for what, take := range map[string]func(context.Context, *Tracker){
			"lost": func(ctx context.Context, tr *Tracker) {
				tr.onLost(ctx, tr.group, map[string][]int32{tr.cfg.MarkersTopic: {0}})
			},
			"revoked": func(ctx context.Context, tr *Tracker) { _ = tr.letGo(ctx, []int32{0}) },
			"closed":  func(ctx context.Context, tr *Tracker) { _ = tr.Close(ctx) },
		} {
			t.Run(fmt.Sprintf("%s, transactions %t", what, transactions), func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, 1, visible(500*time.Millisecond), func(c *engine.Config) {
					c.ExternalTracker, c.Transactions = true, transactions
				})
				w.produce(0, 1)
				q := w.open()
				w.receive(q, 1)
				var copied, over atomic.Bool
				defer over.Store(true)
				silent := w.silence(w.cfg.MarkersTopic, func() bool { return copied.Load() && !over.Load() })
				w.silence(w.cfg.Topic, func() bool { // a copy; its end follows
					copied.Store(true)
					return transactions && !over.Load()
				})
				tr, err := NewTracker(w.ctx, w.cfg)
				if err != nil {
					t.Fatal(err)
				}
				w.until("a redelivery waits for the broker", func() bool { return copied.Load() && (transactions || silent()) })
				w.returns("what takes its partition away", func(ctx context.Context) { take(ctx, tr) })
				w.returns("Close", func(ctx context.Context) { _ = tr.Close(ctx) })
			})
		}
	}
}

// Nor those who close a queue whose starts are on their way.
func TestStartsBesideASilentBroker(t *testing.T) {
	for _, transactions := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactions %t", transactions), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker, c.Transactions = true, transactions })
			q := w.open()
			silent := w.silence(w.cfg.MarkersTopic, func() bool { return true })
			w.produce(0, 1)
			w.until("a start waits for the broker", silent)
			w.returns("Close", func(ctx context.Context) { _ = q.Close(ctx) })
		})
	}
}
