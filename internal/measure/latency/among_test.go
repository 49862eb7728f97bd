package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

const ms = int64(1_000_000)

func edge(ns int64) int64 {
	lowest, _ := slotValues(slotOf(ns))
	return lowest
}

func TestAmong(t *testing.T) {
	drained := NewHistogram() // of 1,000 values, a drain of 100 ms leaves 210: 1, 2, … 210 ms
	for i := range int64(210) {
		drained.Record((i + 1) * ms)
	}
	acked, refused := NewHistogram(), NewHistogram()
	acked.RecordN(10*ms, 9_000)
	refused.RecordN(ms/10, 1_000)
	exact := func(ns int64) int64 { return highest(slotOf(ns)) }
	for _, c := range []struct {
		name    string
		h, open *Histogram
		rest    int64
		floor   int64
		p       float64
		want    int64
		atLeast bool
	}{
		{"records without a delivery", drained, nil, 790, 100 * ms, 10, exact(100 * ms), false},
		{"records without a delivery", drained, nil, 790, 100 * ms, 21, exact(210 * ms), false},
		{"records without a delivery", drained, nil, 790, 100 * ms, 50, edge(100 * ms), true},
		{"records without a delivery", drained, nil, 790, 100 * ms, 99, edge(200 * ms), true},
		{"records without a delivery", drained, nil, 790, 100 * ms, 100, edge(210 * ms), true},
		{"records of which nothing is proven", drained, nil, 790, 0, 50, 0, true},
		{"records of which nothing is proven", drained, nil, 790, 0, 99, edge(200 * ms), true},
		{"refused sends", acked, refused, 0, 0, 5, exact(10 * ms), false},
		{"refused sends", acked, refused, 0, 0, 90, exact(10 * ms), false},
		{"refused sends", acked, refused, 0, 0, 95, edge(10 * ms), true},
		{"nothing but refused sends", NewHistogram(), refused, 0, 0, 50, edge(ms / 10), true},
		{"nothing but missing records", NewHistogram(), nil, 5, ms, 50, edge(ms), true},
		{"nothing", NewHistogram(), nil, 0, ms, 50, 0, false},
	} {
		if got, atLeast := c.h.Among(c.p, c.open, c.rest, c.floor); got != c.want || atLeast != c.atLeast {
			t.Errorf("%s: p%v is %d (at least: %t), want %d (%t)", c.name, c.p, got, atLeast, c.want, c.atLeast)
		}
	}
}

// A percentile is never below the true one, and a bound never above it.
func TestAmongIsNeverTooLow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const window = 1000
		n := rapid.IntRange(1, 60).Draw(t, "records")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		due, took := make([]int64, n), make([]int64, n)
		for i := range took {
			due[i] = random.Int64N(window)
			took[i] = int64(math.Exp(8 * random.Float64()))
		}
		shorter := rapid.Int64Range(0, 2000).Draw(t, "shorter drain")
		longer := shorter + rapid.Int64Range(0, 2000).Draw(t, "more")
		after := func(drain int64) (ended *Histogram) {
			ended = NewHistogram()
			for i := range took {
				if due[i]+took[i] <= window+drain {
					ended.Record(took[i])
				}
			}
			return ended
		}
		truth := slices.Sorted(slices.Values(took))
		for _, p := range []float64{10, 50, 90, 99, 100} {
			want := truth[max(int(math.Ceil(p*float64(n)/100)), 1)-1]
			short, long := after(shorter), after(longer)
			a, aBound := short.Among(p, nil, int64(n)-short.Count(), shorter)
			b, bBound := long.Among(p, nil, int64(n)-long.Count(), longer)
			for _, got := range []struct {
				ns, floor int64
				bound     bool
			}{{a, shorter, aBound}, {b, longer, bBound}} {
				switch {
				case got.bound && got.ns > want:
					t.Errorf("p%v of %v is at least %d, and is %d", p, took, got.ns, want)
				case !got.bound && got.ns < want:
					t.Errorf("p%v of %v is %d, and not %d", p, took, want, got.ns)
				case !got.bound && got.ns <= got.floor && got.ns != highest(slotOf(want)):
					t.Errorf("p%v of %v is %d and not %d, though all that had not ended took %d at least", p, took, want, got.ns, got.floor)
				}
			}
			if bBound && !aBound || !aBound && !bBound && a < b {
				t.Errorf("p%v is %d (bound: %t) after a drain of %d, and %d (%t) after one of %d", p, a, aBound, shorter, b, bBound, longer)
			}
		}
	})
}

func TestTotalsAmong(t *testing.T) {
	var c Collector
	r := NewRecorder(SendServiceTime, UnackedServiceTime, E2EServiceTime)
	c.Add(r)
	r.RecordN(true, SendServiceTime, 10*ms, 90)
	r.RecordN(true, UnackedServiceTime, ms, 8)
	r.RecordN(false, SendServiceTime, ms, 50)
	c.Collect()
	got := c.TotalsAmong(SendServiceTime, Population{Records: 100, Open: UnackedServiceTime})
	if got.Count != 90 || got.NotEnded != 10 || got.MeanNs == 0 || got.P90Ns != highest(slotOf(10*ms)) || got.P95Ns != edge(10*ms) {
		t.Errorf("got %+v", got)
	}
	if want := []string{"p95_ns", "p99_ns", "p99_5_ns", "p99_9_ns", "p99_99_ns", "max_ns"}; !slices.Equal(got.AtLeast, want) {
		t.Errorf("%v are bounds, want %v", got.AtLeast, want)
	}
	none := c.TotalsAmong(E2EServiceTime, Population{Records: 100, Open: NumMetrics, FloorNs: 5 * ms})
	if none.Count != 0 || none.NotEnded != 100 || none.P50Ns != edge(5*ms) || len(none.AtLeast) != len(ranks) {
		t.Errorf("of records of which none arrived it is %+v", none)
	}
	if all := c.TotalsAmong(SendServiceTime, Population{Records: 90, Open: NumMetrics}); all.NotEnded != 0 || all.AtLeast != nil {
		t.Errorf("where all have ended it is %+v", all)
	}
}
