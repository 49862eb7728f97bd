package markers

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
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
				synctest.Test(t, func(t *testing.T) {
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
					w.returns("Close of the queue", func(ctx context.Context) { _ = q.Close(ctx) })
				})
			})
		}
	}
}

// Nor those who close a queue whose starts are on their way.
func TestStartsBesideASilentBroker(t *testing.T) {
	for _, transactions := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactions %t", transactions), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker, c.Transactions = true, transactions })
				q := w.open()
				silent := w.silence(w.cfg.MarkersTopic, func() bool { return true })
				w.produce(0, 1)
				w.until("a start waits for the broker", silent)
				w.returns("Close", func(ctx context.Context) { _ = q.Close(ctx) })
			})
		})
	}
}

// An extension that shortens a lock, and of which it is not known whether it is written,
// holds here as if it were: the log may have it. The next one comes behind it, in the log and
// here.
func TestExtensionThatMayBeInTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 2)
		q := w.open()
		ls := w.receive(q, 2)
		w.flush(q)
		free := make(chan struct{})
		var holding atomic.Bool
		holding.Store(true)
		w.onProduce(w.cfg.MarkersTopic, func(*kmsg.ProduceRequest) *kmsg.ProduceResponse {
			if holding.Swap(false) {
				w.fake.SleepControl(func() { <-free })
			}
			return nil
		})
		ctx, cancel := context.WithTimeout(w.ctx, 200*time.Millisecond)
		defer cancel()
		until := time.Now().Add(500 * time.Millisecond)
		if err := q.Extend(ctx, ls[0], 500*time.Millisecond); !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, lease.ErrExpired) {
			t.Errorf("extended: %v", err)
		}
		short, cancel := context.WithTimeout(w.ctx, 200*time.Millisecond)
		defer cancel()
		if err := q.Extend(short, ls[1], time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("extended: %v", err)
		}
		if left := ls[0].Deadline().Sub(until); left > patience/6 {
			t.Errorf("held for %v longer than the log may have it", left)
		}
		w.lentFor(ls[1], 0, w.cfg.Visibility) // what may be longer in the log is not so here
		w.until("the lock has run out", func() bool { return errors.Is(q.set.Check(ls[0]), lease.ErrExpired) })
		if err := q.Ack(w.ctx, ls[0]); !errors.Is(err, lease.ErrExpired) {
			t.Errorf("acknowledged too late: %v", err)
		}
		close(free)
		if err := q.Extend(w.ctx, ls[1], time.Hour); err != nil {
			t.Fatal(err)
		}
		w.lentFor(ls[1], time.Hour-patience, time.Hour)
	})
}

// Two extensions of one lease come after one another: the one that is last in the log is the
// last here.
func TestExtensionsOfOneLeaseComeInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 1)
		q := w.open()
		l := w.receive(q, 1)[0]
		over, err := q.claim(w.ctx, []*lease.Lease{l})
		if err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
		defer cancel()
		if err := q.Extend(soon, l, time.Hour); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("beside another: %v", err)
		}
		if got := w.extended(0); len(got) > 0 {
			t.Errorf("extend markers %v", got)
		}
		extended := make(chan error, 1)
		go func() { extended <- q.Extend(w.ctx, l, time.Hour) }()
		close(over)
		if err := <-extended; err != nil {
			t.Fatal(err)
		}
		w.lentFor(l, time.Hour-patience, time.Hour)
	})
}
