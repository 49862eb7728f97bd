// Package unit reads and prints the quantities in input files: rates, sizes, durations, shares.
//
// Reading is strict (kB is 1000 bytes, KiB is 1024, Kb is neither) and exact (2.5k/s is the fraction 2500/1, not a
// float). Every quantity has a unit, and an error says what to write. The parser of a type reads back what its String
// prints. The functions for reports, Count, Nanos, Span, Bytes, PerSecond and Percent, round.
//
// Files to know: rate.go, size.go, duration.go, share.go, format.go.
package unit

import (
	"math/big"
	"strings"
)

// maxDigits bounds the digits of a number; an int64 needs at most 19.
const maxDigits = 40

// splitNumber splits s into an unsigned decimal number and the rest; ok is false if s does not begin with one.
func splitNumber(s string) (number *big.Rat, rest string, ok bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(s)
	}
	digits := s[:end]
	if digits == "" || len(digits) > maxDigits || digits[0] == '.' || digits[end-1] == '.' {
		return nil, s, false
	}
	number, ok = new(big.Rat).SetString(digits)
	return number, s[end:], ok
}

// decimal returns false above 9 decimals.
func decimal(r *big.Rat) (string, bool) {
	digits, exact := r.FloatPrec()
	if !exact || digits > 9 {
		return "", false
	}
	return r.FloatString(digits), true
}
