package member

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"pgregory.net/rapid"

	"kafka-bench/kmq/internal/lease"
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
