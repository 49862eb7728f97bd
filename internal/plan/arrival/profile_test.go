package arrival

import (
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

func perSecond(records int64) unit.Rate { return unit.Rate{Records: records, Per: time.Second} }

func must(t testing.TB) func(Process, error) Process {
	return func(p Process, err error) Process {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func dues(s Stream, n int) []int64 {
	var list []int64
	for range n {
		list = append(list, s.Due())
		s.Advance()
	}
	return list
}

func countBefore(s Stream, ns int64) (n int64) {
	for ; s.Due() < ns; s.Advance() {
		n++
	}
	return n
}

// After 10⁹ records the arithmetic is still exact.
func TestConstantDoesNotDrift(t *testing.T) {
	for _, rate := range []int64{10_000, 9_999, 333_333, 1_000_000, 7} {
		s := must(t)(Constant(perSecond(rate))).Stripe(17, MaxWorkers)
		for s.Index() < 1e9 {
			s.Advance()
		}
		want := new(big.Int).Mul(big.NewInt(s.Index()), big.NewInt(1e9))
		want.Div(want, big.NewInt(rate))
		if s.Due() != want.Int64() {
			t.Errorf("%d/s: record %d is due at %d, want %d", rate, s.Index(), s.Due(), want)
		}
	}
}

func TestRampToZeroEnds(t *testing.T) {
	s := must(t)(Ramp(perSecond(100), perSecond(0), 10*time.Second)).Stripe(0, 1)
	if n := countBefore(s, Never); n != 500 || s.Due() != Never {
		t.Errorf("%d records, then due at %d; want 500, then never", n, s.Due())
	}
	s.Advance()
	if s.Due() != Never {
		t.Error("a stream that has ended begins again")
	}
}

func TestErrors(t *testing.T) {
	one, never := perSecond(1), perSecond(0)
	fails := func(_ Process, err error) error { return err }
	for _, c := range []struct {
		err  error
		want string
	}{
		{fails(Constant(unit.MaxRate)), "closed loop"},
		{fails(Constant(unit.Rate{})), "not set"},
		{fails(Constant(never)), "no record would ever be due"},
		{fails(Constant(unit.Rate{Records: -5, Per: time.Second})), "negative"},
		{fails(Constant(perSecond(2e9))), "1000M/s"},
		{fails(Constant(unit.Rate{Records: 1, Per: 1 << 46})), "too precise to schedule"},
		{fails(Poisson(unit.MaxRate, 1)), "closed loop"},
		{fails(Poisson(never, 1)), "no record would ever be due"},
		{fails(Burst(one, one, 0, time.Second)), "above zero"},
		{fails(Burst(one, one, 2*time.Second, time.Second)), "longer than its period"},
		{fails(Burst(never, never, 1, 2)), "no record would ever be due"},
		{fails(Ramp(one, perSecond(2), 0)), "above zero"},
		{fails(Ramp(one, unit.Rate{Records: 1, Per: 30_000 * time.Second}, 100_000*time.Hour)), "over 100000h0m0s: too long"},
		{fails(Steps(nil)), "empty"},
		{fails(Steps([]Step{{one, 0}, {one, 0}})), "step 1"},
		{fails(Steps([]Step{{one, time.Second}, {never, -1}, {one, 0}})), "step 2"},
		{fails(Spike(one, one, -1, 1)), "at -1ns: cannot be negative"},
		{fails(Spike(one, one, 1, math.MaxInt64)), "longer than a schedule"},
		{fails(Spike(one, one, 0, 0)), "above zero"},
	} {
		if c.err == nil || !strings.Contains(c.err.Error(), c.want) {
			t.Errorf("error %v does not say %q", c.err, c.want)
		}
	}
}

func TestWorkerOutOfRangeHasNoArrivals(t *testing.T) {
	for _, p := range []Process{must(t)(Constant(perSecond(1))), must(t)(Poisson(perSecond(1), 1))} {
		for _, s := range []Stream{p.Stripe(-1, 2), p.Stripe(2, 2), p.Stripe(0, 0), p.Stripe(0, MaxWorkers+1)} {
			s.Advance()
			if s.Due() != Never || s.Clone().Due() != Never {
				t.Errorf("%T has arrivals", s)
			}
		}
	}
}

type model struct {
	pieces []modelPiece // the last has no end, or they repeat
	cyclic bool
}

type modelPiece struct {
	from, to *big.Rat // records per ns
	length   int64
}

func (m model) integral(ns int64) *big.Rat {
	total := new(big.Rat)
	if m.cyclic {
		length := m.pieces[0].length + m.pieces[1].length
		if ns > length {
			total.Mul(m.integral(length), new(big.Rat).SetInt64(ns/length))
			ns %= length
		}
	}
	for i := 0; ns > 0; i++ {
		p := m.pieces[i%len(m.pieces)]
		part := min(ns, p.length)
		if !m.cyclic && i == len(m.pieces)-1 {
			part = ns
		}
		t := new(big.Rat).SetInt64(part)
		// from t + (to - from) t²/2L
		slope := new(big.Rat).Sub(p.to, p.from)
		slope.Quo(slope, new(big.Rat).SetInt64(2*p.length))
		slope.Mul(slope, t).Add(slope, p.from).Mul(slope, t)
		total.Add(total, slope)
		ns -= part
	}
	return total
}

func rat(r unit.Rate) *big.Rat { return big.NewRat(r.Records, int64(r.Per)) }

func drawRate(t *rapid.T, name string, least int64) unit.Rate {
	records := rapid.Int64Range(least, 2000).Draw(t, name)
	per := rapid.SampledFrom([]time.Duration{time.Millisecond, 7 * time.Millisecond, time.Second, 3 * time.Second}).Draw(t, name+" per")
	return unit.Rate{Records: records, Per: per}
}

func drawLength(t *rapid.T, name string) time.Duration {
	return time.Duration(rapid.Int64Range(1, 5e8).Draw(t, name))
}

func drawProfile(t *rapid.T) (Process, model) {
	base, peak := drawRate(t, "base", 0), drawRate(t, "peak", 1)
	length, other := drawLength(t, "length"), drawLength(t, "other")
	b, k := rat(base), rat(peak)
	var p Process
	var err error
	var m model
	switch rapid.SampledFrom([]string{"constant", "burst", "ramp up", "ramp down", "steps", "spike"}).Draw(t, "process") {
	case "constant":
		p, err = Constant(peak)
		m.pieces = []modelPiece{{k, k, 1}}
	case "burst":
		p, err = Burst(base, peak, length, length+other)
		m = model{[]modelPiece{{b, b, int64(other)}, {k, k, int64(length)}}, true}
	case "ramp up":
		p, err = Ramp(base, peak, length)
		m.pieces = []modelPiece{{b, k, int64(length)}, {k, k, 1}}
	case "ramp down":
		p, err = Ramp(peak, base, length)
		m.pieces = []modelPiece{{k, b, int64(length)}, {b, b, 1}}
	case "steps":
		var steps []Step
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			r, l := drawRate(t, "step", 0), drawLength(t, "for")
			steps = append(steps, Step{r, l})
			m.pieces = append(m.pieces, modelPiece{rat(r), rat(r), int64(l)})
		}
		p, err = Steps(append(steps, Step{Rate: peak}))
		m.pieces = append(m.pieces, modelPiece{k, k, 1})
	case "spike":
		p, err = Spike(base, peak, other, length)
		m.pieces = []modelPiece{{b, b, int64(other)}, {k, k, int64(length)}, {b, b, 1}}
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, m
}

// Record i is due in the ns in which the integral of the rate passes i.
func TestDueIsTheInverseOfTheIntegral(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := drawProfile(t)
		workers := rapid.IntRange(1, 5).Draw(t, "workers")
		s := p.Stripe(rapid.IntRange(0, workers-1).Draw(t, "worker"), workers)
		for range 300 {
			due := s.Due()
			if due == Never {
				left := m.integral(1e12)
				if left.Cmp(new(big.Rat).SetInt64(s.Index())) > 0 {
					t.Fatalf("record %d never comes, but the integral reaches %s", s.Index(), left.FloatString(3))
				}
				return
			}
			i := new(big.Rat).SetInt64(s.Index())
			if m.integral(due).Cmp(i) > 0 || m.integral(due+1).Cmp(i) <= 0 {
				t.Fatalf("record %d is due at %d, where the integral is %s, and %s one ns later", s.Index(), due,
					m.integral(due).FloatString(9), m.integral(due+1).FloatString(9))
			}
			s.Advance()
		}
	})
}

func TestCountInAnyWindow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, m := drawProfile(t)
		from := rapid.Int64Range(0, 1e7).Draw(t, "from")
		to := from + rapid.Int64Range(0, 1e7).Draw(t, "length")
		s := p.Stripe(0, 1)
		countBefore(s, from)
		count := countBefore(s, to)
		want, _ := new(big.Rat).Sub(m.integral(to), m.integral(from)).Float64()
		if math.Abs(float64(count)-want) > 1 {
			t.Fatalf("%d records in [%d, %d), want %v within one", count, from, to, want)
		}
		expected := p.Expected(time.Duration(to))
		if want, _ := m.integral(to).Float64(); math.Abs(expected-want) > 1e-9*want+1e-9 {
			t.Fatalf("Expected(%d) is %v, want %v", to, expected, want)
		}
	})
}

func TestStripesAreTheWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawProfile(t)
		p = WithWarmup(time.Duration(rapid.Int64Range(0, 1e7).Draw(t, "warm-up")), p)
		workers := rapid.IntRange(1, 7).Draw(t, "workers")
		const rounds = 50
		whole := dues(p.Stripe(0, 1), rounds*workers)
		if !slices.IsSorted(whole) {
			t.Fatal("due times decrease")
		}
		for w := range workers {
			s := p.Stripe(w, workers)
			for k := range rounds {
				if want := w + k*workers; s.Index() != int64(want) || s.Due() != whole[want] {
					t.Fatalf("worker %d of %d: record %d is due at %d; want record %d at %d",
						w, workers, s.Index(), s.Due(), want, whole[want])
				}
				s.Advance()
			}
		}
	})
}

func TestWarmup(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawProfile(t)
		d := time.Duration(rapid.Int64Range(1, 1e7).Draw(t, "warm-up"))
		s := WithWarmup(d, p).Stripe(0, 1)
		count := countBefore(s, 0)
		want := new(big.Rat).Mul(rat(p.Initial()), new(big.Rat).SetInt64(int64(d)))
		if ceil := new(big.Rat).SetInt64(count); ceil.Cmp(want) < 0 || new(big.Rat).Sub(ceil, want).Cmp(big.NewRat(1, 1)) >= 0 {
			t.Fatalf("%d records of warm-up, want %s rounded up", count, want.FloatString(3))
		}
		if s.Index() != count {
			t.Fatalf("after %d records of warm-up the index is %d", count, s.Index())
		}
		if got, want := dues(s, 100), dues(p.Stripe(0, 1), 100); !slices.Equal(got, want) {
			t.Fatalf("after the warm-up due at %v, want %v", got, want)
		}
		if got, want := WithWarmup(d, p).Expected(time.Second), p.Expected(time.Second); got != want {
			t.Fatalf("the warm-up changes Expected to %v from %v", got, want)
		}
	})
}

func TestInitialSkipsEmptySpans(t *testing.T) {
	spike := must(t)(Spike(perSecond(4), perSecond(400), 0, time.Second))
	if got := spike.Initial(); got != perSecond(400) {
		t.Errorf("a spike at 0 begins at %v, want 400/s", got)
	}
	if n := countBefore(WithWarmup(time.Second, spike).Stripe(0, 1), 0); n != 400 {
		t.Errorf("%d records in a second of warm-up, want 400", n)
	}
}

func TestWarmupBeginsAtItsStart(t *testing.T) {
	p := WithWarmup(time.Second, must(t)(Ramp(perSecond(4), perSecond(400), time.Second)))
	got := dues(p.Stripe(0, 1), 5)
	if want := []int64{-1e9, -75e7, -5e8, -25e7, 0}; !slices.Equal(got, want) {
		t.Errorf("due at %v, want %v", got, want)
	}
}

func TestCloneIsIndependent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, _ := drawProfile(t)
		if rapid.Bool().Draw(t, "poisson") {
			p, _ = Poisson(perSecond(1000), 7)
		}
		s := WithWarmup(time.Millisecond, p).Stripe(1, 3)
		dues(s, rapid.IntRange(0, 20).Draw(t, "before"))
		clone := s.Clone()
		first := dues(clone, 20)
		if second := dues(s, 20); !slices.Equal(first, second) {
			t.Fatalf("the clone is due at %v, its origin at %v", first, second)
		}
	})
}

func TestLongRamp(t *testing.T) {
	const day = 24 * time.Hour
	for _, c := range [][2]int64{{0, 1_000_000}, {1_000_000, 0}, {999_999, 1_000_000}, {1, 2}, {9_973, 13}} {
		from, to := perSecond(c[0]), perSecond(c[1])
		m := model{pieces: []modelPiece{{rat(from), rat(to), int64(day)}, {rat(to), rat(to), 1}}}
		s := must(t)(Ramp(from, to, day)).Stripe(3, MaxWorkers)
		for n := 0; s.Due() < int64(day); n++ {
			i := new(big.Rat).SetInt64(s.Index())
			if n%997 == 0 && (m.integral(s.Due()).Cmp(i) > 0 || m.integral(s.Due()+1).Cmp(i) <= 0) {
				t.Fatalf("%v to %v: record %d is due at %d", from, to, s.Index(), s.Due())
			}
			s.Advance()
		}
	}
}

// A record that is due exactly at a whole ns does not move.
func TestRampThroughWholeNanoseconds(t *testing.T) {
	const unit = 1_000_003
	for from := range uint64(20) {
		for to := range uint64(20) {
			if from == to {
				continue
			}
			for length := range int64(20) {
				p, err := newPiece(2*from, 2*to, (length+1)*unit)
				if err != nil {
					t.Fatal(err)
				}
				for at := int64(0); at < p.length; at += unit {
					due, rest := p.doubled(at).divide(2 * uint64(p.length))
					if got := p.passes(credits{lo: due}); rest == 0 && got != at {
						t.Fatalf("from %d to %d over %d: %d credits are passed at %d, want %d", from, to, p.length, due, got, at)
					}
				}
			}
		}
	}
}
