package payload

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
)

// MaxSize bounds the size of one record's value, in bytes.
const MaxSize = 64 << 20

// Sizes is the distribution of the records' sizes: of the whole value, stamp
// included, in bytes.
type Sizes struct {
	// Distribution is fixed (Values: the size), uniform (Values: smallest and
	// largest), normal (Values: mean and standard deviation, cut off at four
	// deviations and at one byte) or list (Values: equally likely sizes).
	Distribution string
	Values       []int
}

func (s Sizes) validate() error {
	want := map[string]int{"fixed": 1, "uniform": 2, "normal": 2, "list": len(s.Values)}
	n, known := want[s.Distribution]
	switch {
	case !known:
		return fmt.Errorf("there is no size distribution %q; there is fixed, uniform, normal, list", s.Distribution)
	case len(s.Values) != n || n == 0:
		return fmt.Errorf("the size distribution %s does not take %d values", s.Distribution, len(s.Values))
	case s.Distribution == "uniform" && s.Values[0] > s.Values[1]:
		return errors.New("the smallest size is above the largest")
	case s.Min() < 1:
		return fmt.Errorf("a record has at least one byte, not %d", s.Min())
	case s.Max() > MaxSize:
		return fmt.Errorf("a record of %d bytes is larger than %d", s.Max(), MaxSize)
	}
	return nil
}

// normalCut is how many standard deviations a normal size may be from its mean.
const normalCut = 4

// Min is the smallest size that can occur.
func (s Sizes) Min() int {
	if s.Distribution == "normal" {
		return max(1, s.Values[0]-normalCut*s.Values[1])
	}
	return slices.Min(s.Values)
}

// Max is the largest size that can occur.
func (s Sizes) Max() int {
	if s.Distribution == "normal" {
		return s.Values[0] + normalCut*s.Values[1]
	}
	return slices.Max(s.Values)
}

// draw returns the size of the next record.
func (s Sizes) draw(r *rand.Rand) int {
	switch s.Distribution {
	case "uniform":
		return s.Values[0] + r.IntN(s.Values[1]-s.Values[0]+1)
	case "normal":
		size := float64(s.Values[0]) + r.NormFloat64()*float64(s.Values[1])
		return min(max(int(size), s.Min()), s.Max())
	case "list":
		return s.Values[r.IntN(len(s.Values))]
	default:
		return s.Values[0]
	}
}
