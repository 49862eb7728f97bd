package payload

import (
	"encoding/binary"
	"math/rand/v2"
	"strings"
)

// Classes are the names of the payload classes.
var Classes = []string{"random", "zeros", "text", "json", "logline", "mixed"}

// generator appends a body to dst until dst has at least end bytes; the caller cuts off the rest. It depends only
// on random and number.
type generator func(dst []byte, end int, random *rand.Rand, number int) []byte

var generators = map[string]generator{
	"random":  appendRandom,
	"zeros":   appendZeros,
	"text":    appendText,
	"json":    appendJSON,
	"logline": appendLogLines,
	"mixed":   appendMixed,
}

func classList() string { return strings.Join(Classes, ", ") }

func appendRandom(dst []byte, end int, random *rand.Rand, _ int) []byte {
	for len(dst) < end {
		dst = binary.LittleEndian.AppendUint64(dst, random.Uint64())
	}
	return dst
}

func appendZeros(dst []byte, end int, _ *rand.Rand, _ int) []byte {
	return append(dst, make([]byte, end-len(dst))...)
}

func appendMixed(dst []byte, end int, random *rand.Rand, number int) []byte {
	switch percent := random.IntN(100); {
	case percent < 50:
		return appendJSON(dst, end, random, number)
	case percent < 80:
		return appendLogLines(dst, end, random, number)
	case percent < 95:
		return appendText(dst, end, random, number)
	default:
		return appendRandom(dst, end, random, number)
	}
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }
