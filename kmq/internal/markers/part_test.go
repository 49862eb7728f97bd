package markers

import (
	"encoding/binary"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// What is due is not redelivered before everything was read that there was: its end may be
// in it. So a tracker that takes over repeats nothing that the one before has done.
func TestReadsUpBeforeRedelivering(t *testing.T) {
	p := newPart(&Tracker{cfg: engine.Config{Visibility: time.Second}}, 0)
	at := func(offset int64, ms int64, m marker.Marker) *kgo.Record {
		r := scribe{}.record(m)
		r.Offset, r.Timestamp = offset, time.UnixMilli(ms)
		return r
	}
	start := marker.Marker{Offset: 0, Type: marker.Start, Count: 2, Duration: time.Second}
	end := marker.Marker{Offset: 0, Type: marker.End, Count: 1, Reason: marker.Copied}
	tick := marker.Marker{Offset: -1, Type: marker.Tick}
	p.take(kgo.FetchPartition{HighWatermark: 4, Records: []*kgo.Record{at(0, 0, start), at(1, 5000, tick)}}, time.Hour)
	if _, needsTick, ok := p.state.Next(); needsTick || !ok {
		t.Fatal("nothing is due")
	}
	if p.readUp() {
		t.Error("redelivered with two markers unread")
	}
	p.take(kgo.FetchPartition{HighWatermark: 9, Records: []*kgo.Record{at(2, 5001, end), at(3, 5002, tick)}}, time.Hour)
	if !p.readUp() {
		t.Error("waits for markers that were appended after it was due")
	}
	if due := p.state.Due(10); len(due) != 1 || due[0].From != 1 {
		t.Errorf("due: %v", due)
	}
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
		p := newPart(tr, 0)
		p.state = tracker.New(0)
		for i := range int64(spansAtMost + 1) {
			p.state.Apply(i, time.UnixMilli(0), tracker.Seen{}, marker.Marker{Type: marker.Start, Offset: 2 * i, Count: 1})
		}
		p.end, p.barrier = 1<<40, 1<<40
		p.state.Apply(1<<30, time.UnixMilli(1000), tracker.Seen{}, marker.Marker{Type: marker.Tick, Offset: -1})
		p.bound()
		if p.paused {
			t.Error("paused, with nothing taken that would make room")
		}
		if !p.readUp() {
			t.Error("waits for more markers while there are too many")
		}
		due := p.state.Due(100)
		if p.bound(); !p.paused || len(tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 1 {
			t.Error("not paused")
		}
		for _, d := range due {
			p.state.Ended(marker.Marker{Type: marker.End, Offset: d.From, Count: int32(d.Len()), Reason: marker.Copied}, time.Hour)
		}
		if p.bound(); p.paused || len(tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 0 {
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
		p := newPart(&Tracker{cfg: cfg, scribe: ours}, 0)
		first := ours.record(marker.Marker{Type: marker.End, Count: 1})
		unread := &kgo.Record{Topic: "markers", Key: c.key, Value: c.value, Offset: 1}
		last := *first
		last.Offset = 2
		p.take(kgo.FetchPartition{HighWatermark: 3, Records: []*kgo.Record{first, unread, &last}}, time.Second)
		want, refused := int64(3), int64(0)
		if c.stops {
			want, refused = 1, 1
		}
		if at, _ := p.committable(); at != want || p.t.refused.Load() != refused {
			t.Errorf("%s: up to %d is committed, %d are refused; want %d, %d", name, at, p.t.refused.Load(), want, refused)
		}
		if said := strings.Contains(log.all(), "level=ERROR"); said != c.stops {
			t.Errorf("%s: logged %q", name, log.all())
		}
	}
}

// A poll that failed knows of no end: what was known of it holds, and is read before
// anything is redelivered.
func TestAFailedPollMovesNoEnd(t *testing.T) {
	p := newPart(&Tracker{}, 0)
	tick := scribe{}.record(marker.Marker{Type: marker.Tick, Offset: -1})
	p.take(kgo.FetchPartition{HighWatermark: 1, Records: []*kgo.Record{tick}}, 0)
	next := *tick
	next.Offset = 1
	p.take(kgo.FetchPartition{HighWatermark: 9, Records: []*kgo.Record{&next}}, 0)
	p.take(kgo.FetchPartition{HighWatermark: -1, Err: kerr.TopicAuthorizationFailed}, 0)
	if p.readUp() {
		t.Errorf("read up to %d, where the end is 9", p.state.Position())
	}
}

// A tick that was lost, by a leader that failed after it had confirmed it, is written again.
func TestATickThatIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open() // for the topics
		tr := &Tracker{cfg: w.cfg, scribe: newScribe(&w.cfg), writer: q.writer, running: w.ctx}
		p := newPart(tr, 0)
		p.state = tracker.New(5)
		const written = time.Hour
		p.ticked, p.lastTick = 5, written
		if p.carry(written + tickLostAfter/2); p.ticking {
			t.Error("it is written again while it may still be read")
		}
		p.carry(written + tickLostAfter)
		ticks := func() (n int) {
			for _, m := range w.markers(0) {
				if m.Type == marker.Tick {
					n++
				}
			}
			return n
		}
		w.until("another is written", func() bool { return ticks() == 1 })
	})
}

// Markers that are deleted while a tracker is behind are an alarm, as are those that were
// deleted before it came.
func TestMarkersDeletedBeforeTheyWereRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		tr, err := NewTracker(w.ctx, w.cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer tr.Close(w.ctx)
		p := newPart(tr, 0)
		tick := func(offset int64) []*kgo.Record {
			r := tr.scribe.record(marker.Marker{Type: marker.Tick, Offset: -1})
			r.Offset = offset
			return []*kgo.Record{r}
		}
		p.take(kgo.FetchPartition{HighWatermark: 9, LogStartOffset: 1, Records: tick(3)}, 0)
		p.take(kgo.FetchPartition{HighWatermark: 9, LogStartOffset: 5, Records: tick(4)}, 0) // it was read before
		p.take(kgo.FetchPartition{HighWatermark: 9, LogStartOffset: 5, Records: tick(6)}, 0) // 5 was aborted
		if a := tr.Counts().RetentionAlarm; a != "" {
			t.Errorf("nothing is lost, and the alarm is %q", a)
		}
		p.take(kgo.FetchPartition{HighWatermark: 20, LogStartOffset: 12, Records: tick(15)}, 0)
		if a := tr.Counts().RetentionAlarm; !strings.Contains(a, "markers 7 to 11 of partition 0") {
			t.Errorf("the alarm is %q", a)
		}
	})
}
