package draw

import (
	"cmp"
	"math"
	"slices"
)

// Moment is a range of the x axis; without a length, From equals To.
type Moment struct{ From, To float64 }

func (s Series) stretched() bool {
	return (s.Kind == Steps || s.Kind == Band) && len(s.X1) == len(s.X0)
}

// period is the length that more than half of the steps of a series have, and at least two steps; 0
// if there is no such length, as for samples.
func (s Series) period() float64 {
	most, votes, count := 0.0, 0, 0 // the majority vote of Boyer and Moore
	for i, end := range s.X1 {
		switch length := end - s.X0[i]; {
		case votes == 0:
			most, votes = length, 1
		case length == most:
			votes++
		default:
			votes--
		}
	}
	for i, end := range s.X1 {
		if end-s.X0[i] == most {
			count++
		}
	}
	if count > 1 && 2*count > len(s.X1) {
		return most
	}
	return 0
}

// Moments returns the moments that a text describes, in ascending order. They are the steps of the
// series with the longest period. Without a period they are all steps, and without steps the places
// of lines and points.
func (s Spec) Moments() []Moment {
	period, stretches := 0.0, false
	each := func(do func(Series)) {
		for _, p := range s.Panels {
			for _, one := range p.Series {
				do(one)
			}
		}
	}
	each(func(one Series) {
		if one.stretched() {
			period, stretches = max(period, one.period()), true
		}
	})
	ends := map[float64]float64{}
	var last Series
	each(func(one Series) {
		if one.Kind == Bars || stretches && !one.stretched() || period > 0 && one.period() != period {
			return
		}
		if slices.Equal(one.X0, last.X0) && slices.Equal(one.X1, last.X1) {
			return // the series has the same moments as the last one
		}
		last = one
		for i, x := range one.X0 {
			to := x
			if stretches {
				to = one.X1[i]
			}
			if before, has := ends[x]; known(x) && known(to) && (!has || to < before) {
				ends[x] = to
			}
		}
	})
	moments := make([]Moment, 0, len(ends))
	for from, to := range ends {
		moments = append(moments, Moment{from, to})
	}
	slices.SortFunc(moments, func(a, b Moment) int { return cmp.Compare(a.From, b.From) })
	return moments
}

// Within returns the lowest and the highest of the values that begin within m. For steps and bands,
// these include the value that already held at m.From. The X0 of the series must ascend.
func (s Series) Within(m Moment) (low, high float64, some bool) {
	low, high = math.Inf(1), math.Inf(-1)
	first, begins := slices.BinarySearch(s.X0, m.From)
	if !begins && first > 0 && s.stretched() && s.X1[first-1] > m.From {
		first--
	}
	for i := first; i < len(s.X0) && (s.X0[i] < m.To || s.X0[i] == m.From); i++ {
		l, h := at(s.Y, i), at(s.Y, i)
		if s.Kind == Band {
			l, h = at(s.Low, i), at(s.High, i)
		}
		if known(l) && known(h) {
			low, high, some = min(low, l), max(high, h), true
		}
	}
	return low, high, some
}

// Between formats the range of two values, or one value if both have the same text.
func (a Axis) Between(low, high float64) string {
	to := a.write(high)
	if low == high {
		return to
	}
	if from := a.write(low); from != to {
		return from + " to " + to
	}
	return to
}
