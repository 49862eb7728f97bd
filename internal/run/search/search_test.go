package search_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/run/search"
)

type plant struct {
	capacityPerS float64
	holdsPerS    float64
	// noise is the relative standard deviation with which a probe sees the two rates above; a
	// confirmation has a third of it.
	noise      float64
	random     *rand.Rand
	tooFewPerS float64
	// stalls are the indexes of probes that deliver nothing, doubts the indexes of failing probes
	// whose tool could not measure.
	stalls, doubts []int
	made           int
}

func (p *plant) Probe(_ context.Context, s search.Step) (search.Outcome, error) {
	p.made++
	if slices.Contains(p.stalls, p.made-1) {
		return search.Outcome{Stalled: true}, nil
	}
	if slices.Contains(p.doubts, p.made-1) && s.PerS != search.ClosedLoop {
		return search.Outcome{Doubtful: true, Tool: true}, nil
	}
	if s.PerS == search.ClosedLoop {
		return search.Outcome{ReachedPerS: p.capacityPerS * p.wobble(p.noise)}, nil
	}
	if s.PerS < p.tooFewPerS {
		return search.Outcome{TooFew: true}, nil
	}
	noise := p.noise
	if s.Phase == search.Confirm {
		noise /= 3
	}
	return search.Outcome{Passed: s.PerS <= p.holdsPerS*p.wobble(noise)}, nil
}

func (p *plant) wobble(noise float64) float64 {
	if noise == 0 {
		return 1
	}
	return math.Exp(noise * p.random.NormFloat64())
}

func find(t interface{ Fatal(...any) }, p *plant, o search.Options) search.Finding {
	f, err := search.Find(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func drawPlant(t *rapid.T, least, most float64) *plant {
	capacity := math.Exp(rapid.Float64Range(math.Log(1), math.Log(1e7)).Draw(t, "ln capacity"))
	share := math.Exp(rapid.Float64Range(math.Log(least), math.Log(most)).Draw(t, "ln share"))
	return &plant{
		capacityPerS: capacity, holdsPerS: capacity * share,
		random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0)),
	}
}

func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlant(t, 0.0101, 4.99)
		f := find(t, p, search.Options{})
		if len(f.Probes) > search.DefaultMaxProbes {
			t.Errorf("%d probes", len(f.Probes))
		}
		if f.FailedOnce {
			t.Errorf("%v failed once\n%s", f.FailedPerS, told(f))
		}
		if f.HighestPerS > p.holdsPerS || f.FailedPerS <= p.holdsPerS {
			t.Errorf("found %v, below %v, and %v holds", f.HighestPerS, f.FailedPerS, p.holdsPerS)
		}
		if f.HighestPerS*(1+search.DefaultResolution) < p.holdsPerS || !f.Resolved {
			t.Errorf("found %v (resolved: %v) where %v holds\n%s", f.HighestPerS, f.Resolved, p.holdsPerS, told(f))
		}
	})
}

func TestNothingHolds(t *testing.T) {
	f := find(t, &plant{capacityPerS: 1000}, search.Options{})
	if f.HighestPerS != 0 || f.PassedPerS != 0 || f.FailedPerS != 10 || len(f.Probes) != 6 || f.FailedOnce {
		t.Errorf("%+v\n%s", f, told(f))
	}
}

// The answer was confirmed, no rate below it failed, and the budget is kept.
func TestNoise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlant(t, 0.001, 20)
		p.noise = rapid.Float64Range(0, 0.3).Draw(t, "noise")
		p.stalls = rapid.SliceOfN(rapid.IntRange(0, 30), 0, 10).Draw(t, "stalls")
		p.doubts = rapid.SliceOfN(rapid.IntRange(0, 30), 0, 10).Draw(t, "doubts")
		o := search.Options{
			Resolution: rapid.Float64Range(0.005, 0.5).Draw(t, "resolution"),
			MaxProbes:  rapid.IntRange(4, 60).Draw(t, "probes"),
		}
		p.tooFewPerS = p.capacityPerS * rapid.SampledFrom([]float64{0, 0, 0.005, 0.05, 0.5, 5}).Draw(t, "too few")
		f := find(t, p, o)
		if len(f.Probes) > o.MaxProbes {
			t.Errorf("%d probes of at most %d", len(f.Probes), o.MaxProbes)
		}
		wantSound(t, f)
	})
}

func TestNothingIsWasted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlant(t, 0.005, 5)
		p.stalls = rapid.SliceOfN(rapid.IntRange(1, 15), 0, 4).Draw(t, "stalls")
		p.doubts = rapid.SliceOfN(rapid.IntRange(1, 15), 0, 4).Draw(t, "doubts")
		o := search.Options{MaxProbes: rapid.IntRange(4, 15).Draw(t, "probes")}
		f := find(t, p, o)
		last := f.Probes[len(f.Probes)-1]
		if last.Stalled || last.Doubtful || len(f.Probes) < o.MaxProbes {
			return
		}
		if passed := slices.ContainsFunc(f.Probes, func(p search.Probe) bool { return p.Passed }); passed && f.HighestPerS == 0 {
			t.Errorf("a rate passed, and none is answered\n%s", told(f))
		}
		if last.Phase != search.Confirm {
			t.Errorf("the last probe is short\n%s", told(f))
		}
	})
}

func wantSound(t *rapid.T, f search.Finding) {
	last := make(map[float64]search.Probe)
	confirmed := false
	for _, p := range f.Probes {
		if p.TooFew { // an earlier doubtful probe does not count then either
			delete(last, p.PerS)
			continue
		}
		if p.Stalled || p.Phase == search.Capacity {
			continue
		}
		last[p.PerS] = p
		confirmed = confirmed || p.PerS == f.HighestPerS && p.Phase == search.Confirm && p.Passed
	}
	for perS, p := range last {
		if !p.Passed && perS <= f.HighestPerS {
			t.Errorf("answered %v, and %v failed\n%s", f.HighestPerS, perS, told(f))
		}
	}
	if f.HighestPerS > 0 && !confirmed {
		t.Errorf("answered %v, which was not confirmed\n%s", f.HighestPerS, told(f))
	}
	if f.FailedPerS > 0 && f.FailedPerS <= f.PassedPerS {
		t.Errorf("%v passed and %v failed", f.PassedPerS, f.FailedPerS)
	}
	wantTriedAgain(t, f)
}

func wantTriedAgain(t *rapid.T, f search.Finding) {
	times, doubt := 0, false
	for _, p := range f.Probes {
		switch {
		case p.PerS != f.FailedPerS || p.Passed:
		case p.Stalled || p.Doubtful:
			doubt = true
		case p.Phase == search.Confirm:
			times += 2
		default:
			times++
		}
	}
	if f.FailedOnce && times > 1 || !f.FailedOnce && f.HighestPerS > 0 && times == 1 && !doubt {
		t.Errorf("%v failed %d times, and only once: %v\n%s", f.FailedPerS, times, f.FailedOnce, told(f))
	}
}

// With realistic noise, 19 of 20 searches end near the truth, and 99 of 100 have an answer.
func TestNoiseIsBearable(t *testing.T) {
	const searches, noise, near = 4000, 0.01, 0.06
	random := rand.New(rand.NewPCG(1, 2))
	off, none := 0, 0
	for range searches {
		p := &plant{capacityPerS: 1000, holdsPerS: 20 * math.Pow(1100./20, random.Float64()), noise: noise, random: random}
		f := find(t, p, search.Options{})
		switch {
		case f.HighestPerS == 0:
			none++
		case math.Abs(math.Log(f.HighestPerS/p.holdsPerS)) > near:
			off++
		}
	}
	t.Logf("of %d searches %d ended without an answer, and %d were more than %v off", searches, none, off, near)
	if none > searches/100 || off > searches/20 {
		t.Errorf("of %d searches %d ended without an answer, and %d were more than %v off", searches, none, off, near)
	}
}

// On a machine whose times differ between runs, short probes and their confirmation often disagree.
func TestRoughNoiseHasAnAnswer(t *testing.T) {
	const searches, noise = 4000, 0.1
	random := rand.New(rand.NewPCG(3, 4))
	none := 0
	for range searches {
		p := &plant{capacityPerS: 1000, holdsPerS: 20 * math.Pow(1100./20, random.Float64()), noise: noise, random: random}
		if f := find(t, p, search.Options{}); f.HighestPerS == 0 {
			none++
		}
	}
	if none > searches/40 {
		t.Errorf("of %d searches %d ended without an answer", searches, none)
	}
}

func TestRefutedInTheEnd(t *testing.T) {
	s := search.New(search.Options{MaxProbes: 5})
	for _, o := range []search.Outcome{{ReachedPerS: 1000}, {Passed: true}, {}, {}, {Passed: true}} {
		if _, more := s.Next(); !more {
			t.Fatal(told(s.Finding()))
		}
		s.Tell(o)
	}
	const want = "capacity, bracket 900, confirm 900, confirm 850.8, confirm 679.5: 679.5"
	if got := told(s.Finding()); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestStalledToTheEnd(t *testing.T) {
	f := find(t, &plant{capacityPerS: 1000, holdsPerS: 950, stalls: []int{2, 3}}, search.Options{MaxProbes: 5})
	const want = "capacity, bracket 900, confirm 900, confirm 900, confirm 900: 900"
	if got := told(f); got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestTooFewRecords(t *testing.T) {
	for holdsPerS, want := range map[float64]string{
		500: "capacity, bracket 900, bracket 150, bisect 367.4, bisect 575, bisect 459.6, bisect 514.1, bisect 486.1, bisect 499.9, retry 514.1, confirm 499.9: 499.9 resolved",
		200: "capacity, bracket 900, bracket 150, bisect 367.4, bisect 234.8, bisect 293.7, bisect 328.5, bisect 310.6, bisect 302, retry 302: none",
	} {
		f := find(t, &plant{capacityPerS: 1000, holdsPerS: holdsPerS, tooFewPerS: 300}, search.Options{})
		if got := told(f); got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
		if holdsPerS < 300 && (f.TooFewPerS != 293.7 || f.FailedPerS != 302) {
			t.Errorf("%+v", f)
		}
	}
	f := find(t, &plant{capacityPerS: 100, holdsPerS: 50, tooFewPerS: 300}, search.Options{})
	if got, want := told(f), "capacity, bracket 90: none"; got != want || f.TooFewPerS != 90 || f.FailedPerS != 0 {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
}

func TestStalls(t *testing.T) {
	for bad := range 9 {
		for what, p := range map[string]*plant{
			"stalled":      {capacityPerS: 1000, holdsPerS: 980, stalls: []int{bad}},
			"was doubtful": {capacityPerS: 1000, holdsPerS: 980, doubts: []int{bad}},
		} {
			f := find(t, p, search.Options{})
			if f.HighestPerS > 980 || f.HighestPerS*1.03 < 980 {
				t.Errorf("probe %d %s, and it found %v\n%s", bad, what, f.HighestPerS, told(f))
			}
		}
	}
	p := &plant{capacityPerS: 1000, holdsPerS: 980, stalls: []int{0, 1, 2}}
	if f := find(t, p, search.Options{}); len(f.Probes) != 3 || f.HighestPerS != 0 || f.CapacityPerS != 0 {
		t.Errorf("a Kafka that delivers nothing: %+v", f)
	}
}

func TestSteps(t *testing.T) {
	for name, c := range map[string]struct {
		outcomes string // of the probes after the capacity of 1,000/s: passed, failed, stalled, doubtful
		want     string
	}{
		"at the capacity": {
			"pfpfffp",
			"capacity, bracket 900, bracket 1100, bisect 995, bisect 1046, bisect 1020, retry 1020, confirm 995: 995 resolved",
		},
		"a failure that was an accident": {
			"fpppppppppf",
			"capacity, bracket 900, bracket 150, bisect 367.4, bisect 575, bisect 719.4, bisect 804.6, bisect 851, bisect 875.2, retry 900, confirm 900, bracket 1100: 900",
		},
		"a confirmation that fails": {
			"pfpppffpp",
			"capacity, bracket 900, bracket 1100, bisect 995, bisect 1046, bisect 1073, retry 1100, confirm 1073, confirm 1014, confirm 1043: 1043 resolved",
		},
		"two confirmations that fail": {
			"pfpppfffpfp",
			"capacity, bracket 900, bracket 1100, bisect 995, bisect 1046, bisect 1073, retry 1100, confirm 1073, confirm 1014, confirm 906.2, confirm 958.6, confirm 932: 932 resolved",
		},
		"a doubt": {
			"pdpdd",
			"capacity, bracket 900, bracket 1100, retry 1100, bracket 2000, retry 2000: none",
		},
		"a stall": {
			"spsssp",
			"capacity, bracket 900, retry 900, bracket 1100, retry 1100, retry 1100, bisect 995: none",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := search.New(search.Options{})
			s.Next()
			s.Tell(search.Outcome{ReachedPerS: 1000})
			for _, o := range c.outcomes {
				if _, more := s.Next(); !more {
					break
				}
				s.Tell(search.Outcome{Passed: o == 'p', Stalled: o == 's', Doubtful: o == 'd'})
			}
			if got := told(s.Finding()); !strings.HasPrefix(got, c.want) {
				t.Errorf("got\n%s, want\n%s", got, c.want)
			}
		})
	}
}

func told(f search.Finding) string {
	var steps []string
	for _, p := range f.Probes {
		if p.Phase == search.Capacity {
			steps = append(steps, string(p.Phase))
			continue
		}
		steps = append(steps, fmt.Sprintf("%s %v", p.Phase, p.PerS))
	}
	end := "none"
	if f.HighestPerS > 0 {
		end = fmt.Sprint(f.HighestPerS)
	}
	if f.Resolved {
		end += " resolved"
	}
	return strings.Join(steps, ", ") + ": " + end
}

type broken struct{ after int }

var errBroken = errors.New("broken")

func (b *broken) Probe(context.Context, search.Step) (search.Outcome, error) {
	if b.after--; b.after < 0 {
		return search.Outcome{}, errBroken
	}
	return search.Outcome{Passed: true, ReachedPerS: 100}, nil
}

func TestProberFails(t *testing.T) {
	f, err := search.Find(context.Background(), &broken{after: 2}, search.Options{})
	if !errors.Is(err, errBroken) || len(f.Probes) != 2 || f.PassedPerS != 90 || f.HighestPerS != 0 {
		t.Errorf("%v, %+v", err, f)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []search.Options{{}, {Resolution: 0.005}, {Resolution: 0.5, MaxProbes: 4}, {MaxProbes: 1000}} {
		if err := o.Check(); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []search.Options{{Resolution: 0.004}, {Resolution: 0.51}, {Resolution: -1}, {Resolution: math.NaN()}, {MaxProbes: 3}, {MaxProbes: -1}, {MaxProbes: 1001}} {
		if err := o.Check(); err == nil {
			t.Errorf("%+v was taken", o)
		}
	}
}

func TestCurveRates(t *testing.T) {
	want := []float64{2000, 4000, 6000, 8000, 10000, 12000, 14000, 16000, 18000, 20000, 22000}
	if got := search.CurveRates(20000); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := search.CurveRates(1.2345)[2]; got != 0.3704 {
		t.Errorf("got %v, want four digits of 0.37035", got)
	}
}
