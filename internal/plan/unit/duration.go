package unit

import (
	"fmt"
	"math/big"
	"strings"
	"time"
)

// Duration is a time.Duration that is written with its unit: 5ms, 1m30s, 0.
type Duration time.Duration

// timeUnits has those of time.ParseDuration and the words for them, in lower case.
var timeUnits = units(map[time.Duration]string{
	time.Nanosecond:  "ns nsec nano nanos nanosecond nanoseconds",
	time.Microsecond: "us µs usec usecs micro micros microsecond microseconds",
	time.Millisecond: "ms msec msecs milli millis millisecond milliseconds",
	time.Second:      "s sec secs second seconds",
	time.Minute:      "m min mins minute minutes",
	time.Hour:        "h hr hrs hour hours",
	24 * time.Hour:   "d day days",
})

func units(words map[time.Duration]string) map[string]time.Duration {
	all := make(map[string]time.Duration)
	for unit, names := range words {
		for name := range strings.FieldsSeq(names) {
			all[name] = unit
		}
	}
	return all
}

// ParseDuration reads a duration like time.ParseDuration, also zero and negative ones; also with the word for its unit
// (20 seconds, 2d) and in ISO 8601 (PT1M30S). A number without a unit is refused: others mean seconds or milliseconds.
func ParseDuration(s string) (Duration, error) {
	if d, err := time.ParseDuration(s); err == nil {
		return Duration(d), nil
	}
	if iso, is := strings.CutPrefix(strings.ToLower(s), "pt"); is {
		if d, err := time.ParseDuration(iso); err == nil {
			return Duration(d), nil
		}
	}
	number, rest, ok := splitNumber(s)
	unit, known := timeUnits[strings.ToLower(rest)]
	switch {
	case ok && rest == "":
		return 0, fmt.Errorf("duration %q: it has no unit; write %[2]ss or %[2]sms", s, numberOf(s, rest))
	case ok && rest == "M":
		return 0, fmt.Errorf("duration %q: M may be a month; write %sm", s, numberOf(s, rest))
	case !ok || !known:
		return 0, fmt.Errorf("duration %q: not a duration; write it as 5ms, 2s or 1m30s", s)
	}
	number.Mul(number, new(big.Rat).SetInt64(int64(unit)))
	switch {
	case !new(big.Int).Quo(number.Num(), number.Denom()).IsInt64():
		return 0, fmt.Errorf("duration %q: too long; write at most 290 years", s)
	case !number.IsInt():
		return 0, fmt.Errorf("duration %q: it is not a whole number of nanoseconds", s)
	}
	return Duration(number.Num().Int64()), nil
}

// String prints d in the shortest form that ParseDuration reads: 1m, not 1m0s.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// MarshalText prints d like String.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads text like ParseDuration.
func (d *Duration) UnmarshalText(text []byte) error {
	parsed, err := ParseDuration(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
