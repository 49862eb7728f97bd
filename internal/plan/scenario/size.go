package scenario

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// normalReach is how many standard deviations a normal size may differ from its mean before it is
// cut.
const normalReach = 4

// Bounds returns the smallest and the largest size of a record. Normal sizes lie within four
// standard deviations of their mean and are at least one byte. Without values both are 0.
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
