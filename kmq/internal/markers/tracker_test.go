package markers

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// A tracker on its own, and one that takes over: whatever was started before is
// redelivered once, at its deadline.
func TestTrackersHandOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 4, visible(6*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
		const n = 40
		for p := range int32(4) {
			w.produce(p, n/4)
		}
		q := w.open()
		first := w.receive(q, n)
		one, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		w.until("the first tracker reads all", func() bool { return covered(one) == 4 })
		two, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer two.Close(w.ctx)
		w.until("they share the partitions", func() bool { return len(one.member.Owned()) == 2 && len(two.member.Owned()) == 2 })
		if err := one.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		again := w.receive(q, n)
		seen := map[lease.ID]bool{}
		for _, l := range again {
			if seen[l.Origin()] || l.Attempt != 2 {
				t.Errorf("%v: attempt %d, came before: %v", l.Origin(), l.Attempt, seen[l.Origin()])
			}
			seen[l.Origin()] = true
			if i := slices.IndexFunc(first, func(f *lease.Lease) bool { return f.Origin() == l.Origin() }); time.Now().Before(first[i].Deadline()) {
				t.Errorf("%v came early", l.Origin())
			}
		}
		w.ack(q, again...)
		w.flush(q)
		tailed := func() int64 { return one.Counts().Tailed + two.Counts().Tailed }
		w.until("all copies are counted", func() bool { return tailed() >= n })
		if n := tailed(); n != int64(len(again)) {
			t.Errorf("%d copies", n)
		}
	})
}

// A tracker that takes over redelivers the records of the retry topic, too: the commit stops at their starts.
func TestTrackersHandOverTheRetryTopic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, visible(10*time.Second), func(c *engine.Config) { c.ExternalTracker = true })
		open := func() *Tracker {
			tr, err := NewTracker(w.ctx, w.cfg)
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}
		tr := open()
		w.produce(0, 2)
		q := w.open()
		ls := w.receive(q, 2)
		w.ack(q, ls[1])
		if err := q.Nack(w.ctx, ls[0], 0); err != nil {
			t.Fatal(err)
		}
		again := w.receive(q, 1)[0]
		w.produce(0, 1)
		w.ack(q, w.receive(q, 1)...)
		w.flush(q)
		w.until("all but the open start is committed", func() bool { return w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, 0) > 3 })
		if err := tr.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		tr = open()
		defer tr.Close(w.ctx)
		third := w.receive(q, 1)[0]
		if third.Origin() != ls[0].Origin() || third.Attempt != 3 || time.Now().Before(again.Deadline()) {
			t.Errorf("attempt %d of %v", third.Attempt, third.Origin())
		}
		w.ack(q, third)
	})
}

// covered is in how many partitions a tracker has read a start.
func covered(t *Tracker) (n int) {
	for _, r := range t.needs() {
		if r.record >= 0 {
			n++
		}
	}
	return n
}

// A tracker ends if the brokers refuse its session timeout.
func TestTrackerWhoseSessionTimeoutIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.SessionTimeout = 500 * time.Millisecond }) // from 1 s on
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close(w.ctx)
		if err := tr.Wait(w.ctx); !errors.Is(err, lease.ErrConfig) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// If a queue's tracker ends, the queue ends too: otherwise nothing would be redelivered.
func TestAQueueEndsWithItsTracker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		q.tracker.member.Fail(kerr.TopicAuthorizationFailed)
		if _, err := engine.Receive(w.ctx, q, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("receive: %v", err)
		}
	})
}
