// Package unit reads and prints the quantities in input files: rates, sizes, durations, shares.
//
// Reading takes what has one meaning (5k, 5000/s and 5k msg/s are the same rate), and refuses what has several (64KB,
// a time without a unit): the error names them. It is exact: 2.5k/s is the fraction 2500/1, not a float. String prints
// the canonical form, and the parser of the type reads it back. The functions for reports, Count, Nanos, Span, Bytes,
// PerSecond and Percent, round.
//
// Files to know: rate.go, size.go, duration.go, count.go, share.go, format.go.
package unit

import (
	"math/big"
	"strings"
)

// maxDigits bounds the digits of a number; an int64 needs at most 19.
const maxDigits = 40

// splitNumber splits s into an unsigned decimal number, which may have _ between digits, and the rest without spaces;
// ok is false if s does not begin with a number.
func splitNumber(s string) (number *big.Rat, rest string, ok bool) {
	end := strings.IndexFunc(s, func(r rune) bool { return r != '.' && r != '_' && (r < '0' || r > '9') })
	if end < 0 {
		end = len(s)
	}
	written := s[:end]
	digits := strings.ReplaceAll(written, "_", "")
	if digits == "" || len(digits) > maxDigits || strings.Trim(written, "._") != written {
		return nil, s, false
	}
	number, ok = new(big.Rat).SetString(digits)
	return number, strings.TrimSpace(s[end:]), ok
}

// numberOf returns the number that s begins with, as written, without the rest.
func numberOf(s, rest string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), rest))
}

// decimal returns false above 9 decimals.
func decimal(r *big.Rat) (string, bool) {
	digits, exact := r.FloatPrec()
	if !exact || digits > 9 {
		return "", false
	}
	return r.FloatString(digits), true
}
