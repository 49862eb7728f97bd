package report

import (
	"math"
	"strconv"
	"time"
)

// raw prints a number to the last digit, without an exponent and without
// separators.
func raw(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

func integer(n int64) string { return strconv.FormatInt(n, 10) }

func flag(b bool) string { return strconv.FormatBool(b) }

// optional prints what a pointer points to.
func optional[T int64 | float64](p *T) string {
	if p == nil {
		return ""
	}
	return raw(float64(*p))
}

func date(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
