// Package unit reads and prints the quantities that a person writes: rates,
// sizes, durations, shares.
//
// A benchmark whose 64kB turns out to have been 65,536 bytes has measured
// something that nobody asked for. So reading is strict (kB is 1000 bytes and
// KiB is 1024, Kb is neither) and exact (2.5k/s is the fraction 2500/1, never a
// float), every quantity carries its unit, and an error says what would have
// been right. What String prints, the parser of the same type reads back as the
// same value. Printing for reports is another matter: Count, Nanos, Span, Bytes,
// PerSecond and Percent round for the eye, and are not meant to be read back.
//
// Files to know: rate.go, size.go, duration.go, share.go, format.go.
package unit

import (
	"math/big"
	"strings"
)

// maxDigits bounds the number part of an input. No int64 needs more than 19
// digits; the rest is room for decimals.
const maxDigits = 40

// splitNumber splits s into a decimal number without a sign ("2.5") and what
// follows it ("k/s"). It reports false where s does not begin with one.
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

// decimal prints r as a decimal number without an exponent; false where that
// number has no end, or more digits than anybody reads.
func decimal(r *big.Rat) (string, bool) {
	digits, exact := r.FloatPrec()
	if !exact || digits > 9 {
		return "", false
	}
	return r.FloatString(digits), true
}
