package markers

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/marker"
	"kafka-bench/kmq/internal/tracker"
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
	if due := p.state.Due(time.Hour, 10); len(due) != 1 || due[0].From != 1 {
		t.Errorf("due: %v", due)
	}
}

// While more is kept of a partition than should be, what is due is worked off first.
func TestMemoryOfATrackerIsBounded(t *testing.T) {
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
	due := p.state.Due(time.Hour, 100)
	if p.bound(); !p.paused || len(tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 1 {
		t.Error("not paused")
	}
	for _, d := range due {
		p.state.Ended(marker.Marker{Type: marker.End, Offset: d.From, Count: int32(d.Len()), Reason: marker.Copied}, time.Hour)
	}
	if p.bound(); p.paused || len(tr.group.PauseFetchPartitions(nil)[w.cfg.MarkersTopic]) != 0 {
		t.Error("not resumed")
	}
}
