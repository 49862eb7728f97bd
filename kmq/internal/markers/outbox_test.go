package markers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// What was settled in whatever order is written as one marker for each run of neighbours
// with the same fate.
func TestEndsAreBatched(t *testing.T) {
	o := &outbox{pending: map[fact]*offsets{}, scribe: scribe{topic: "markers", group: 5}, holder: 7, wake: make(chan struct{}, 1), kick: make(chan struct{}, 1)}
	end := fact{partition: 3, kind: marker.End, reason: marker.Acked}
	release := fact{partition: 3, kind: marker.Release, delay: time.Second}
	for i := range int64(500) {
		offset := (i * 7) % 500
		if offset == 100 {
			o.put(release, offset)
			continue
		}
		o.put(end, offset)
	}
	b := o.take()
	var got []marker.Marker
	for _, r := range b.markers {
		m, err := marker.Parse(r.Key, r.Value)
		if err != nil || r.Partition != 3 || r.Topic != "markers" {
			t.Fatalf("%+v: %v", r, err)
		}
		got = append(got, m)
	}
	slices.SortFunc(got, func(a, b marker.Marker) int { return int(a.Offset - b.Offset) })
	want := []marker.Marker{
		{Partition: 3, Offset: 0, Count: 100, Type: marker.End, Group: 5},
		{Partition: 3, Offset: 100, Count: 1, Type: marker.Release, Duration: time.Second, Holder: 7, Group: 5},
		{Partition: 3, Offset: 101, Count: 399, Type: marker.End, Group: 5},
	}
	if !slices.Equal(got, want) || b.records != 500 || o.records != 0 || o.ranges != 0 {
		t.Errorf("got %+v", got)
	}
}

// What the client gave up is written all the same.
func TestEndsThatFailAreWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 10)
		q := w.open()
		ls := w.receive(q, 10)
		failed := 0
		w.onProduce(w.cfg.MarkersTopic, func(p *kmsg.ProduceRequest) *kmsg.ProduceResponse {
			if failed == 3 || len(p.Topics) != 1 {
				return nil
			}
			failed++
			return refusal(p, kerr.PolicyViolation) // not one that the client tries again
		})
		w.ack(q, ls...)
		w.flush(q)
		if ended := w.ended(0); ended != 10 || failed != 3 {
			t.Errorf("%d ended after %d failures", ended, failed)
		}
		if held := q.out.held.Load(); held != 0 {
			t.Errorf("%d records are held as not written", held)
		}
	})
}

// The bound of what is not written holds up settling, and ctx ends the wait.
func TestOutboxIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		w.produce(0, 1)
		q := w.open()
		l := w.receive(q, 1)[0]
		q.out.held.Add(unwrittenBound)
		ctx, cancel := context.WithTimeout(w.ctx, 50*time.Millisecond)
		defer cancel()
		if err := q.Ack(ctx, l); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("ack at the bound: %v", err)
		}
		q.out.held.Add(-unwrittenBound)
		w.ack(q, l) // it was not settled
	})
}
