package scenario

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// normalReach is how many standard deviations a normal size may be off its
// mean before it is cut.
const normalReach = 4

// Bounds are the smallest and the largest size that a record may have. Normal
// sizes are taken to lie within four standard deviations of their mean, and are
// never below one byte. A Size without values has the bounds 0 and 0.
func (s Size) Bounds() (smallest, largest unit.Size) {
	switch {
	case len(s.Values) == 0:
		return 0, 0
	case s.Distribution == "normal" && len(s.Values) == 2:
		mean, reach := s.Values[0], normalReach*s.Values[1]
		return max(1, mean-reach), mean + reach
	default:
		return slices.Min(s.Values), slices.Max(s.Values)
	}
}
