package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func levels(r *rand.Rand, noise func(*rand.Rand) float64, steps ...[2]float64) []float64 {
	var xs []float64
	for _, step := range steps {
		for range int(step[1]) {
			xs = append(xs, step[0]*(1+noise(r)))
		}
	}
	return xs
}

func normal(deviation float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 { return deviation * r.NormFloat64() }
}

func spiked(deviation float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		if r.IntN(20) == 0 {
			return 0.5
		}
		return deviation * r.NormFloat64()
	}
}

// Cauchy noise has no mean and no variance.
func cauchy(scale float64) func(*rand.Rand) float64 {
	return func(r *rand.Rand) float64 {
		return min(20*scale, max(-20*scale, scale*r.NormFloat64()/r.NormFloat64()))
	}
}

// The cases come from Hunter's paper.
func TestChangePoints(t *testing.T) {
	for _, c := range []struct {
		name  string
		noise func(*rand.Rand) float64
		steps [][2]float64
		o     ChangeOptions
		want  []int
		slack int
	}{
		{name: "no values"},
		{name: "too short", noise: normal(0.001), steps: [][2]float64{{1, 2}, {2, 2}}},
		{name: "without noise", noise: normal(0), steps: [][2]float64{{100, 30}}},
		{name: "levels without noise", noise: normal(0), steps: [][2]float64{{1, 6}, {5, 8}, {9, 8}, {3, 9}}, want: []int{6, 14, 22}},
		{name: "from nothing", noise: normal(0.05), steps: [][2]float64{{0, 10}, {5, 10}}, want: []int{10}},
		{name: "short", noise: normal(0.05), steps: [][2]float64{{1, 6}, {0.5, 6}}, want: []int{6}},
		{name: "five per cent", noise: normal(0.02), steps: [][2]float64{{100, 40}, {105, 40}}, want: []int{40}, slack: 2},
		{name: "up and up", noise: normal(0.02), steps: [][2]float64{{100, 30}, {110, 30}, {121, 30}}, want: []int{30, 60}, slack: 1},
		{name: "undone by the next", noise: normal(0.02), steps: [][2]float64{{100, 40}, {110, 8}, {100, 40}}, want: []int{40, 48}, slack: 1},
		{name: "in the last runs", noise: normal(0.02), steps: [][2]float64{{100, 80}, {115, 4}}, want: []int{80}},
		{name: "in the first runs", noise: normal(0.02), steps: [][2]float64{{115, 4}, {100, 80}}, want: []int{4}},
		{name: "among spikes", noise: spiked(0.02), steps: [][2]float64{{100, 50}, {110, 50}}, want: []int{50}, slack: 2},
		{name: "among long tails", noise: cauchy(0.02), steps: [][2]float64{{100, 50}, {120, 50}}, want: []int{50}, slack: 5},
		{name: "single spikes alone", noise: normal(0.02), steps: [][2]float64{{100, 30}, {300, 1}, {100, 30}, {400, 1}, {100, 10}}},
		{name: "negative levels", noise: normal(0.02), steps: [][2]float64{{-100, 20}, {-80, 20}}, want: []int{20}},
		{
			name: "small changes are dropped", noise: normal(0.005), steps: [][2]float64{{100, 20}, {102, 20}, {130, 20}, {128, 20}},
			o: ChangeOptions{MinChange: 0.05}, want: []int{40},
		},
		{
			name: "and kept where nobody asks", noise: normal(0.005), steps: [][2]float64{{100, 20}, {102, 20}, {130, 20}, {128, 20}},
			want: []int{20, 40, 60}, slack: 1,
		},
	} {
		for seed := range uint64(max(1, trials(5))) {
			xs := levels(rand.New(rand.NewPCG(seed, 1)), c.noise, c.steps...)
			c.o.Seed = seed
			found := ChangePoints(xs, c.o)
			if !slices.EqualFunc(found, c.want, func(f Change, at int) bool { return abs(f.At-at) <= c.slack }) {
				t.Errorf("%s, seed %d: %+v, want changes at %v", c.name, seed, found, c.want)
			}
			if again := ChangePoints(xs, c.o); !slices.Equal(found, again) {
				t.Errorf("%s, seed %d: first %+v, then %+v", c.name, seed, found, again)
			}
			checkLevels(t, xs, found)
		}
	}
}

func checkLevels(t *testing.T, xs []float64, found []Change) {
	t.Helper()
	for i, c := range found {
		from, to := 0, len(xs)
		if i > 0 {
			from = found[i-1].At
		}
		if i+1 < len(found) {
			to = found[i+1].At
		}
		if c.Before != median(xs[from:c.At]) || c.After != median(xs[c.At:to]) || c.P <= 0 || c.P > 0.01 {
			t.Errorf("%+v in %v", c, xs)
		}
	}
}

func TestNoChangeInNoise(t *testing.T) {
	const length, alpha = 30, 0.05
	many := trials(400)
	for i, kind := range noises {
		r := rand.New(rand.NewPCG(11, uint64(i)))
		changed := 0
		for seed := range many {
			if len(ChangePoints(kind.sample(r, length), ChangeOptions{Alpha: alpha, Permutations: 199, Seed: uint64(seed)})) > 0 {
				changed++
			}
		}
		share := float64(changed) / float64(many)
		t.Logf("noise, %d series of %d runs, %-12s: a change in %.1f %% at the level %.0f %%", many, length, kind.name, 100*share, 100*alpha)
		if share > mostBy(alpha, many) {
			t.Errorf("%s: a change in %v of the series, at the level %v", kind.name, share, alpha)
		}
	}
}

func TestBestCut(t *testing.T) {
	r := rand.New(rand.NewPCG(42, 12))
	mean := func(a, b []float64, self bool) float64 {
		sum, pairs := 0.0, 0
		for i, x := range a {
			for j, y := range b {
				if !self || i != j {
					sum += max(x-y, y-x)
					pairs++
				}
			}
		}
		return sum / float64(pairs)
	}
	for range 100 {
		xs := noises[1].sample(r, 4+r.IntN(12))
		s := series{o: ChangeOptions{MinSize: 2}}
		var want cut
		for at := 2; at <= len(xs)-2; at++ {
			for end := at + 2; end <= len(xs); end++ {
				a, b := xs[:at], xs[at:end]
				m, n := float64(len(a)), float64(len(b))
				if q := m * n / (m + n) * (2*mean(a, b, false) - mean(a, a, true) - mean(b, b, true)); q > want.energy {
					want = cut{at, q}
				}
			}
		}
		if got := s.bestCut(xs); got.at != want.at || !near(got.energy, want.energy, 1e-9*want.energy) {
			t.Errorf("%+v, want %+v, of %v", got, want, xs)
		}
	}
}
