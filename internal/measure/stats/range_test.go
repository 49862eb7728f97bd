package stats_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/stats"
)

// The lowest and the highest of six equal groups look different in every third campaign to a test of this pair alone.
func TestRangeOfEqualGroups(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	const campaigns, runs = 400, 5
	pair, rng := 0, 0
	for range campaigns {
		groups := make([][]float64, 6)
		for i := range groups {
			for range runs {
				groups[i] = append(groups[i], random.NormFloat64())
			}
		}
		byMedian(groups)
		if stats.Compare(groups[0], groups[5], 0.05).P <= 0.05 {
			pair++
		}
		if stats.RangeTest(groups) <= 0.05 {
			rng++
		}
	}
	if rng > campaigns*8/100 || pair < 2*rng {
		t.Errorf("of %d campaigns without a difference, the range shows one %d times and the chosen pair alone %d times",
			campaigns, rng, pair)
	}
}

func TestRangeOfUnequalGroups(t *testing.T) {
	t.Parallel()
	apart := [][]float64{{1, 2, 3, 4, 5}, {6, 7, 8, 9, 10}, {11, 12, 13, 14, 15}}
	if p := stats.RangeTest(apart); p > 0.01 {
		t.Errorf("p of groups without overlap is %v", p)
	}
	single := [][]float64{{1, 2, 3, 4, 5}, {6}, {7, 8, 9, 10, 11}}
	if p := stats.RangeTest(single); p > 0.05 {
		t.Errorf("p of two groups without overlap, beside a single run, is %v", p)
	}
	for name, groups := range map[string][][]float64{
		"an empty one between": {{1, 2, 3, 4, 5}, {}, {7, 8, 9, 10, 11}}, "none": nil, "one": {{1, 2}}, "an empty one": {{}, {1}}, "one value": {{1, 1}, {1, 1}}, "single runs": {{1}, {2}, {3}},
	} {
		if p := stats.RangeTest(groups); p <= 0.05 {
			t.Errorf("%s: p is %v, and nothing can be shown", name, p)
		}
	}
}

func byMedian(groups [][]float64) {
	for _, g := range groups {
		slices.Sort(g)
	}
	slices.SortFunc(groups, func(a, b []float64) int { return cmp.Compare(a[len(a)/2], b[len(b)/2]) })
}
