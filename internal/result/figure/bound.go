package figure

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// 0 needs no unit.
func (k Kind) parseBound(text string) (v float64, canonical string, err error) {
	switch text {
	case "":
		return 0, "", errors.New("there is no bound; write " + k.example())
	case "0":
		return 0, "0", nil
	}
	switch k {
	case Nanoseconds:
		return parseDuration(text)
	case PerSecond:
		return parseRate(text)
	case BytesPerSecond:
		size, perSecond := strings.CutSuffix(text, "/s")
		if !perSecond {
			return 0, "", fmt.Errorf("%q does not say per what; write %s", text, k.example())
		}
		s, err := unit.ParseSize(size)
		return float64(s), s.String() + "/s", err
	case Bytes:
		s, err := unit.ParseSize(text)
		return float64(s), s.String(), err
	case Records, Count:
		n, err := unit.ParseCount(strings.TrimPrefix(text, "+"))
		if err != nil {
			return 0, "", err
		}
		return float64(n), strconv.FormatInt(n, 10), nil
	}
	return k.parseDecimal(text)
}

func (k Kind) example() string {
	switch k {
	case Nanoseconds:
		return "50ms"
	case PerSecond:
		return "10k/s"
	case BytesPerSecond:
		return "5MB/s"
	case Bytes:
		return "80MB"
	case Ratio:
		return "0.999 or 99.9%"
	case Number:
		return "1.25"
	}
	return "20000"
}

func parseDuration(text string) (v float64, canonical string, err error) {
	d, err := unit.ParseDuration(text)
	if err != nil {
		return 0, "", err
	}
	return float64(d), d.String(), nil
}

// A rate may be negative, because a backlog may shrink.
func parseRate(text string) (v float64, canonical string, err error) {
	size, negative := strings.CutPrefix(text, "-")
	r, err := unit.ParseRate(size)
	switch {
	case err != nil:
		return 0, "", err
	case r.IsMax():
		return 0, "", errors.New("max is no bound; write 10k/s")
	case negative && r.Records != 0:
		return -r.PerSecond(), "-" + r.String(), nil
	}
	return r.PerSecond(), r.String(), nil
}

// The result is exact until the final conversion.
func (k Kind) parseDecimal(text string) (v float64, canonical string, err error) {
	number, percent := strings.CutSuffix(text, "%")
	digits := mostDigits
	if percent {
		digits -= 10 // division by 100 adds digits, and the result must be readable
	}
	exact, ok := decimal(number, digits)
	if !ok || percent && k != Ratio {
		return 0, "", fmt.Errorf("%q is not a number; write %s", text, k.example())
	}
	if percent {
		exact.Quo(exact, big.NewRat(100, 1))
	}
	v, _ = exact.Float64()
	return v, strconv.FormatFloat(v, 'f', -1, 64), nil
}

const mostDigits = 30

func decimal(text string, most int) (*big.Rat, bool) {
	digits := strings.TrimPrefix(text, "-")
	if len(digits) > most || strings.Trim(digits, "0123456789.") != "" {
		return nil, false
	}
	whole, part, point := strings.Cut(digits, ".")
	if whole == "" || point && part == "" || strings.Contains(part, ".") {
		return nil, false
	}
	return new(big.Rat).SetString(text)
}

// near formats v, exactly if rounding would make it look like the bound that it missed.
func (f Figure) near(v, bound float64) string {
	text := f.Format(v)
	if v == bound || text != f.Format(bound) || math.IsInf(v, 0) {
		return text
	}
	exact := strconv.FormatFloat(v, 'f', -1, 64)
	switch f.Kind {
	case Nanoseconds:
		return exact + " ns"
	case PerSecond:
		return exact + "/s"
	case Bytes:
		return exact + " B"
	case BytesPerSecond:
		return exact + " B/s"
	}
	return exact
}
