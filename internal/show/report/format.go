package report

import (
	"strconv"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// seconds prints a length on the time axis with at most one decimal: 20 s,
// 0.7 s, -3 s.
func seconds(ns int64) string {
	tenths := (ns + 50_000_000) / 100_000_000
	if ns < 0 {
		tenths = (ns - 50_000_000) / 100_000_000
	}
	if tenths%10 == 0 {
		return unit.Count(tenths/10) + " s"
	}
	return strconv.FormatFloat(float64(tenths)/10, 'f', 1, 64) + " s"
}

// share prints the part of the whole in percent, and nothing of an empty whole.
func share(part, whole int64) string {
	if whole == 0 {
		return unit.Absent
	}
	return unit.Percent(float64(part) / float64(whole))
}
