package unit

import (
	"fmt"
	"strings"
	"time"
)

// Duration is a time.Duration that is written with its unit: 5ms, 1m30s, 0.
type Duration time.Duration

// ParseDuration reads a duration like time.ParseDuration, also zero and negative ones.
func ParseDuration(s string) (Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil {
		return Duration(d), nil
	}
	if hint := durationHint(s); hint != "" {
		return 0, fmt.Errorf("duration %q: %s", s, hint)
	}
	return 0, fmt.Errorf("duration %q: not a duration; write it as 5ms, 2s or 1m30s", s)
}

func durationHint(s string) string {
	if iso, is := strings.CutPrefix(strings.ToLower(s), "pt"); is {
		return written(iso)
	}
	number, rest, ok := splitNumber(s)
	if !ok {
		return ""
	}
	digits := strings.TrimSuffix(s, rest)
	switch unit := strings.ToLower(strings.TrimSpace(rest)); unit {
	case "":
		return fmt.Sprintf("it has no unit; write %ss or %sms", digits, digits)
	case "h", "m", "s", "ms", "us", "µs", "ns":
		if hint := written(digits + unit); hint != "" {
			return hint
		}
		return fmt.Sprintf("write %s%s, at most 290 years", digits, unit)
	case "hr", "hrs", "hour", "hours":
		return fmt.Sprintf("write %sh", digits)
	case "min", "mins", "minute", "minutes":
		return fmt.Sprintf("write %sm", digits)
	case "sec", "secs", "second", "seconds":
		return fmt.Sprintf("write %ss", digits)
	case "d", "day", "days":
		if number.IsInt() && number.Num().IsInt64() && number.Num().Int64() <= 10_000 {
			return fmt.Sprintf("write %dh", number.Num().Int64()*24)
		}
	case "msec", "msecs", "milli", "millis", "millisecond", "milliseconds":
		return fmt.Sprintf("write %sms", digits)
	case "usec", "usecs", "micro", "micros", "microsecond", "microseconds":
		return fmt.Sprintf("write %sus", digits)
	}
	return ""
}

func written(s string) string {
	if _, err := time.ParseDuration(s); err != nil {
		return ""
	}
	return "write " + s
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
