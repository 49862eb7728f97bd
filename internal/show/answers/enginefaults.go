package answers

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func engineFaults(d *analysis.Study) Answer {
	const p99 = "e2e_response_time_p99"
	table := tabulate(d,
		summed("acknowledged", "queue_unique_acked"), summed("lost", "queue_lost"), summed("pending", "queue_pending"),
		summed("delivered again", "queue_redelivered"), summed("acked again", "queue_acked_again"),
		valued("e2e of first deliveries p50", "e2e_response_time_p50"), valued("p99", p99),
		ofPlain(d, "p99 ÷ plain", p99),
		valued("no delivery for", "delivery_gap_max"),
		valued("redelivery response time p50", "redelivery_response_time_p50"),
		valued("p99", "redelivery_response_time_p99"),
		valued("late p99", "redelivery_lateness_p99"), summed("early", "queue_early_redeliveries"),
		valued("all clients' CPU, cores", "cpu_cores"),
	)
	table.Notes = []string{"Counts are over all runs of a scenario. acked again: acknowledged though they had been before, which is what duplicates cost an application. redelivery response time: e2e of deliveries after the first; late: from when they were due."}
	var clauses []string
	for _, c := range d.ValidCells() {
		acked, _ := c.Sum("queue_unique_acked")
		lost, _ := c.Sum("queue_lost")
		again, _ := c.Sum("queue_redelivered")
		twice, _ := c.Sum("queue_acked_again")
		clause := fmt.Sprintf("%s: %s acknowledged, %s, %s delivered again and %s acknowledged again", d.Said(c.Label),
			unit.Things(int64(acked), "record"), wereLost(int64(lost)), none(int64(again)), none(int64(twice)))
		if c.Of(p99).N > 0 {
			clause += ", first deliveries took " + medianOf(c, p99) + " at p99"
			if base := d.PlainOf(c); base != nil && quotient(c.Of(p99), base.Of(p99)) != unit.Absent {
				clause += fmt.Sprintf(", %s times that of plain%s", quotient(c.Of(p99), base.Of(p99)),
					ifUnshown(c.Of(p99), base.Of(p99)))
			}
		}
		if gap := c.Of("delivery_gap_max"); gap.N > 0 {
			clause += ", and a partition delivered nothing for " + medianOf(c, "delivery_gap_max")
		}
		clauses = append(clauses, clause)
	}
	return table.says(append(clauses, notSettled(d)...)...)
}
