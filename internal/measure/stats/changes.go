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
	Before, After float64 // medians of the two levels
	P             float64 // of the permutation test
}

// Relative returns the rise of the level as a part of the level before; see Comparison.Difference.
func (c Change) Relative() float64 { return relative(c.After-c.Before, c.Before) }

// ChangeOptions configure ChangePoints. Fields that are 0 have their defaults.
type ChangeOptions struct {
	// Alpha is the level of the test, by default 0.01.
	Alpha float64
	// Permutations of the test, by default 999; P is at least 1/(Permutations+1).
	Permutations int
	Seed         uint64 // of the permutations; the same seed finds the same changes
	// MinSize is the shortest level, by default 3 and at least 2.
	MinSize int
	// MinChange drops smaller changes, relative to the level before; 0 keeps all.
	MinChange float64
}

// ChangePoints finds where the level of xs, in order of time, changes. It is E-Divisive (D. S.
// Matteson and N. A. James, A Nonparametric Approach for Multiple Change Point Analysis of
// Multivariate Data, 2014). It cuts the series where the energy distance between both sides is
// largest, and then cuts the parts again. It stops when chance explains a cut: the same search in
// permutations of the parts finds a cut at least as good more often than Alpha. ChangePoints
// assumes independent noise about each level; a slow drift is found as steps.
//
// At the end, ChangePoints removes changes below MinChange, the smallest first, each time with new
// medians (M. Fleming et al., Hunter: Using Change Point Detection to Hunt for Performance
// Regressions, 2023; now Apache Otava). Unlike Hunter it needs no Student's test, because the
// permutations assume no normal noise. Unlike Hunter it needs no windows either, because the right
// side of a cut may end before its part does.
//
// The time grows with n² × Permutations: 1 s for three hundred values.
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

type series struct {
	xs     []float64
	o      ChangeOptions
	random *rand.Rand
	cuts   []int
	sums   []float64
}

type cut struct {
	at     int
	energy float64
}

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

// chance returns the part of permutations whose best cut is as good. The series itself counts as
// one permutation, so the test is exact. It stops as soon as the result must exceed Alpha, and
// returns that bound (J. Besag and P. Clifford, Sequential Monte Carlo p-values, 1991).
func (s *series) chance(energy float64) float64 {
	mixed := slices.Clone(s.xs)
	all := float64(s.o.Permutations + 1)
	asGood := 1.0
	for range s.o.Permutations {
		for i, to := range s.cuts[1:] {
			part := mixed[s.cuts[i]:to]
			s.random.Shuffle(len(part), func(a, b int) { part[a], part[b] = part[b], part[a] })
		}
		if s.best(mixed).energy >= energy*(1-1e-9) { // rounding differs with the order of addition
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
// between the m values A before the cut and the n values B after it, over all cuts and all ends of B.
func (s *series) bestCut(xs []float64) cut {
	size := len(xs)
	if size < 2*s.o.MinSize {
		return cut{}
	}
	sums := s.distances(xs)
	var best cut
	left := 0.0
	for at := 1; at <= size-s.o.MinSize; at++ {
		left += sums[(at-1)*size+at-1]
		if at < s.o.MinSize {
			continue
		}
		across, right := 0.0, 0.0
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

// Row i, column j of distances is the sum of the distances of value j from the first i values.
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
