package payload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// MaxSize bounds the size of one record's value, in bytes.
const MaxSize = 64 << 20

// Sizes is the distribution of the sizes of whole values, with their stamps, in bytes.
type Sizes struct {
	// Distribution is fixed (Values: the size), uniform (Values: smallest and largest), normal (Values: mean and
	// standard deviation) or list (Values: equally likely sizes). Normal sizes are cut off at four deviations and
	// at one byte.
	Distribution string
	Values       []int
}

// in standard deviations
const normalCut = 4

func (s Sizes) validate() error {
	takes, known := map[string]int{"fixed": 1, "uniform": 2, "normal": 2, "list": max(1, len(s.Values))}[s.Distribution]
	switch v := s.Values; {
	case !known:
		return fmt.Errorf("payload: size distribution %q is not known; choose one of fixed, uniform, normal, list",
			s.Distribution)
	case len(v) != takes:
		return fmt.Errorf("payload: size distribution %s has %d values; give %d", s.Distribution, len(v), takes)
	case s.Distribution == "uniform" && v[0] > v[1]:
		return fmt.Errorf("payload: the smallest size, %d, is above the largest, %d", v[0], v[1])
	case s.Distribution == "normal" && (v[0] < 1 || v[1] < 0 || v[1] > MaxSize):
		return fmt.Errorf("payload: normal sizes with mean %d and standard deviation %d; give a mean above zero, and a deviation of zero or more", v[0], v[1])
	case s.Min() < 1:
		return fmt.Errorf("payload: a record of %d bytes; give at least one byte", s.Min())
	case s.Max() > MaxSize:
		return fmt.Errorf("payload: a record of %d bytes; give at most %d", s.Max(), MaxSize)
	}
	return nil
}

// Min returns the smallest possible size; 0 without Values.
func (s Sizes) Min() int {
	switch {
	case len(s.Values) == 0:
		return 0
	case s.Distribution == "normal" && len(s.Values) == 2:
		return max(1, s.Values[0]-normalCut*s.Values[1])
	}
	return slices.Min(s.Values)
}

// Max returns the largest possible size; 0 without Values.
func (s Sizes) Max() int {
	switch {
	case len(s.Values) == 0:
		return 0
	case s.Distribution == "normal" && len(s.Values) == 2:
		return s.Values[0] + normalCut*s.Values[1]
	}
	return slices.Max(s.Values)
}

func (s Sizes) draw(random *rand.Rand) int {
	switch s.Distribution {
	case "uniform":
		return s.Values[0] + random.IntN(s.Values[1]-s.Values[0]+1)
	case "normal":
		// Rounded before the addition: a fused multiply-add would give other sizes on other processors.
		deviation := math.Round(random.NormFloat64() * float64(s.Values[1]))
		return min(max(s.Values[0]+int(deviation), s.Min()), s.Max())
	case "list":
		return pick(random, s.Values)
	default:
		return s.Values[0]
	}
}
