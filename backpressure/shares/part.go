package shares

// Part is a part of the bound in millionths. Whole numbers give every member the same
// sum.
type Part int64

// Whole is all of the bound.
const Whole Part = 1_000_000

// DefaultFloor is the part that an idle member keeps, so that it can start.
const DefaultFloor = Whole / 20

// PartOf returns a part that covers n records of a bound, rounded up; at most [Whole], and Whole if
// the bound is not positive.
func PartOf(n, bound int64) Part {
	switch {
	case n <= 0:
		return 0
	case n >= bound:
		return Whole
	}
	return Part(float64(n)/float64(bound)*float64(Whole)) + 1
}

// Of returns the part of a whole.
func (p Part) Of(whole float64) float64 { return whole * float64(p) / float64(Whole) }
