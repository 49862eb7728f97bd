package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// Change is a place in a series where its level changes.
type Change struct {
	At            int     // first index of the new level
	Before, After float64 // medians of the levels on either side
	P             float64 // of the permutation test that found it
}

// Relative is by how much the level rises, as a part of the level before it; see
// Comparison.Difference.
func (c Change) Relative() float64 { return relative(c.After-c.Before, c.Before) }

// ChangeOptions of ChangePoints. A field that is 0 has its default.
type ChangeOptions struct {
	// Alpha is the level of the test, 0.01: the share of series without any
	// change in which one is found nevertheless.
	Alpha float64
	// Permutations of the test, 999. P is never below 1/(Permutations+1).
	Permutations int
	// Seed of the permutations. The same seed finds the same changes.
	Seed uint64
	// MinSize is the least length of a level, 3 (and at least 2): a run that is
	// off by itself is an outlier, and one more may be too.
	MinSize int
	// MinChange drops changes that are smaller, relative to the level before: 0.05
	// keeps those of 5 % and more. 0 keeps every one.
	MinChange float64
}

// ChangePoints finds where the level of xs, in the order of time, changes. It is
// E-Divisive (D. S. Matteson and N. A. James, A Nonparametric Approach for
// Multiple Change Point Analysis of Multivariate Data, 2014): the series is cut
// where the energy distance between what is left and what is right is largest,
// and then each part again, as long as chance does not explain the cut: the
// same search in permutations of the parts finds one as good no more often than
// alpha says. Each level is taken to be noise about it, one value independent of
// the next; a slow drift comes out as stairs.
//
// Small changes that are real and of no interest are taken out at the end, the
// smallest first, each time with the medians of the levels as they then are (M.
// Fleming et al., Hunter: Using Change Point Detection to Hunt for Performance
// Regressions, 2023, which became Apache Otava). Of Hunter's other two changes
// neither is needed here: its Student's test, as the permutations have a seed
// and assume no normal noise, and its windows, which keep a change from being
// hidden by the opposite one later, as the right side of a cut may end before
// the part does.
//
// The time grows with n² × Permutations, for each change: 0.1 s among a hundred
// values, 1 s among three hundred.
func ChangePoints(xs []float64, o ChangeOptions) []Change {
	o.setDefaults()
	s := series{xs: xs, o: o, random: rand.New(rand.NewPCG(o.Seed, 0)), cuts: []int{0, len(xs)}}
	var found []Change
	for {
		best := s.best(xs)
		if best.energy <= 0 {
			break
		}
		p := s.chance(best.energy)
		if p > o.Alpha {
			break
		}
		found = append(found, Change{At: best.at, P: p})
		at, _ := slices.BinarySearch(s.cuts, best.at)
		s.cuts = slices.Insert(s.cuts, at, best.at)
	}
	slices.SortFunc(found, func(a, b Change) int { return cmp.Compare(a.At, b.At) })
	return notable(xs, found, o.MinChange)
}

func (o *ChangeOptions) setDefaults() {
	if o.Alpha == 0 {
		o.Alpha = 0.01
	}
	if o.Permutations == 0 {
		o.Permutations = 999
	}
	if o.MinSize == 0 {
		o.MinSize = 3
	}
	o.MinSize = max(2, o.MinSize)
}

// series is a series that is being cut up.
type series struct {
	xs     []float64
	o      ChangeOptions
	random *rand.Rand
	cuts   []int     // with both ends
	sums   []float64 // scratch of bestCut
}

// cut is a place to cut, and the energy distance of both sides.
type cut struct {
	at     int
	energy float64
}

// best is the best next cut of xs, which has the parts of the series.
func (s *series) best(xs []float64) cut {
	var best cut
	for i, to := range s.cuts[1:] {
		from := s.cuts[i]
		if c := s.bestCut(xs[from:to]); c.energy > best.energy {
			best = cut{from + c.at, c.energy}
		}
	}
	return best
}

// chance is the share of permutations, of the values within each part, in which
// the best cut is as good; the series itself counts as one, so that the test is
// exact. It ends as soon as the share must be beyond alpha (J. Besag and P.
// Clifford, Sequential Monte Carlo p-values, 1991), and then is that bound.
func (s *series) chance(energy float64) float64 {
	mixed := slices.Clone(s.xs)
	all := float64(s.o.Permutations + 1)
	asGood := 1.0
	for range s.o.Permutations {
		for i, to := range s.cuts[1:] {
			part := mixed[s.cuts[i]:to]
			s.random.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
		}
		if s.best(mixed).energy >= energy*(1-1e-9) { // the same sums, in another order of adding
			asGood++
		}
		if asGood/all > s.o.Alpha {
			break
		}
	}
	return asGood / all
}

// bestCut maximises the energy distance with the exponent 1,
//
//	Q = mn/(m+n) × (2·E|A−B| − E|A−A′| − E|B−B′|),
//
// between the m values A before the cut and n values B from it on, over all cuts
// and all ends of B.
func (s *series) bestCut(xs []float64) cut {
	size := len(xs)
	if size < 2*s.o.MinSize {
		return cut{}
	}
	sums := s.distances(xs)
	var best cut
	left := 0.0 // Σ |A−A′| over pairs
	for at := 1; at <= size-s.o.MinSize; at++ {
		left += sums[(at-1)*size+at-1]
		if at < s.o.MinSize {
			continue
		}
		across, right := 0.0, 0.0 // Σ |A−B|, Σ |B−B′| over pairs
		m := float64(at)
		for end := at; end < size; end++ {
			toLeft := sums[at*size+end]
			across += toLeft
			right += sums[end*size+end] - toLeft
			n := float64(end + 1 - at)
			if end+1-at < s.o.MinSize {
				continue
			}
			energy := 2 / (m + n) * (across - n/(m-1)*left - m/(n-1)*right)
			if energy > best.energy {
				best = cut{at, energy}
			}
		}
	}
	return best
}

// distances has in row i and column j the sum of the distances of value j from
// the first i values.
func (s *series) distances(xs []float64) []float64 {
	size := len(xs)
	if len(s.sums) < size*size {
		s.sums = make([]float64, size*size)
	}
	clear(s.sums[:size])
	for i := range size - 1 {
		row, next := s.sums[i*size:(i+1)*size], s.sums[(i+1)*size:(i+2)*size]
		for j, x := range xs {
			next[j] = row[j] + math.Abs(x-xs[i])
		}
	}
	return s.sums[:size*size]
}

// notable fills in the levels and drops changes below least, the smallest first.
func notable(xs []float64, found []Change, least float64) []Change {
	for {
		smallest := -1
		for i := range found {
			from, to := 0, len(xs)
			if i > 0 {
				from = found[i-1].At
			}
			if i+1 < len(found) {
				to = found[i+1].At
			}
			c := &found[i]
			c.Before, c.After = median(xs[from:c.At]), median(xs[c.At:to])
			if smallest < 0 || math.Abs(c.Relative()) < math.Abs(found[smallest].Relative()) {
				smallest = i
			}
		}
		if smallest < 0 || math.Abs(found[smallest].Relative()) >= least {
			return found
		}
		found = slices.Delete(found, smallest, smallest+1)
	}
}
