package arrival

import (
	"math"
	"slices"
	"testing"
	"time"
)

// A Kolmogorov–Smirnov test of the times between records.
func TestPoissonGapsAreExponential(t *testing.T) {
	const records, rate = 100_000, 10_000
	p := must(t)(Poisson(perSecond(rate), 42))
	for _, workers := range []int{1, 8} {
		var due []int64
		for w := range workers {
			due = append(due, dues(p.Stripe(w, workers), records+1)...)
		}
		slices.Sort(due)
		gaps := make([]float64, records)
		for i := range gaps {
			gaps[i] = float64(due[i+1]-due[i]) / 1e9 * rate
		}
		slices.Sort(gaps)
		worst := 0.0
		for i, x := range gaps {
			worst = max(worst, math.Abs(1-math.Exp(-x)-float64(i)/records))
		}
		if limit := 1.63 / math.Sqrt(records); worst > limit { // 1 % level
			t.Errorf("%d workers: the distribution is off by %v, above %v", workers, worst, limit)
		}
	}
}

// At a mean gap of 10 ns, losing fractions would make the rate 5 % too high.
func TestPoissonKeepsFractions(t *testing.T) {
	const records, gapNs = 1_000_000, 10
	s := must(t)(Poisson(perSecond(1e9/gapNs), 3)).Stripe(0, 1)
	for range records - 1 {
		s.Advance()
	}
	if off := float64(s.Due()) - records*gapNs; math.Abs(off) > 4*gapNs*math.Sqrt(records) {
		t.Errorf("record %d is %v ns off the expected time", records, off)
	}
}

// The variance of the counts of equal windows equals their mean.
func TestPoissonCounts(t *testing.T) {
	const windows, mean = 10_000, 100
	p := must(t)(Poisson(perSecond(1000), 7))
	s := p.Stripe(0, 1)
	var sum, squares float64
	for w := range int64(windows) {
		n := float64(countBefore(s, (w+1)*mean*1e6))
		sum += n
		squares += n * n
	}
	gotMean := sum / windows
	if math.Abs(gotMean-mean) > 0.4 {
		t.Errorf("%v records in a window, want %v", gotMean, mean)
	}
	if dispersion := (squares/windows - gotMean*gotMean) / gotMean; math.Abs(dispersion-1) > 0.06 {
		t.Errorf("the variance is %v of the mean", dispersion)
	}
	if got := p.Expected(3 * time.Second); got != 3000 {
		t.Errorf("expects %v records in 3 s", got)
	}
	if p.Expected(-time.Second) != 0 {
		t.Error("expects records before zero")
	}
}

func TestPoissonIsReproducible(t *testing.T) {
	p, q := must(t)(Poisson(perSecond(1000), 1)), must(t)(Poisson(perSecond(1000), 2))
	a := dues(p.Stripe(1, 4), 100)
	if !slices.Equal(a, dues(p.Stripe(1, 4), 100)) {
		t.Error("the same seed and worker give other arrivals")
	}
	if slices.Equal(a, dues(p.Stripe(2, 4), 100)) || slices.Equal(a, dues(q.Stripe(1, 4), 100)) {
		t.Error("another worker or seed gives the same arrivals")
	}
	if !slices.IsSorted(a) {
		t.Error("due times decrease")
	}
}

func TestPoissonWarmup(t *testing.T) {
	p := must(t)(Poisson(perSecond(1000), 1))
	want := dues(p.Stripe(3, 4), 100)
	for _, d := range []time.Duration{time.Nanosecond, time.Second, 20 * time.Second} {
		s := WithWarmup(d, p).Stripe(3, 4)
		n := countBefore(s, 0)
		if s.Index() != 3+4*n {
			t.Errorf("after %d records of warm-up the index is %d", n, s.Index())
		}
		if expected := d.Seconds() * 250; math.Abs(float64(n)-expected) > 4*math.Sqrt(expected)+1 {
			t.Errorf("%d records in %v of warm-up, want about %v", n, d, expected)
		}
		if got := dues(s, 100); !slices.Equal(got, want) {
			t.Errorf("a warm-up of %v changes what comes after it", d)
		}
	}
}
