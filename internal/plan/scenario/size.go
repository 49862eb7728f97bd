package scenario

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

const normalReach = 4

// HeaderStamp is the Stamp of records that have it in a header.
const HeaderStamp = "header"

// Header reports whether the stamp is in a header.
func (r Record) Header() bool { return r.Stamp == HeaderStamp }

// HeaderBytes returns the bytes of a record's header in a batch; 0 if there is none.
func (r Record) HeaderBytes() unit.Size {
	if r.Header() {
		return unit.Size(payload.HeaderBytes)
	}
	return 0
}

// Bounds returns the smallest and the largest size of a record; both are 0 without values. Normal
// sizes are cut at four standard deviations from the mean and at one byte.
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
