package unit

import (
	"fmt"
	"math/big"
	"regexp"
	"strings"
)

// ParseCount reads a whole number, also negative: 12, 50M, 2.5k, 1_000_000, 1e6.
func ParseCount(s string) (int64, error) {
	size, negative := strings.CutPrefix(s, "-")
	number, rest, ok := splitNumber(size)
	multiplier, known := parseMultiplier(rest)
	switch {
	case ok && known:
		number.Mul(number, new(big.Rat).SetInt64(multiplier))
	case ok && isExponent(rest):
		number, _ = new(big.Rat).SetString(size)
	default:
		number = nil
	}
	if number != nil && negative {
		number.Neg(number)
	}
	if number != nil && number.IsInt() && number.Num().IsInt64() {
		return number.Num().Int64(), nil
	}
	hint := "as in 12"
	if plain := grouping.Replace(size); plain != size && isDigits(plain) && inThousands.MatchString(size) {
		hint = "without separators: " + plain
	}
	return 0, fmt.Errorf("%q is not a whole number; write a whole number, %s", s, hint)
}

// inThousands is a number whose separators part thousands, and no list.
var inThousands = regexp.MustCompile(`^\d{1,3}(?:[,'\s]\d{3})+$|'`)

func isExponent(rest string) bool {
	digits, ok := strings.CutPrefix(strings.ToLower(rest), "e")
	return ok && len(digits) > 0 && len(digits) <= 2 && isDigits(digits)
}
