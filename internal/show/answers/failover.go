package answers

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func failover(d *analysis.Study) Answer {
	table := tabulate(d,
		valued("unavailable", "ack_gap_max"), worst("at worst", "ack_gap_max"),
		summed("acked", "acked"), summed("lost", "lost"), summed("duplicates", "duplicates"),
		summed("unknown", "unknown"), summed("failed", "failed"),
		stretched("e2e p99 before", before),
		stretched("e2e p99 during", during),
		stretched("e2e p99 after", after),
		valued("under-replicated", "under_replicated_time"), valued("without a leader", "leaderless_time"),
	)
	var clauses []string
	for _, cell := range d.ValidCells() {
		gap := cell.Of("ack_gap_max")
		if gap.N == 0 {
			clauses = append(clauses, d.Said(cell.Label)+": no run shows how long the topic was unavailable")
			continue
		}
		clause := fmt.Sprintf("%s: a partition took no record for %s", d.Said(cell.Label),
			medianOf(cell, "ack_gap_max"))
		if lost, known := cell.Sum("lost"); known {
			acked, _ := cell.Sum("acked")
			twice, _ := cell.Sum("duplicates")
			clause += fmt.Sprintf(", of %s acked records %s and %s came twice", unit.Count(int64(acked)),
				wereLost(int64(lost)), none(int64(twice)))
		}
		clauses = append(clauses, clause+felt(cell))
	}
	return table.says(phrases(clauses))
}

func felt(c *analysis.Cell) string {
	texts := []string{stretchP99(c, before), stretchP99(c, during), stretchP99(c, after)}
	if texts[0] == unit.Absent && texts[1] == unit.Absent && texts[2] == unit.Absent {
		return ""
	}
	for i, text := range texts {
		if text == unit.Absent {
			texts[i] = "not known"
		}
	}
	return fmt.Sprintf(", and the e2e time p99 was %s before, %s during and %s after it", texts[0], texts[1], texts[2])
}

func none(n int64) string {
	if n == 0 {
		return "none"
	}
	return unit.Count(n)
}

func wereLost(n int64) string {
	switch n {
	case 0:
		return "none was lost"
	case 1:
		return "1 was lost"
	}
	return unit.Count(n) + " were lost"
}

func before(a *result.Availability) *result.Stretch { return a.Before }

func during(a *result.Availability) *result.Stretch { return a.During }

func after(a *result.Availability) *result.Stretch { return a.After }

func stretched(head string, of func(*result.Availability) *result.Stretch) column {
	return column{head, func(c *analysis.Cell) string { return stretchP99(c, of) }}
}

// stretchP99 prints the median over the runs of the e2e response time p99, or else of the e2e
// service time p99, in one period: before, during or after the faults.
func stretchP99(c *analysis.Cell, of func(*result.Availability) *result.Stretch) string {
	var values []float64
	for _, r := range c.Sample.Taken {
		if r.Run.Availability == nil {
			continue
		}
		if s := of(r.Run.Availability); s != nil {
			if ns := e2eP99(&r.Run, s); !math.IsNaN(ns) {
				values = append(values, ns)
			}
		}
	}
	if len(values) == 0 {
		return unit.Absent
	}
	f := analysis.FigureCalled("e2e_response_time_p99")
	return CellMark(c, analysis.FromValues(values), analysis.FromValues(values).Bounded(f))
}

// e2eP99 is NaN if nothing was delivered in the period, or no time is reliable.
func e2eP99(r *result.Run, s *result.Stretch) float64 {
	for _, metric := range []string{"e2e_response_time", "e2e_service_time"} {
		if t, some := s.Time[metric]; some && t.Count > 0 && r.Says("time."+metric) {
			return float64(t.P99Ns)
		}
	}
	return math.NaN()
}
