package markers

import (
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// A record that is due is not redelivered before a tick was read that was written since: its end may be
// before the tick. So a tracker that takes over repeats nothing that the one before has done.
func TestReadsUpBeforeRedelivering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		p := newPart(q.tracker, 0, 0)
		offset := int64(0)
		read := func(m marker.Marker) {
			r := q.scribe.record(m)
			r.Offset, r.Timestamp = offset, time.Now()
			p.take([]*kgo.Record{r}, q.tracker.now())
			offset++
		}
		acts := func() {
			p.act(q.tracker.now())
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		read(marker.Marker{Offset: 0, Type: marker.Start, Count: 2, Duration: time.Second})
		time.Sleep(2 * time.Second)
		read(marker.Marker{Offset: -1, Type: marker.Tick})
		acts()
		if p.ticked < 0 || p.lanes[0].busy {
			t.Fatal("no tick, and redelivers")
		}
		for p.ticked = offset + 2; offset <= p.ticked; {
			if acts(); p.lanes[0].busy {
				t.Fatal("redelivers before it has read the tick")
			}
			read(marker.Marker{Offset: 0, Type: marker.End, Count: 2, Reason: marker.Copied})
		}
		if acts(); p.lanes[0].busy || p.t.tailed.Load() > 0 {
			t.Error("redelivers what the tracker before has done")
		}
	})
}

// While more is kept of a partition than should be, what is due is worked off first.
func TestMemoryOfATrackerIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close(w.ctx)
		p := newPart(tr, 0, 0)
		for i := range int64(openAtMost/8 + 1) {
			p.lanes[i%2].state.Apply(i, time.UnixMilli(0), tracker.Seen{}, marker.Marker{Type: marker.Start, Offset: 8 * i, Count: 8})
		}
		if p.limit(); p.paused {
			t.Error("paused, with nothing under way that would make room")
		}
		p.lanes[0].busy = true
		if p.limit(); len(tr.Counts().Paused) > 0 || len(tr.member.Client().PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 1 {
			t.Error("not paused")
		}
		p.lanes[0].busy = false
		if p.limit(); p.paused || len(tr.member.Client().PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 0 {
			t.Error("not resumed")
		}
	})
}

// What can't be read stops the commit of the group whose it is, or may be, and of no other.
func TestWhoseCommitAnUnreadableMarkerStops(t *testing.T) {
	cfg := engine.Config{Group: "ours", Log: slog.New(slog.DiscardHandler)}
	ours, other := newScribe(&cfg), newScribe(&engine.Config{Group: "another"})
	later := func(s scribe) []byte { return binary.BigEndian.AppendUint32([]byte{2 << 4, 9}, s.group) }
	damaged := func(s scribe) []byte {
		return append(s.record(marker.Marker{Type: marker.End, Count: 1}).Value, "and more"...)
	}
	key := ours.record(marker.Marker{Type: marker.End, Count: 1}).Key
	for name, c := range map[string]struct {
		key, value []byte
		stops      bool
	}{
		"a later version of ours":         {key, later(ours), true},
		"a later version of another's":    {key, later(other), false},
		"a later version of nobody knows": {key, later(scribe{}), true},
		"a later version that is cut off": {key, later(other)[:5], true},
		"a type that is not known":        {key, []byte("\x11\x06\x01\x02\x03\x04"), true},
		"a damaged one of another's":      {key, damaged(other), true},
		"no marker":                       {key, []byte("{}"), true},
		"no marker, with a key as long":   {[]byte("order-000001"), []byte(`{"amount": 1}`), true},
	} {
		var log heard
		cfg.Log = logTo(&log)
		p := newPart(&Tracker{cfg: cfg, scribe: ours}, 0, 0)
		first := ours.record(marker.Marker{Type: marker.End, Count: 1})
		unread := &kgo.Record{Topic: "markers", Key: c.key, Value: c.value, Offset: 1}
		last := *first
		last.Offset = 2
		p.take([]*kgo.Record{first, unread, &last}, time.Second)
		want, refused := int64(3), int64(0)
		if c.stops {
			want, refused = 1, 1
		}
		if at := p.committable(); at != want || p.t.unreadable.Load() != refused {
			t.Errorf("%s: up to %d is committed, %d are refused; want %d, %d", name, at, p.t.unreadable.Load(), want, refused)
		}
		if said := strings.Contains(log.all(), "level=ERROR"); said != c.stops {
			t.Errorf("%s: logged %q", name, log.all())
		}
	}
}

// A tick that was lost, by a leader that failed after it had confirmed it, is written again.
func TestATickThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close(w.ctx)
		w.until("the tracker has written its first tick", func() bool { return len(w.markers(0)) == 1 })
		p := newPart(tr, 0, 5)
		const written = time.Hour
		p.ticked, p.lastTick, p.live = 5, written, 0
		if p.act(written + tickLostAfter/2); p.ticking {
			t.Error("it is written again while it may still be read")
		}
		p.act(written + tickLostAfter)
		ticks := func() (n int) {
			for _, m := range w.markers(0) {
				if m.Type == marker.Tick {
					n++
				}
			}
			return n
		}
		w.until("another is written", func() bool { return ticks() == 2 })
	})
}

// Markers that are deleted before a tracker has read them are an alarm.
func TestMarkersDeletedBeforeTheyWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, func(c *engine.Config) { c.ExternalTracker = true })
		w.produce(0, 3)
		q := w.open()
		open := func() *Tracker {
			tr, err := NewTracker(w.ctx, w.cfg)
			if err != nil {
				t.Fatal(err)
			}
			return tr
		}
		tr := open()
		w.until("there is a first tick", func() bool { return len(w.markers(0)) == 1 })
		w.receive(q, 3)
		w.until("the first start is committed", func() bool { return w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, 0) > 0 })
		if a := tr.Counts().RetentionAlarm; a != "" {
			t.Errorf("nothing is lost, and the alarm is %q", a)
		}
		if err := tr.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.deleteBefore(w.cfg.MarkersTopic, int64(len(w.markers(0))))
		tr = open()
		defer tr.Close(w.ctx)
		w.until("an alarm", func() bool {
			return strings.Contains(tr.Counts().RetentionAlarm, "of partition 0 of topic "+w.cfg.MarkersTopic)
		})
	})
}
