package shares

import "slices"

// Because of noise, a member begins to lower itself only if another member lacks at least a tenth
// of its target. It goes on until the others lack next to nothing.
const (
	tolerance = 0.1
	nothing   = Whole / 100
)

// Targets divides whole among members. Each gets the floor. The rest is in proportion to what
// max-min fairness would let each member send: its demand, up to a level. At that level the members
// together are served as much as now (water filling; Bertsekas and Gallager, "Data Networks",
// 6.5.2). If all demands are met, parts are in proportion to demand. The sum is exactly whole, and
// the answer depends only on the entries.
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

// waterLevel returns the rate up to which max-min fairness would serve each member now. It is the
// highest demand if all demands are met, or if nothing is served yet.
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

func hungry(e Entry) bool { return e.Demand > e.Served*(1+tolerance) }

// short reports whether a member has less than its floor, or is hungry and clearly below its
// target.
func short(e Entry, target, floor Part) bool {
	if e.Held < min(floor, target) {
		return true
	}
	return hungry(e) && float64(e.Held) < float64(target)*(1-tolerance)
}

// A floor is at most a quarter of an equal part.
func floorOf(whole, floor, n Part) Part { return min(floor, whole/(4*n)) }
