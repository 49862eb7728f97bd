package payload

import (
	"math"
	"math/bits"
)

// aliases draws weighted numbers in constant time (Walker 1977; built as in Vose 1991). A slot
// stands for one number up to a threshold, and for the number's alias above.
type aliases []aliasSlot

type aliasSlot struct {
	threshold uint32 // in 2⁻³² of the slot
	alias     uint32
}

func zipfWeights(count int, skew float64) []float64 {
	weights := make([]float64, count)
	for k := range weights {
		weights[k] = math.Pow(float64(k+1), -skew)
	}
	return weights
}

// newAliases overwrites weights.
func newAliases(weights []float64) aliases {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	var small, large []uint32
	for i := range weights {
		weights[i] *= float64(len(weights)) / sum
		if weights[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	table := make(aliases, len(weights))
	for i := range table {
		table[i] = aliasSlot{math.MaxUint32, uint32(i)}
	}
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[s] = aliasSlot{uint32(weights[s] * (1 << 32)), l}
		weights[l] -= 1 - weights[s]
		if weights[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	return table
}

// Of random × slots, the high part is the slot, the low part the place in it.
func (a aliases) pick(random uint64) uint64 {
	at, place := bits.Mul64(random, uint64(len(a)))
	slot := a[at]
	if uint32(place>>32) < slot.threshold {
		return at
	}
	return uint64(slot.alias)
}
