package latency

import (
	"math"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

func inRange() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		bits := rapid.IntRange(0, 41).Draw(t, "bits")
		return min(rapid.Int64Range(0, 1<<bits).Draw(t, "ns"), HighestNs)
	})
}

func anywhere() *rapid.Generator[int64] {
	return rapid.OneOf(inRange(), rapid.Int64(), rapid.Int64Range(-10, 10), rapid.Int64Range(HighestNs-10, HighestNs+10))
}

func histogramOf(values ...int64) *Histogram {
	h := NewHistogram()
	for _, ns := range values {
		h.Record(ns)
	}
	return h
}

func TestLayoutIsHdrHistograms(t *testing.T) {
	oracle := hdrhistogram.New(1, HighestNs, 3)
	if got := len(oracle.Export().Counts); got != slots {
		t.Fatalf("%d slots, HdrHistogram has %d", slots, got)
	}
	for slot := range slotOf(HighestNs) + 1 {
		lowest, width := slotValues(slot)
		for _, ns := range []int64{lowest, lowest + width - 1} {
			if got := slotOf(ns); got != slot {
				t.Fatalf("slotOf(%d) = %d, want %d", ns, got, slot)
			}
		}
		if oracle.ValuesAreEquivalent(lowest-1, lowest) && slot > 0 || !oracle.ValuesAreEquivalent(lowest, lowest+width-1) {
			t.Fatalf("slot %d, [%d, %d), is not a slot of HdrHistogram", slot, lowest, lowest+width)
		}
		if width*1000 > lowest && width > 1 {
			t.Fatalf("slot %d: width %d is more than a thousandth of %d", slot, width, lowest)
		}
	}
}

func TestFiguresAreHdrHistograms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(inRange(), 1, 200).Draw(t, "values")
		h, oracle := histogramOf(values...), hdrhistogram.New(1, HighestNs, 3)
		for _, ns := range values {
			if err := oracle.RecordValue(ns); err != nil {
				t.Fatal(err)
			}
		}
		got := h.Distribution()
		if got.Count != oracle.TotalCount() || got.MaxNs != oracle.Max() {
			t.Errorf("count %d, max %d; HdrHistogram: %d, %d", got.Count, got.MaxNs, oracle.TotalCount(), oracle.Max())
		}
		if mean := oracle.Mean(); math.Abs(got.MeanNs-mean) > 1e-9*mean {
			t.Errorf("mean %v; HdrHistogram: %v", got.MeanNs, mean)
		}
		// HdrHistogram's deviation is exact only relative to the mean, so the tolerance includes
		// the mean.
		if stddev := oracle.StdDev(); math.Abs(got.StddevNs-stddev) > 1e-9*(stddev+got.MeanNs) {
			t.Errorf("stddev %v; HdrHistogram: %v", got.StddevNs, stddev)
		}
	})
}

// A percentile is the upper end of the slot at the smallest rank that covers it.
func TestPercentileIsNearestRank(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(inRange(), 1, 2000).Draw(t, "values")
		perTenThousand := rapid.IntRange(1, 10_000).Draw(t, "percentile × 100")
		h := histogramOf(values...)
		slices.Sort(values)
		rank := (len(values)*perTenThousand + 9_999) / 10_000
		exact := values[rank-1]
		want := highest(slotOf(exact))
		if got := h.Percentile(float64(perTenThousand) / 100); got != want {
			t.Errorf("p%v of %d values = %d, want %d, the slot of %d", float64(perTenThousand)/100, len(values), got, want, exact)
		}
	})
}

func TestPercentilesAreThoseAskedOneByOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := histogramOf(rapid.SliceOfN(anywhere(), 0, 500).Draw(t, "values")...)
		percentile := rapid.OneOf(rapid.Float64Range(0, 100), rapid.SampledFrom([]float64{0, 50, 99.9, 100}))
		ascending := rapid.SliceOf(percentile).Draw(t, "percentiles")
		slices.Sort(ascending)
		got := h.Percentiles(ascending)
		for i, p := range ascending {
			if want := h.Percentile(p); got[i] != want {
				t.Fatalf("p%v of %d values is %d, and asked alone %d", p, h.Count(), got[i], want)
			}
		}
	})
}

// The deviation is that of the slots' middles.
func TestDeviationIsTheMedianDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(anywhere(), 1, 500).Draw(t, "values")
		got := histogramOf(values...).Distribution().MADNs
		for i, v := range values {
			values[i] = middle(slotOf(clamp(v)))
		}
		slices.Sort(values)
		half := (len(values) + 1) / 2
		median := values[half-1]
		for i, v := range values {
			values[i] = max(v-median, median-v)
		}
		slices.Sort(values)
		if want := values[half-1]; got != want {
			t.Errorf("of %d values %d, want %d", len(values), got, want)
		}
	})
}

func TestPercentileExamples(t *testing.T) {
	thousand := NewHistogram()
	for ns := range int64(1000) {
		thousand.Record(ns + 1)
	}
	for _, test := range []struct {
		p    float64
		want int64
	}{{0.1, 1}, {50, 500}, {99, 990}, {99.9, 999}, {99.99, 1000}, {100, 1000}, {150, 1000}} {
		if got := thousand.Percentile(test.p); got != test.want {
			t.Errorf("p%v of 1..1000 = %d, want %d", test.p, got, test.want)
		}
	}
	// 0.07 as a float64 is slightly above 0.07.
	tenThousand := NewHistogram()
	for ns := range int64(10_000) {
		tenThousand.Record(ns + 1)
	}
	if got := tenThousand.Percentile(0.07); got != 7 {
		t.Errorf("p0.07 of 1..10000 = %d, want 7", got)
	}
	if got := NewHistogram().Percentile(50); got != 0 {
		t.Errorf("p50 of nothing = %d, want 0", got)
	}
}

func TestClampedValuesAreCounted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(anywhere(), 1, 100).Draw(t, "values")
		got := histogramOf(values...).Distribution()
		want := Distribution{Count: int64(len(values)), MinNs: slices.Min(values)}
		for _, ns := range values {
			switch {
			case ns < 0:
				want.Negative++
			case ns > HighestNs:
				want.OutOfRange++
			}
		}
		if got.Count != want.Count || got.MinNs != want.MinNs || got.Negative != want.Negative || got.OutOfRange != want.OutOfRange {
			t.Errorf("got %+v, want %+v", got, want)
		}
		if want.OutOfRange > 0 && got.MaxNs != highest(slotOf(HighestNs)) {
			t.Errorf("max %d, want the hour's slot", got.MaxNs)
		}
	})
}

func TestMergeIsRecordingBoth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOf(anywhere()).Draw(t, "a")
		b := rapid.SliceOf(anywhere()).Draw(t, "b")
		merged := histogramOf(a...)
		merged.Merge(histogramOf(b...))
		if *merged != *histogramOf(append(a, b...)...) {
			t.Error("merging two histograms is not recording the values of both")
		}
	})
}

func TestResetLeavesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := histogramOf(rapid.SliceOf(anywhere()).Draw(t, "values")...)
		h.Reset()
		if *h != *NewHistogram() {
			t.Error("a histogram that was reset differs from a new one")
		}
	})
}

func TestRecordNIsRecordingNTimes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ns := anywhere().Draw(t, "ns")
		n := rapid.Int64Range(-3, 20).Draw(t, "n")
		once, many := NewHistogram(), NewHistogram()
		once.RecordN(ns, n)
		for range n {
			many.Record(ns)
		}
		if *once != *many {
			t.Errorf("RecordN(%d, %d) is not Record %d times", ns, n, n)
		}
	})
}
