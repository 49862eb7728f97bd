package payload

import (
	"fmt"
	"math/rand/v2"
)

// KeySpec says which keys records have.
type KeySpec struct {
	// Distribution is none, sequential (key 0, 1, 2 … and again), uniform or
	// zipf over Count keys.
	Distribution string
	Count        int
	Skew         float64 // zipf: the exponent, above 1
	Seed         uint64
}

// maxKeys bounds the keys that are kept in memory.
const maxKeys = 10_000_000

// drawnKeys is the period after which drawn keys repeat.
const drawnKeys = 1 << 17

// Keys gives each record its key, as a function of seed and sequence.
type Keys struct {
	keys [][]byte
	// drawn is the index of the key of sequence s, at s mod its length; nil is
	// sequential.
	drawn []uint32
}

// NewKeys makes the keys.
func NewKeys(spec KeySpec) (*Keys, error) {
	if spec.Distribution == "none" {
		return &Keys{}, nil
	}
	if spec.Count < 1 || spec.Count > maxKeys {
		return nil, fmt.Errorf("the number of keys is between 1 and %d, not %d", maxKeys, spec.Count)
	}
	k := &Keys{keys: make([][]byte, spec.Count)}
	for i := range k.keys {
		k.keys[i] = fmt.Appendf(nil, "key-%08d", i)
	}
	rng := rand.New(rand.NewPCG(spec.Seed, 0x6b657973))
	switch spec.Distribution {
	case "sequential":
	case "uniform":
		k.draw(func() uint64 { return rng.Uint64N(uint64(spec.Count)) })
	case "zipf":
		zipf := rand.NewZipf(rng, spec.Skew, 1, uint64(spec.Count-1))
		if zipf == nil {
			return nil, fmt.Errorf("the skew of zipf keys is above 1, not %v", spec.Skew)
		}
		k.draw(zipf.Uint64)
	default:
		return nil, fmt.Errorf("there is no key distribution %q; there is none, sequential, uniform, zipf", spec.Distribution)
	}
	return k, nil
}

func (k *Keys) draw(next func() uint64) {
	k.drawn = make([]uint32, drawnKeys)
	for i := range k.drawn {
		k.drawn[i] = uint32(next())
	}
}

// Key is the key of the record with this sequence, shared and not to be
// written; nil if records have none.
func (k *Keys) Key(sequence uint64) []byte {
	switch {
	case k.keys == nil:
		return nil
	case k.drawn == nil:
		return k.keys[sequence%uint64(len(k.keys))]
	default:
		return k.keys[k.drawn[sequence%drawnKeys]]
	}
}
