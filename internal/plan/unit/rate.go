package unit

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Rate is an exact number of records in a time: Records/Per. The zero Rate means "not set", which is not 0/s.
//
// Equal rates are equal under ==: ParseRate returns lowest terms over whole seconds (100/min is {5, 3s}).
type Rate struct {
	Records int64
	Per     time.Duration
}

// MaxRate is as fast as possible: a closed loop, without a schedule.
var MaxRate = Rate{Records: -1}

// IsMax reports whether r is MaxRate.
func (r Rate) IsMax() bool { return r == MaxRate }

// IsZero reports whether r is not set. 0/s is set.
func (r Rate) IsZero() bool { return r == Rate{} }

// PerSecond returns r in records per second; +Inf for MaxRate, 0 if r is not set.
func (r Rate) PerSecond() float64 {
	switch {
	case r.IsMax():
		return math.Inf(1)
	case r.Per == 0:
		return 0
	}
	return float64(r.Records) / float64(r.Per) * 1e9
}

var (
	multipliers = []struct {
		name string
		of   int64
	}{{"", 1}, {"k", 1000}, {"M", 1_000_000}}

	periods = []struct {
		name string
		of   time.Duration
	}{{"s", time.Second}, {"min", time.Minute}, {"h", time.Hour}}

	// words may stand between the number and the slash.
	words = []string{"msg", "msgs", "message", "messages", "record", "records"}
)

// ParseRate reads a rate: 500/s, 10k/s, 2.5k/s, 1M/s (k is 1000, M a million), 100/min, 36/h, 5/3s (five in every
// three seconds), or max. Without a period it is per second, and -1 is max. A rate cannot be negative; 0/s is valid.
func ParseRate(s string) (Rate, error) {
	if s == "max" || s == "-1" {
		return MaxRate, nil
	}
	count, period, slash := strings.Cut(s, "/")
	number, rest, ok := splitNumber(count)
	switch {
	case strings.HasPrefix(s, "-"):
		return Rate{}, fmt.Errorf("rate %q: a rate cannot be negative; max is as fast as it goes", s)
	case !ok:
		return Rate{}, fmt.Errorf("rate %q: not a rate; write it as 10000/s, 10k/s, 100/min or max", s)
	}
	multiplier, ok := parseMultiplier(withoutWord(rest))
	if !ok {
		if plain := grouping.Replace(count); isDigits(plain) && inThousands.MatchString(count) {
			return Rate{}, fmt.Errorf("rate %q: a number has no separators; write %s/s", s, plain)
		}
		const problem = "rate %q: unknown multiplier %q; write %[3]s/s, %[3]sk/s (thousands) or %[3]sM/s (millions)"
		return Rate{}, fmt.Errorf(problem, s, rest, numberOf(count, rest))
	}
	per := time.Second
	if slash {
		if per, ok = parsePeriod(strings.TrimSpace(period)); !ok {
			return Rate{}, fmt.Errorf("rate %q: unknown period %q; write %[3]s/s, %[3]s/min or %[3]s/h", s, period, count)
		}
	}
	number.Mul(number, big.NewRat(multiplier*int64(time.Second), int64(per)))
	return lowest(s, number)
}

var grouping = strings.NewReplacer(",", "", "'", "")

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// withoutWord returns "k" for "k msg" and "" for "records".
func withoutWord(rest string) string {
	multiplier, word, spaced := strings.Cut(rest, " ")
	if !spaced && len(rest) > 1 {
		multiplier, word = "", rest
	}
	if slices.Contains(words, word) {
		return multiplier
	}
	return rest
}

func parseMultiplier(name string) (int64, bool) {
	if name == "K" { // nobody counts records by 1,024
		name = "k"
	}
	for _, m := range multipliers {
		if m.name == name {
			return m.of, true
		}
	}
	return 0, false
}

func parsePeriod(name string) (time.Duration, bool) {
	for _, p := range periods {
		if p.name == name {
			return p.of, true
		}
	}
	if one, ok := timeUnits[name]; ok && name != "m" { // of a rate, m may also be a month or a thousandth
		return one, true
	}
	d, err := time.ParseDuration(name)
	return d, err == nil && d > 0
}

func lowest(s string, perSecond *big.Rat) (Rate, error) {
	records, seconds := perSecond.Num(), perSecond.Denom()
	if !records.IsInt64() {
		return Rate{}, fmt.Errorf("rate %q: too high", s)
	}
	if !seconds.IsInt64() || seconds.Int64() > math.MaxInt64/int64(time.Second) {
		return Rate{}, fmt.Errorf("rate %q: too precise; give fewer decimals", s)
	}
	return Rate{Records: records.Int64(), Per: time.Duration(seconds.Int64()) * time.Second}, nil
}

// String prints r exactly, as ParseRate reads it back; "" if r is not set. It prints per second if that is a decimal
// number, else per minute or hour (10k/s, 100/min, max).
func (r Rate) String() string {
	switch {
	case r.IsMax():
		return "max"
	case r.Per <= 0 || r.Records < 0:
		return ""
	}
	for _, p := range periods {
		if count, ok := shortestCount(r, p.of); ok {
			return count + "/" + p.name
		}
	}
	// 1/7s is not a finite decimal in any period.
	return strconv.FormatInt(r.Records, 10) + "/" + Duration(r.Per).String()
}

// If two multipliers give equally short texts, shortestCount takes the larger: 2.5k, not 2500.
func shortestCount(r Rate, period time.Duration) (shortest string, ok bool) {
	for _, m := range multipliers {
		count := big.NewRat(int64(period), m.of)
		count.Mul(count, big.NewRat(r.Records, int64(r.Per)))
		text, exact := decimal(count)
		if text += m.name; exact && (!ok || len(text) <= len(shortest)) {
			shortest, ok = text, true
		}
	}
	return shortest, ok
}

// MarshalText prints r like String.
func (r Rate) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads text like ParseRate.
func (r *Rate) UnmarshalText(text []byte) error {
	parsed, err := ParseRate(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}
