package answers

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func failover(d *analysis.Study) Answer {
	table := tabulate(d,
		valued("unavailable", "ack_gap_max"), worst("at worst", "ack_gap_max"),
		summed("acked", "acked"), summed("lost", "lost"), summed("duplicates", "duplicates"),
		summed("unknown", "unknown"), summed("failed", "failed"),
		valued("e2e p99 before", "before_fault_e2e_response_time_p99"),
		valued("e2e p99 during", "during_fault_e2e_response_time_p99"),
		valued("e2e p99 after", "after_fault_e2e_response_time_p99"),
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
	return table.says(clauses...)
}

func felt(c *analysis.Cell) string {
	some, texts := false, []any{}
	for _, when := range []string{"before", "during", "after"} {
		name := when + "_fault_e2e_response_time_p99"
		text := "not known"
		if c.Of(name).N > 0 {
			some, text = true, medianOf(c, name)
		}
		texts = append(texts, text)
	}
	if !some {
		return ""
	}
	return fmt.Sprintf(", and the e2e response time p99 was %s before, %s during and %s after it", texts...)
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
