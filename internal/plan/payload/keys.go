package payload

import (
	"fmt"
	"math/bits"
)

// KeySpec describes the keys of records.
type KeySpec struct {
	// Distribution is none (or ""), sequential, uniform or zipf over Count keys.
	Distribution string
	Count        int     // 1 to MaxKeys
	Skew         float64 // zipf: the frequency of key k is proportional to 1/(k+1)^Skew
	Seed         uint64
}

// MaxKeys bounds the number of keys. Each takes 12 bytes of memory, with zipf 20.
const MaxKeys = 10_000_000

// "key-00000042"
const keySize = len("key-") + 8

// Keys gives each record its key, which depends only on the seed and the record's number. Several
// goroutines may use one Keys. The zero Keys has no keys.
type Keys struct {
	bytes []byte
	count uint64
	seed  uint64
	draw  keyDraw
	alias aliases
}

type keyDraw uint8

const (
	drawNone keyDraw = iota
	drawSequential
	drawUniform
	drawZipf
)

var keyDraws = map[string]keyDraw{
	"": drawNone, "none": drawNone, "sequential": drawSequential, "uniform": drawUniform, "zipf": drawZipf,
}

// NewKeys makes the keys.
func NewKeys(spec KeySpec) (*Keys, error) {
	draw, known := keyDraws[spec.Distribution]
	switch {
	case !known:
		return nil, fmt.Errorf("payload: key distribution %q is not known; choose one of none, sequential, uniform, zipf", spec.Distribution)
	case draw == drawNone:
		return &Keys{}, nil
	case spec.Count < 1 || spec.Count > MaxKeys:
		return nil, fmt.Errorf("payload: %d keys; give 1 to %d", spec.Count, MaxKeys)
	case draw == drawZipf && !(spec.Skew > 0 && spec.Skew <= 100):
		return nil, fmt.Errorf("payload: zipf keys with skew %v; give an exponent above zero, as in 1.1", spec.Skew)
	}
	k := &Keys{count: uint64(spec.Count), seed: mix(spec.Seed), draw: draw}
	k.bytes = make([]byte, 0, spec.Count*keySize)
	for i := range spec.Count {
		k.bytes = fmt.Appendf(k.bytes, "key-%08d", i)
	}
	if draw == drawZipf {
		k.alias = newAliases(zipfWeights(spec.Count, spec.Skew))
	}
	return k, nil
}

// Key returns the key of the record with number sequence; nil without keys. The caller must not
// change it.
func (k *Keys) Key(sequence uint64) []byte {
	if k.draw == drawNone {
		return nil
	}
	start := k.number(sequence) * uint64(keySize)
	end := start + uint64(keySize)
	return k.bytes[start:end:end]
}

func (k *Keys) number(sequence uint64) uint64 {
	switch k.draw {
	case drawSequential:
		return sequence % k.count
	case drawZipf:
		return k.alias.pick(mix(k.seed + sequence))
	default:
		number, _ := bits.Mul64(mix(k.seed+sequence), k.count)
		return number
	}
}

// mix is the finaliser of SplitMix64 (Steele, Lea, Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
