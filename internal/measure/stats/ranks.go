package stats

import (
	"math"
	"slices"
)

// exactLimit is the largest size of both samples together for which the distribution of ranks is
// counted exactly, which takes milliseconds. Above it, the normal approximation is good to three
// digits.
const exactLimit = 60

// rankTest is the rank-sum test of F. Wilcoxon (1945), H. B. Mann and D. R. Whitney (On a Test of Whether one of
// Two Random Variables is Stochastically Larger than the Other, 1947). p is the chance that two samples of one
// population differ at least as much, in either direction. greater is the part of pairs in which b's value is
// greater, plus half the ties.
//
// Ties share their mean rank, so p is exact with them too (J. H. Klotz, The Wilcoxon, Ties, and the
// Computer, 1966). Above exactLimit p is the normal approximation, corrected for ties and
// continuity.
func rankTest(a, b []float64) (p, greater float64) {
	ranks, _ := doubledRanks(slices.Concat(a, b))
	return testOfRanks(ranks, len(a))
}

// testOfRanks is rankTest for doubled ranks, of which the first m are those of a.
func testOfRanks(ranks []int, m int) (p, greater float64) {
	n := len(ranks) - m
	if m == 0 || n == 0 {
		return 1, 0.5
	}
	sum := 0
	for _, r := range ranks[m:] {
		sum += r
	}
	u := float64(sum-n*(n+1)) / 2
	greater = u / float64(m*n)
	expected := n * (m + n + 1)
	distance := abs(sum - expected)
	if distance == 0 {
		return 1, greater
	}
	if m+n > exactLimit {
		return normalTail(float64(distance)/2-0.5, deviation(ranks, m)), greater
	}
	for s, chance := range rankSums(ranks, n) {
		if abs(s-expected) >= distance {
			p += chance
		}
	}
	return min(p, 1), greater
}

// doubledRanks returns twice each value's rank, so that mean ranks are whole, and the number of values at each
// rank.
func doubledRanks(xs []float64) (ranks, ties []int) {
	order := make([]int, len(xs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case xs[i] < xs[j]:
			return -1
		case xs[i] > xs[j]:
			return 1
		}
		return 0
	})
	ranks = make([]int, len(xs))
	for from := 0; from < len(xs); {
		to := from + 1
		for to < len(xs) && xs[order[to]] == xs[order[from]] {
			to++
		}
		for _, i := range order[from:to] {
			ranks[i] = from + 1 + to
		}
		ties = append(ties, to-from)
		from = to
	}
	return ranks, ties
}

func rankSums(ranks []int, n int) []float64 {
	most := 0
	for _, r := range ranks {
		most += r
	}
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, most+1)
	}
	ways[0][0] = 1
	reached := 0
	for i, r := range ranks {
		reached += r
		for k := min(i+1, n); k > 0; k-- {
			for s := r; s <= reached; s++ {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	all := 0.0
	for _, w := range ways[n] {
		all += w
	}
	for s := range ways[n] {
		ways[n][s] /= all
	}
	return ways[n]
}

// inversions returns the distribution of U under the null hypothesis, without ties. A pair is one
// of m values and one of n values; U is the number of pairs in which the first is greater.
func inversions(m, n int) []float64 {
	ranks := make([]int, m+n)
	for i := range ranks {
		ranks[i] = i
	}
	least := m * (m - 1) / 2
	return rankSums(ranks, m)[least : least+m*n+1]
}

// deviation returns the standard deviation of U, with ties (Klotz 1966): ranks are doubled, and m of them are of
// one sample.
func deviation(ranks []int, m int) float64 {
	all, squares := len(ranks), 0.0
	for _, r := range ranks {
		off := float64(r - (all + 1))
		squares += off * off
	}
	return math.Sqrt(float64(m)*float64(all-m)/(float64(all)*float64(all-1))*squares) / 2
}

func normalTail(distance, deviation float64) float64 {
	if deviation == 0 {
		return 1
	}
	return min(1, math.Erfc(distance/deviation/math.Sqrt2))
}

// normalQuantile returns the distance from the mean, in deviations, that normal values exceed with
// probability tail, both sides together.
func normalQuantile(tail float64) float64 { return math.Sqrt2 * math.Erfinv(1-tail) }

func abs(i int) int { return max(i, -i) }
