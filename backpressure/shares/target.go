package shares

import "slices"

// Nobody begins to lower itself for a member that lacks less than a tenth of its
// target, or noise would keep all parts moving; who has begun goes on until what
// is lacking is next to nothing.
const (
	tolerance = 0.1
	nothing   = Whole / 100
)

// Targets divides whole among members: to each the floor, and the rest in
// proportion to what max-min fairness would let it send. That is its demand up to
// a level, and the level is where the members together are served what they are
// served now (water filling; Bertsekas and Gallager, "Data Networks", 6.5.2). So a
// small demand is met in full and the large ones get equal parts; where all are
// met, parts are in proportion to demand. The sum is whole exactly, and
// the answer depends on the entries alone.
func Targets(entries []Entry, whole, floor Part) []Part {
	n := Part(len(entries))
	if n == 0 {
		return nil
	}
	floor = floorOf(whole, floor, n)
	level := waterLevel(entries)
	var sum float64
	for _, e := range entries {
		sum += min(e.Demand, level)
	}
	parts := make([]Part, n)
	rest := whole - n*floor
	left := rest
	for i, e := range entries {
		weight := 1 / float64(n)
		if sum > 0 {
			weight = min(e.Demand, level) / sum
		}
		more := min(left, Part(weight*float64(rest)))
		parts[i] = floor + more
		left -= more
	}
	for i := Part(0); left > 0; i, left = i+1, left-1 {
		parts[i%n]++
	}
	return parts
}

// waterLevel is the rate up to which each member is served, if what all are
// served now were divided by max-min fairness. It is as high as the highest
// demand where all are met, or where nothing is served yet.
func waterLevel(entries []Entry) float64 {
	var served float64
	demands := make([]float64, len(entries))
	for i, e := range entries {
		served += e.Served
		demands[i] = e.Demand
	}
	slices.Sort(demands)
	highest := demands[len(demands)-1]
	if served <= 0 {
		return highest
	}
	for i, d := range demands {
		equal := served / float64(len(demands)-i)
		if d >= equal {
			return equal
		}
		served -= d
	}
	return highest
}

// hungry tells whether a member asks for clearly more than it gets.
func hungry(e Entry) bool { return e.Demand > e.Served*(1+tolerance) }

// short tells whether a member lacks so much that others should give way: it has
// less than its floor, or is hungry and clearly below its target.
func short(e Entry, target, floor Part) bool {
	if e.Held < min(floor, target) {
		return true
	}
	return hungry(e) && float64(e.Held) < float64(target)*(1-tolerance)
}

// floorOf is the floor of n members: at most a quarter of an equal part.
func floorOf(whole, floor, n Part) Part { return min(floor, whole/(4*n)) }
