package markers

import (
	"slices"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

// Invariant 6: what is not in the log any more is counted and ended, and nothing else is
// delivered in its place.
func TestMissingIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { missing(t, newWorld(t, 1, visible(2*time.Second))) })
}

func missing(t *testing.T, w *world) {
	w.produce(0, 10)
	q := w.open()
	w.receive(q, 10)
	w.deleteBefore(w.cfg.Topic, 6)
	again := w.receive(q, 4)
	for i, l := range again {
		if l.Origin().Offset != int64(6+i) {
			t.Errorf("%v delivered again", l.Origin())
		}
	}
	w.ack(q, again...)
	w.flush(q)
	w.until("six are missing", func() bool { return q.Counts().Missing == 6 })
	w.until("they have ended as missing", func() bool {
		missing := int32(0)
		for _, m := range w.markers(0) {
			if m.Reason == marker.Missing {
				missing += m.Count
			}
		}
		return missing == 6
	})
	if c := q.Counts(); c.Tailed != 4 {
		t.Errorf("%+v", c)
	}
}

// Invariant 8: never early, and how late is reported.
func TestNeverEarlyAndSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { neverEarly(t, newWorld(t, 4, visible(time.Second)), 300) })
}

func neverEarly(t *testing.T, w *world, n int) {
	for p := range int32(4) {
		w.produce(p, n/4)
	}
	q := w.open()
	deadlines := map[lease.ID]time.Time{}
	for len(deadlines) < n {
		for _, l := range w.receive(q, 1) {
			deadlines[l.Origin()] = l.Deadline()
		}
	}
	var late []time.Duration
	for len(late) < n {
		for _, l := range w.receive(q, 1) {
			now := time.Now()
			if now.Before(deadlines[l.Origin()]) {
				t.Errorf("%v came %v early", l.Origin(), deadlines[l.Origin()].Sub(now))
			}
			late = append(late, now.Sub(deadlines[l.Origin()]))
			w.ack(q, l)
		}
	}
	slices.Sort(late)
	t.Logf("delivered late by: p50 %v, p99 %v, max %v", late[n/2], late[n*99/100], late[n-1])
	counted := func() (sum int64) {
		for _, c := range q.Counts().Lateness.Counts {
			sum += c
		}
		return sum
	}
	w.until("the lateness of all is counted", func() bool { return counted() >= int64(n) })
	if h := q.Counts().Lateness; counted() != int64(n) || h.Sum <= 0 || h.Sum/time.Duration(n) > late[n-1]+time.Second {
		t.Errorf("lateness of %d records, %v together", counted(), h.Sum)
	}
}

// A record that ended, or was locked again, since it was due is not copied.
func TestWhatEndedMeanwhileIsNotCopied(t *testing.T) {
	l := newPart(&Tracker{cfg: engine.Config{Topic: "queue", RetryTopic: "retry"}}, 0, 0).lanes[0]
	offset := int64(0)
	apply := func(ms int64, m marker.Marker) {
		l.state.Apply(offset, time.UnixMilli(ms), tracker.Seen{}, m)
		offset++
	}
	apply(0, marker.Marker{Type: marker.Start, Offset: 0, Count: 5, Duration: time.Second})
	apply(2000, marker.Marker{Type: marker.Tick, Offset: -1})
	l.state.Due(10)
	apply(2001, marker.Marker{Type: marker.End, Offset: 1, Count: 1})
	apply(2002, marker.Marker{Type: marker.Start, Offset: 3, Count: 1, Duration: time.Second})
	var found []redelivery
	for offset := range int64(5) {
		found = append(found, redelivery{Due: tracker.Due{Offset: offset}, copied: &kgo.Record{Topic: "queue", Offset: offset}})
	}
	var ended []int64
	for _, r := range l.current(found) {
		if r.copied == nil || r.copied.Topic != "retry" || r.why != marker.Copied {
			t.Errorf("copy of %d: %+v", r.Offset, r.copied)
		}
		ended = append(ended, r.Offset)
	}
	if !slices.Equal(ended, []int64{0, 2, 4}) {
		t.Errorf("ends of %v", ended)
	}
}

// A record stands only for its own leader epoch: another one at its offset is not it.
func TestARecordOfAnotherEpochIsMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 3)
		q := w.open()
		epoch := w.read(w.cfg.Topic, 0)[0].LeaderEpoch
		found, rest, err := newPart(q.tracker, 0, 0).lanes[0].read(w.ctx, []tracker.Due{
			{Offset: 0, Epoch: epoch}, {Offset: 1, Epoch: epoch + 1}, {Offset: 2, Epoch: -1},
		})
		if err != nil || len(rest) > 0 || len(found) != 3 {
			t.Fatalf("%d found, %d left, %v", len(found), len(rest), err)
		}
		for i, r := range found {
			if isMissing := r.copied == nil; isMissing != (i == 1) || r.Offset != int64(i) {
				t.Errorf("record %d: missing %t", i, isMissing)
			}
		}
	})
}

// A record that nobody was handed this time is no dead letter, however often it was delivered before.
func TestNothingUnseenIsADeadLetter(t *testing.T) {
	l := newPart(&Tracker{
		cfg:    engine.Config{Topic: "t", RetryTopic: "retry", DeadLetterTopic: "dead", MaxDeliveries: 3},
		topics: engine.Topics{RetryPartitions: 1, DeadLetterPartitions: 1},
	}, 0, 0).lanes[1]
	for _, c := range []struct {
		before      int
		undelivered bool
		to          string
		deliveries  int
	}{{5, true, "retry", 5}, {5, false, "dead", 6}, {2, true, "retry", 2}, {2, false, "dead", 3}, {1, false, "retry", 2}} {
		r := redelivery{
			Due:    tracker.Due{Undelivered: c.undelivered},
			copied: lease.FromRecord(&kgo.Record{Topic: "t", Offset: 1}).RetryCopy(c.before, time.Time{}, "g", "retry", 1),
		}
		l.next(&r)
		if n := header(r.copied, lease.HeaderDeliveries); r.copied.Topic != c.to || n != strconv.Itoa(c.deliveries) || header(r.copied, lease.HeaderOrigin) != "0@1" {
			t.Errorf("delivered %d times before, and not now: %t: it goes to %s with %s deliveries", c.before, c.undelivered, r.copied.Topic, n)
		}
	}
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// Partitions that cannot be written hold up no others, even if they are more than are redelivered at a
// time.
func TestPartitionsInTroubleHoldUpNoOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { inTrouble(t, redeliveringAtMost+4, redeliveringAtMost) })
}

func inTrouble(t *testing.T, bad int32, atOnce int) {
	const good = 4
	w := newWorld(t, bad+good, visible(time.Second))
	q := w.open()
	drop := func(from, to int32) {
		for p := from; p < to; p++ {
			w.produce(p, 1)
		}
		w.receive(q, int(to-from))
	}
	drop(0, bad)
	trouble, tried := make([]kfake.Fault, bad), make([]atomic.Bool, bad)
	for p := range trouble {
		trouble[p] = kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: w.cfg.RetryTopic, Partitions: []int32{int32(p)}, Err: kerr.NotEnoughReplicas, Count: -1,
			When: func(kmsg.Request) bool { tried[p].Store(true); return true },
		}
	}
	mend := w.fake.Fault(trouble...)
	w.until("as many are tried as can be at a time", func() bool {
		n := 0
		for p := range tried {
			if tried[p].Load() {
				n++
			}
		}
		return n >= atOnce
	})

	drop(bad, bad+good)
	for _, l := range w.receive(q, good) {
		if l.Origin().Partition < bad || l.Attempt != 2 {
			t.Errorf("attempt %d at %v, which can't be written", l.Attempt, l.At)
		}
		w.ack(q, l)
	}
	mend.Remove()
	for _, l := range w.receive(q, int(bad)) {
		if l.Origin().Partition >= bad || l.Attempt != 2 {
			t.Errorf("attempt %d at %v, afterwards", l.Attempt, l.At)
		}
		w.ack(q, l)
	}
}
