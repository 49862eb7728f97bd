package offsetmap

import (
	"strings"
	"testing"
)

// A partition pauses before its map could be too long, and continues in offset order. Invariant 7.
func TestHeldBack(t *testing.T) {
	cfg := testConfig()
	const limit = 20
	w := filled(cfg, limit, 500)
	defer w.halt()
	if !w.paused[0] || w.set.Len() != cfg.MaxInFlight || w.set.Room() != 0 {
		t.Fatalf("paused %v with %d in flight", w.paused, w.set.Len())
	}
	taken := w.partitions[0].window.Open()
	if taken < 10 || taken == cfg.MaxInFlight || len(w.ready) != taken {
		t.Fatalf("%d taken, %d ready", taken, len(w.ready))
	}
	leases := w.receive(cfg.MaxInFlight)
	for i := 1; i < len(leases); i += 2 {
		must(t, w.Ack(ctx, leases[i]))
		w.commitAll() // panics beyond the limit
	}
	if w.committed[0].Metadata == "" {
		t.Fatal("the map was dropped")
	}
	for i := 0; i < len(leases); i += 2 {
		must(t, w.Ack(ctx, leases[i]))
	}
	next := int64(len(leases))
	for next < 500 {
		if len(w.ready) == 0 && w.poll() == 0 && len(w.ready) == 0 {
			t.Fatalf("stuck at %d: paused %v, %d held, %d open", next, w.paused, len(w.partitions[0].held), w.partitions[0].window.Open())
		}
		for _, l := range w.receive(3) {
			if l.At.Offset != next {
				t.Fatalf("offset %d came after %d", l.At.Offset, next-1)
			}
			next++
			must(t, w.Ack(ctx, l))
		}
	}
	w.commitAll()
	if !settled(w.committed[0], 500) || len(w.paused) != 0 || w.set.Len() != 0 {
		t.Fatalf("committed %v, paused %v, %d in flight", w.committed[0], w.paused, w.set.Len())
	}
}

// With one record that is never done, neither the map nor the memory grows. Invariant 7.
func TestStuck(t *testing.T) {
	const limit = 40
	w := newWorld(testConfig(), limit)
	defer w.halt()
	w.assign(0)
	w.produce(0, 1)
	w.poll()
	stuck := w.receive(1)
	for range 1000 {
		w.produce(0, 3)
		w.poll()
		for _, l := range w.receive(3) {
			must(t, w.Ack(ctx, l))
		}
		w.commitAll()
	}
	if p := w.partitions[0]; len(p.runs) > 3 || cap(p.runs) > 64 || w.set.Len() != 1 || p.window.Next() != 3001 {
		t.Fatalf("%d runs with room for %d, %d in flight, next is %d", len(p.runs), cap(p.runs), w.set.Len(), p.window.Next())
	}
	must(t, w.Ack(ctx, stuck[0]))
	w.commitAll()
	if !settled(w.committed[0], 3001) {
		t.Fatalf("committed %v", w.committed[0])
	}
}

func TestLimitLowered(t *testing.T) {
	cfg := testConfig()
	w := filled(cfg, 4096, 100)
	defer w.halt()
	for i, l := range w.receive(100) {
		if i%3 == 0 {
			must(t, w.Ack(ctx, l))
		}
	}
	w.commitAll()
	was := w.committed[0]
	w.halt()
	w.lowered = true
	w.open(w.cfg, len(was.Metadata)/2)
	w.assign(0)
	w.poll()
	w.commitAll()
	if w.committed[0] != was || !strings.Contains(w.log.String(), limitKey) {
		t.Fatalf("committed %v, was %v; logged %q", w.committed[0], was, w.log.String())
	}
	got := 0
	for range 200 {
		for _, l := range w.receive(10) {
			must(t, w.Ack(ctx, l))
			got++
		}
		w.commitAll()
		w.poll()
	}
	if got != 66 || !settled(w.committed[0], 100) || w.set.Len() != 0 {
		t.Fatalf("%d records delivered, committed %v, %d in flight", got, w.committed[0], w.set.Len())
	}
}
