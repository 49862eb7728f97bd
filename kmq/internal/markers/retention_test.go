package markers

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/retention"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// What is needed of both topics: what is lent, or what was not read.
func TestNeeds(t *testing.T) {
	cfg := &engine.Config{Topic: "queue", RetryTopic: "retry", MarkersTopic: "markers"}
	at := func(topic string, offset int64) kadm.OffsetResponses {
		return kadm.OffsetResponses{topic: {3: {Offset: kadm.Offset{Topic: topic, Partition: 3, At: offset}}}}
	}
	lent := func(offset int64) retention.Need {
		return retention.Need{Topic: "queue", Partition: 3, From: offset}
	}
	waits := func(offset int64) retention.Need {
		return retention.Need{Topic: "queue", Partition: 3, From: offset}
	}
	markers := func(offset int64) retention.Need {
		return retention.Need{Topic: "markers", Partition: 3, From: offset}
	}
	for _, c := range []struct {
		name            string
		record, marker  int64
		committed, read int64
		want            []retention.Need
	}{
		{"nothing is known", -1, -1, -1, -1, nil},
		{"what is lent", 5, 7, 9, 6, []retention.Need{lent(5), markers(7)}},
		{"what is lent, with nothing committed", 5, 7, -1, -1, []retention.Need{lent(5), markers(7)}},
		{"what waits", -1, -1, 9, 6, []retention.Need{waits(9), markers(6)}},
		{"what waits, before what is lent", 9, 7, 5, 6, []retention.Need{waits(5), markers(7)}},
	} {
		r := need{partition: 3, record: c.record, marker: c.marker}
		if got := r.with(cfg, at("queue", c.committed), at("markers", c.read)); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	of := need{partition: lease.Retry(3), record: 5, marker: -1}
	want := []retention.Need{{Topic: "retry", Partition: 3, From: 4}}
	if got := of.with(cfg, at("retry", 4), at("markers", 7)); !slices.Equal(got, want) {
		t.Errorf("of the retry topic: %v, want %v", got, want)
	}
}

// look is the alarm of now; the tracker itself looks every 30 s.
func (w *world) look(q *queue) string {
	w.Helper()
	if err := q.tracker.watch.Look(w.ctx); err != nil {
		w.Fatal(err)
	}
	return q.Counts().RetentionAlarm
}

// Invariant 9: an alarm where retention does not cover what is not settled.
func TestRetentionAlarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log heard
		w := newWorld(t, 1, func(c *engine.Config) { c.Log = logTo(&log) })
		w.produce(0, 10)
		q := w.open()
		ls := w.receive(q, 10)
		w.ack(q, ls[:3]...)
		w.flush(q)
		w.until("the tracker knows the oldest", func() bool { r := q.tracker.needs(); return len(r) == 2 && r[0].record == 3 })
		if a := w.look(q); a != "" {
			t.Errorf("alarm where all is covered: %s", a)
		}
		// The records are a second old: more than three quarters of the retention.
		w.set(w.cfg.Topic, retention.Time, "1100")
		if a := w.look(q); !strings.Contains(a, "offset 3 of partition 0 of topic "+w.cfg.Topic+" is not settled") {
			t.Errorf("alarm: %q", a)
		}
		w.set(w.cfg.Topic, retention.Time, "604800000")
		if a := w.look(q); a != "" {
			t.Errorf("alarm after retention was raised: %q", a)
		}
		time.Sleep(100 * time.Millisecond)
		w.set(w.cfg.MarkersTopic, retention.Time, "100")
		if a := w.look(q); !strings.Contains(a, "of topic "+w.cfg.MarkersTopic+" is not settled") {
			t.Errorf("alarm: %q", a)
		}
		w.set(w.cfg.MarkersTopic, retention.Time, "604800000")
		w.deleteBefore(w.cfg.Topic, 5)
		if a := w.look(q); !strings.Contains(a, "offsets 3 to 4 of partition 0 of topic "+w.cfg.Topic+" are deleted") {
			t.Errorf("alarm: %q", a)
		}
		if !strings.Contains(log.all(), "retention does not cover") {
			t.Error("nothing was logged")
		}
		w.ack(q, ls[3:]...)
		w.flush(q)
		w.until("no alarm once all is settled", func() bool { return w.look(q) == "" })
	})
}

// What waits and was not delivered is covered by the alarm too.
func TestRetentionAlarmOfWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker, c.MaxInFlight = true, 2 })
		w.produce(0, 10)
		q := w.open()
		w.receive(q, 2)
		w.until("the poll is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, 0) == 2 })
		w.deleteBefore(w.cfg.Topic, 8)
		if err := q.watch.Look(w.ctx); err != nil {
			t.Fatal(err)
		}
		if a := q.Counts().RetentionAlarm; !strings.Contains(a, "offsets 2 to 7") {
			t.Errorf("alarm: %q", a)
		}
	})
}

// Settled records of the retry topic are deleted, up to the oldest that is not settled.
func TestSettledRetriesAreDeleted(t *testing.T) {
	for _, external := range []bool{false, true} {
		t.Run(fmt.Sprint("external tracker ", external), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, visible(time.Hour), func(c *engine.Config) { c.ExternalTracker = external })
				w.ctx = t.Context() // longer than that of other tests
				w.produce(0, 4)
				q := w.open()
				if external {
					tr, err := NewTracker(w.ctx, w.cfg)
					if err != nil {
						t.Fatal(err)
					}
					defer tr.Close(w.ctx)
				}
				ls := w.receive(q, 4)
				for _, l := range ls[:3] {
					if err := q.Nack(w.ctx, l, 0); err != nil {
						t.Fatal(err)
					}
				}
				again := w.receive(q, 3)
				slices.SortFunc(again, func(a, b *lease.Lease) int { return int(a.At.Offset - b.At.Offset) })
				w.ack(q, again[0], again[2])
				for _, want := range []int64{1, 3} {
					time.Sleep(3 * deleteEvery)
					starts, err := w.adm.ListStartOffsets(w.ctx, w.cfg.RetryTopic)
					if err != nil {
						t.Fatal(err)
					}
					if start, _ := starts.Lookup(w.cfg.RetryTopic, 0); start.Offset != want {
						t.Errorf("the retry topic begins at %d, want %d", start.Offset, want)
					}
					if want == 1 {
						w.ack(q, again[1])
					}
				}
				if n := len(w.read(w.cfg.Topic, 0)); n != 4 {
					t.Errorf("the queue's topic has %d records of 4", n)
				}
				if c := q.Counts(); c.Missing > 0 || c.RetentionAlarm != "" {
					t.Errorf("%+v", c)
				}
			})
		})
	}
}

// Nothing is deleted before the tracker has read the starts of all that is committed.
func TestWhatMayBeDeleted(t *testing.T) {
	l := newPart(&Tracker{cfg: engine.Config{}}, 0, 0).lanes[1]
	apply := func(offset int64, m marker.Marker) { l.state.Apply(offset, time.UnixMilli(0), tracker.Seen{}, m) }
	for i, step := range []struct {
		markers func()
		told    settled
		want    int64
	}{
		{nil, settled{committed: 5, end: 1}, 0},
		{nil, settled{committed: 5, end: 1}, 0}, // the start is not read
		{func() { apply(0, marker.Marker{Type: marker.Start, Offset: 0, Count: 5}) }, settled{committed: 5, end: 1}, 0},
		{func() { apply(1, marker.Marker{Type: marker.End, Offset: 0, Count: 3}) }, settled{committed: 9, end: 7}, 3},
		{func() { apply(2, marker.Marker{Type: marker.End, Offset: 3, Count: 2}) }, settled{committed: 9, end: 7}, 0},
		{func() { apply(6, marker.Marker{Type: marker.Tick}) }, settled{committed: 9, end: 7}, 9},
	} {
		if step.markers != nil {
			step.markers()
		}
		if got := l.settle(step.told); got != step.want {
			t.Errorf("step %d: below %d, want %d", i, got, step.want)
		}
	}
}
