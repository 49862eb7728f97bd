package member

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// The ready list against a slice.
func TestReadyModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const bound = 10
		r := newReady(bound)
		var want []*lease.Lease
		next := int64(0)
		some := func(t *rapid.T) []*lease.Lease {
			records := make([]*kgo.Record, rapid.IntRange(0, 6).Draw(t, "n"))
			for i := range records {
				records[i] = &kgo.Record{Offset: next}
				next++
			}
			return lease.FromRecords(records)
		}
		live := func() []*lease.Lease { return slices.DeleteFunc(slices.Clone(want), ended) }
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				ls := some(t)
				r.append(ls)
				want = append(want, ls...)
			},
			"push": func(t *rapid.T) {
				ls := some(t)
				r.push(ls)
				want = append(slices.Clone(ls), want...)
			},
			"end": func(t *rapid.T) {
				if len(want) > 0 {
					_ = rapid.SampledFrom(want).Draw(t, "lease").Settle(lease.Expired)
				}
			},
			"take": func(t *rapid.T) {
				n := rapid.IntRange(1, 8).Draw(t, "n")
				select {
				case <-r.some: // as one who was woken
				default:
				}
				var got []*lease.Lease
				for len(got) < n {
					more := r.take(n - len(got))
					if more == nil {
						break
					}
					got = append(got, slices.DeleteFunc(more, ended)...)
				}
				want = live()
				n = min(n, len(want))
				if !slices.Equal(got, want[:n]) {
					t.Fatalf("took %d leases, not the first %d", len(got), n)
				}
				want = want[n:]
			},
			"": func(t *rapid.T) {
				if held := len(r.items) - r.head; held < len(live()) {
					t.Fatalf("%d are held, of %d that are open", held, len(live()))
				}
				if len(live()) > 0 && len(r.some) == 0 {
					t.Fatal("there is something to take, and nobody is told")
				}
			},
		})
	})
}

// What ended while it waited does not pile up.
func TestReadyIsBounded(t *testing.T) {
	const bound = 100
	r := newReady(bound)
	for range 1000 {
		ls := lease.FromRecords(make10())
		r.append(ls)
		for _, l := range ls {
			_ = l.Settle(lease.Expired)
		}
		if held := len(r.items); held > bound+10 {
			t.Fatalf("%d leases are held, of which none is open", held)
		}
	}
}

func make10() []*kgo.Record {
	out := make([]*kgo.Record, 10)
	for i := range out {
		out[i] = new(kgo.Record)
	}
	return out
}

func BenchmarkReady(b *testing.B) {
	r := newReady(1000)
	leases := lease.FromRecords(slices.Repeat(make10(), 50))
	b.ReportAllocs()
	for done := 0; done < b.N; done += len(leases) {
		r.append(leases)
		for len(r.take(10)) > 0 {
		}
	}
}

// The one who waits until few are ready is woken however they become few.
func TestReadyIsLow(t *testing.T) {
	some := func(n int) []*lease.Lease { return lease.FromRecords(slices.Repeat([]*kgo.Record{{}}, n)) }
	for name, c := range map[string]struct {
		bound, ready, asked int
		fall                func(*ready)
		enough              int
	}{
		"none are ready":     {10_000, 0, 0, nil, 2 * leastAhead},
		"few are ready":      {10_000, leastAhead, 0, nil, 2 * leastAhead},
		"much is asked for":  {10_000, 4000, 2000, nil, 8000},
		"more than is bound": {600, 600, 100_000, nil, 2400},
		"some are taken":     {10_000, 2000, 0, func(r *ready) { r.take(500); r.take(500); r.take(488) }, 2 * 1000},
		"all are taken":      {10_000, 2000, 0, func(r *ready) { r.take(1999); r.take(1) }, 4 * 1999},
		"all have ended": {2000, 2000, 0, func(r *ready) {
			for _, l := range r.items {
				_ = l.Settle(lease.Lost)
			}
			r.append(some(1))
		}, 2 * leastAhead},
		"it ends": {10_000, 2000, 0, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newReady(c.bound)
				if c.asked > 0 {
					r.take(c.asked)
				}
				r.append(some(c.ready))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				enough := make(chan int, 1)
				go func() { enough <- r.waitLow(ctx) }()
				synctest.Wait()
				if c.fall != nil || c.enough == 0 {
					if len(enough) > 0 {
						t.Fatal("it does not wait")
					}
				}
				switch {
				case c.fall != nil:
					c.fall(r)
				case c.enough == 0:
					cancel()
				}
				synctest.Wait()
				if len(enough) == 0 {
					t.Fatal("it waits")
				}
				if n := <-enough; c.enough > 0 && n != c.enough {
					t.Errorf("%d others are enough, not %d", n, c.enough)
				}
			})
		})
	}
}

// Many records may be due at once, each pushed by itself, and others may be fetched meanwhile.
func TestPushesRarelyCopy(t *testing.T) {
	const n = 10_000
	r, copies := newReady(3*n), 0
	one := lease.FromRecords([]*kgo.Record{{}})
	for range n {
		for _, add := range []func([]*lease.Lease){r.push, r.append} {
			before := r.items[:cap(r.items)]
			if add(one); len(before) == 0 || &before[0] != &r.items[:1][0] {
				copies++
			}
		}
	}
	if len(r.items)-r.head != 2*n || copies > 50 {
		t.Errorf("%d leases were copied %d times", len(r.items)-r.head, copies)
	}
}
