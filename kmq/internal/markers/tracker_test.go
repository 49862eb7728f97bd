package markers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// Invariant 2: the tracker commits, for the group that it reads with, up to the lowest
// start without an end, and not beyond; the next tracker reads on from there.
func TestCommitStopsAtTheOldestOpenStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		var open *lease.Lease
		for i := range 5 { // five polls, five starts
			w.produce(0, 20)
			ls := w.receive(q, 20)
			if i == 2 {
				open = ls[7]
				ls = slices.Delete(ls, 7, 8)
			}
			w.ack(q, ls...)
			w.flush(q)
		}
		group := Group(w.cfg.Group)
		var held int64 = -1
		for offset, m := range w.markers(0) {
			if m.Type == marker.Start && m.Offset <= open.At.Offset && open.At.Offset < m.Offset+int64(m.Count) {
				held = offset
			}
		}
		highest := int64(-1)
		w.until("the tracker commits up to the open start", func() bool {
			highest = max(highest, w.committed(group, w.cfg.MarkersTopic, 0))
			return highest >= held
		})
		time.Sleep(500 * time.Millisecond) // ten commits
		if at := w.committed(group, w.cfg.MarkersTopic, 0); at != held {
			t.Errorf("committed %d, the start of the open record is at %d", at, held)
		}

		if err := q.tracker.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		lowest := w.fetches(w.cfg.MarkersTopic)
		next, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer next.Close(w.ctx)
		w.until("the next tracker reads", func() bool { return lowest() >= 0 && lowest() <= held })
		if from := lowest(); from != held {
			t.Errorf("the next tracker began to read at %d, committed was %d", from, held)
		}
		w.ack(q, open)
		w.flush(q)
		end := int64(0)
		for offset := range w.markers(0) {
			end = max(end, offset+1)
		}
		w.until("the next tracker commits the end", func() bool { return w.committed(group, w.cfg.MarkersTopic, 0) == end })
	})
}

// fetches says from which offset on a topic of one partition was read at the lowest, from
// now on; -1: not yet.
func (w *world) fetches(topic string) func() int64 {
	id := w.topicID(topic)
	var lowest atomic.Int64
	lowest.Store(-1)
	w.fake.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.fake.KeepControl()
		for _, rt := range req.(*kmsg.FetchRequest).Topics {
			if rt.TopicID == id {
				at := rt.Partitions[0].FetchOffset
				if low := lowest.Load(); low < 0 || at < low {
					lowest.Store(at)
				}
			}
		}
		return nil, nil, false
	})
	return lowest.Load
}

// A marker that can't be read is refused loudly; records are redelivered all the same, but
// nothing from it on is committed.
func TestUnreadableMarker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log heard
		w := newWorld(t, 1, visible(2*time.Second), func(c *engine.Config) { c.Log = logTo(&log) })
		q := w.open()
		w.produce(0, 1)
		w.ack(q, w.receive(q, 1)...)
		w.flush(q)
		_, key, value := marker.Append(nil, marker.Marker{Offset: 5, Type: marker.Start, Count: 1})
		value[0] = 2 << 4 // of a later version
		r := &kgo.Record{Topic: w.cfg.MarkersTopic, Key: key, Value: value}
		if err := w.client.ProduceSync(w.ctx, r).FirstErr(); err != nil {
			t.Fatal(err)
		}
		w.produce(0, 1)
		w.receive(q, 1)
		w.ack(q, w.receive(q, 1)...) // again
		w.flush(q)
		group := Group(w.cfg.Group)
		w.until("what is before is committed", func() bool { return w.committed(group, w.cfg.MarkersTopic, 0) == r.Offset })
		time.Sleep(300 * time.Millisecond)
		if at := w.committed(group, w.cfg.MarkersTopic, 0); at != r.Offset {
			t.Errorf("committed %d, beyond the marker at %d", at, r.Offset)
		}
		if n := q.Counts().Unreadable; n != 1 {
			t.Errorf("%d unreadable markers are counted", n)
		}
		if !strings.Contains(log.all(), "can't be read") || !strings.Contains(log.all(), "unknown version") {
			t.Errorf("logged: %s", log.all())
		}
	})
}

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
		w.until("they share the partitions", func() bool { return len(one.owned()) == 2 && len(two.owned()) == 2 })
		if err := one.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		again := w.receive(q, n)
		seen := map[lease.ID]bool{}
		for _, l := range again {
			if seen[l.Origin] || l.Attempt != 2 {
				t.Errorf("%v: attempt %d, came before: %v", l.Origin, l.Attempt, seen[l.Origin])
			}
			seen[l.Origin] = true
			if i := slices.IndexFunc(first, func(f *lease.Lease) bool { return f.Origin == l.Origin }); time.Now().Before(first[i].Deadline()) {
				t.Errorf("%v came early", l.Origin)
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

// covered is in how many partitions a tracker has read a start.
func covered(t *Tracker) (n int) {
	for _, r := range t.reach() {
		if r.record >= 0 {
			n++
		}
	}
	return n
}

// A tracker on its own ends where the brokers refuse its session timeout; that of a queue
// ends with the queue.
func TestTrackerWhoseSessionTimeoutIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.SessionTimeout = 500 * time.Millisecond }) // from 1 s on
		alone, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		soon, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		if err := alone.Wait(soon); !errors.Is(err, lease.ErrConfig) || !errors.Is(err, kerr.InvalidSessionTimeout) {
			t.Errorf("ended with %v", err)
		}
		if err := alone.Close(w.ctx); err != nil {
			t.Error(err)
		}
		q := w.open()
		if _, err := q.Receive(w.ctx, 1); !errors.Is(err, lease.ErrConfig) {
			t.Errorf("receive: %v", err)
		}
		w.until("the tracker is refused too", func() bool { return q.tracker.Counts().Retried > 0 })
		cancel()
		if err := q.tracker.Wait(soon); !errors.Is(err, context.Canceled) {
			t.Errorf("the queue's tracker ended with %v", err)
		}
	})
}

// A partition that was paused when it was taken away is read when it comes again.
func TestPartitionComesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close(w.ctx)
		w.until("it has the partition", func() bool { return len(tr.owned()) == 1 })
		all := map[string][]int32{w.cfg.MarkersTopic: {0}}
		tr.group.PauseFetchPartitions(all) // as bound does
		tr.onLost(w.ctx, tr.group, all)
		tr.onAssigned(w.ctx, tr.group, all)
		if paused := tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]; len(paused) > 0 {
			t.Errorf("paused: %v", paused)
		}
	})
}
