package unit

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// NotAvailable is printed for a figure that is not a number.
const NotAvailable = "n/a"

// Absent is printed in tables for a missing figure.
const Absent = "–"

// Count prints n with separated thousands: 309,435.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteByte(digits[i])
	}
	return b.String()
}

// Things prints a number of things in words: 1 commit, 3 commits.
func Things(n int64, singular string) string {
	if n == 1 {
		return "1 " + singular
	}
	return Count(n) + " " + singular + "s"
}

// Decimals prints v with n decimals.
func Decimals(v float64, n int) string { return strconv.FormatFloat(v, 'f', n, 64) }

// Nanos prints a time in nanoseconds with three significant digits: 17.0 ms. From 1,000 s it prints whole seconds:
// 3,600 s.
func Nanos(ns int64) string { return scaled(ns, "ns", "µs", "ms", "s") }

// NanosWithin prints a time with its error in the same unit, rounded up to the time's last digit: 4.21 ms ± 0.13
// ms. It omits an error of 0, and returns Absent if the time is not above its error.
func NanosWithin(ns, errorNs int64) string {
	text := Nanos(ns)
	switch {
	case errorNs == 0:
		return text
	case ns <= errorNs:
		return Absent
	}
	number, name, _ := strings.Cut(text, " ")
	step := map[string]int64{"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}[name] // of the last digit
	decimals, tens := 0, 1.0
	if _, fraction, found := strings.Cut(number, "."); found {
		decimals = len(fraction)
	}
	for range decimals {
		step, tens = step/10, tens*10
	}
	shown := float64((errorNs+step-1)/step) / tens
	return text + " ± " + Decimals(shown, decimals) + " " + name
}

// Span prints a duration as in speech: 36 s, 1 min 6 s, 2 h, 500 ms. From one second on it is exact to 0.1 s.
func Span(d time.Duration) string {
	if -time.Second < d && d < time.Second {
		return Nanos(int64(d))
	}
	sign := ""
	if d < 0 {
		sign, d = "-", max(-d, 0)
	}
	d = d.Round(100 * time.Millisecond)
	var parts []string
	if hours := int64(d / time.Hour); hours > 0 {
		parts = append(parts, Count(hours)+" h")
	}
	if minutes := int64(d % time.Hour / time.Minute); minutes > 0 {
		parts = append(parts, Count(minutes)+" min")
	}
	if rest := d % time.Minute; rest > 0 {
		parts = append(parts, strconv.FormatFloat(rest.Seconds(), 'f', -1, 64)+" s")
	}
	return sign + strings.Join(parts, " ")
}

// Bytes prints a number of bytes with three significant digits, in powers of ten: 78.3 MB.
func Bytes(bytes int64) string { return scaled(bytes, "B", "kB", "MB", "GB", "TB") }

func scaled(n int64, units ...string) string {
	if -1000 < n && n < 1000 {
		return strconv.FormatInt(n, 10) + " " + units[0]
	}
	v, i := float64(n), 0
	for math.Abs(v) >= roundTo[3] && i < len(units)-1 {
		v /= 1000
		i++
	}
	if math.Abs(v) >= roundTo[3] {
		return Count(int64(math.Round(v))) + " " + units[i]
	}
	return digits3(v) + " " + units[i]
}

// PerSecond prints a rate: 9,924/s, and below a hundred with three significant digits: 12.5/s, 0.500/s.
func PerSecond(perSecond float64) string {
	size := math.Abs(perSecond)
	switch {
	case math.IsNaN(size) || math.IsInf(size, 0):
		return NotAvailable
	case size >= math.MaxInt64:
		return strconv.FormatFloat(perSecond, 'g', 3, 64) + "/s"
	case size >= roundTo[2] || size == 0:
		return Count(int64(math.Round(perSecond))) + "/s"
	}
	return digits3(perSecond) + "/s"
}

// Percent prints a ratio in percent with two decimals: 99.98 %. Rounding never yields 0 or 100 %: 0.999999 is ">
// 99.99 %". A ratio slightly above 1 is 100.00 %.
func Percent(ratio float64) string {
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return NotAvailable
	}
	text := strconv.FormatFloat(ratio*100, 'f', 2, 64)
	switch {
	case text == "100.00" && ratio < 1:
		return "> 99.99 %"
	case text == "0.00" && ratio > 0:
		return "< 0.01 %"
	case text == "-0.00":
		text = "0.00"
	}
	return text + " %"
}

// roundTo has the lowest values that are 1.00, 10.0, 100 and 1000 with three significant digits.
var roundTo = [...]float64{0.9995, 9.995000000000001, 99.95, 999.5}

// v is below a thousand.
func digits3(v float64) string {
	decimals := 3
	for decimals > 0 && math.Abs(v) >= roundTo[3-decimals] {
		decimals--
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// Seconds prints seconds with three significant digits in a suitable unit.
func Seconds(s float64) string { return Nanos(int64(s * 1e9)) }

// WholePercent prints a ratio in percent, without decimals.
func WholePercent(ratio float64) string { return Decimals(100*ratio, 0) + " %" }

// ShortPercent prints a ratio in percent with at most three decimals, without trailing zeros: 5 %, 0.5 %.
func ShortPercent(ratio float64) string {
	return strings.TrimRight(strings.TrimRight(Decimals(ratio*100, 3), "0"), ".") + " %"
}

// Factor prints a ratio: with two decimals, with three below 0.1, and with five below 0.001. It has
// one decimal from 10 on, and none from 100 on.
func Factor(v float64) string {
	switch {
	case v >= 100:
		return Decimals(v, 0)
	case v >= 10:
		return Decimals(v, 1)
	case v > 0 && v < 0.001:
		return Decimals(v, 5)
	case v > 0 && v < 0.1:
		return Decimals(v, 3)
	}
	return Decimals(v, 2)
}
