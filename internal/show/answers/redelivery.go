package answers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func redelivery(d *analysis.Study) Answer {
	expected := column{"arithmetic", func(c *analysis.Cell) string {
		if q := anyQueue(c); q != nil {
			return unit.Decimals(q.ExpectedDeliveriesPerRecord, 4)
		}
		return unit.Absent
	}}
	perRecord := column{"deliveries per record", func(c *analysis.Cell) string {
		r := c.Of("queue_deliveries_per_record")
		if r.N == 0 {
			return unit.Absent
		}
		return CellMark(c, r, unit.Decimals(r.Summary.Median, 4))
	}}
	table := tabulate(d,
		perRecord, expected, valued("tail, of the attempt before", "queue_tail_ratio"), column{"dropped", dropped},
		valued("late p50", "redelivery_lateness_p50"), valued("p99", "redelivery_lateness_p99"),
		worst("max", "redelivery_lateness_max"), summed("early", "queue_early_redeliveries"),
		valued("e2e of first deliveries p99", "e2e_response_time_p99"),
		valued("of later ones p50", "redelivery_response_time_p50"), valued("p99", "redelivery_response_time_p99"),
		summed("dead letters", "queue_dead_lettered"), summed("pending", "queue_pending"),
		summed("lost", "queue_lost"), summed("acked again", "queue_acked_again"),
		valued("all clients' CPU, cores", "cpu_cores"),
	)
	table.Notes = []string{
		"late: from when a delivery was due (the end of the lock before it, or of the delay it was given back with) until it came.",
		"arithmetic: (1 − pⁿ) ÷ (1 − p) deliveries of each record, with the share p dropped and n deliveries at the most; 1 ÷ (1 − p) without a limit. Of each attempt the share p is delivered again. tail: that share as it was, over all attempts with a thousand deliveries or more.",
	}
	byEngine := map[string][]*analysis.Cell{}
	var order []string
	for _, c := range d.ValidCells() {
		engine := c.EngineSaid()
		if byEngine[engine] == nil {
			order = append(order, engine)
		}
		byEngine[engine] = append(byEngine[engine], c)
	}
	var clauses []string
	for _, engine := range order {
		of := ""
		if slices.ContainsFunc(byEngine[engine], func(c *analysis.Cell) bool { return c.Valid > 1 }) {
			of = ", in the medians of its runs"
		}
		clauses = append(clauses, engine+of+": "+redeliveredBy(d, byEngine[engine]))
	}
	return table.says(append(clauses, notSettled(d)...)...)
}

func redeliveredBy(d *analysis.Study, cells []*analysis.Cell) string {
	perRecord, tail, late := extreme{}, extreme{}, extreme{}
	early := 0.0
	for _, c := range cells {
		if r := c.Of("queue_deliveries_to_expected"); r.N > 0 {
			perRecord.take(math.Abs(r.Summary.Median-1), c)
		}
		if q, r := anyQueue(c), c.Of("queue_tail_ratio"); r.N > 0 && q != nil {
			if p := shareDropped(c); p > 0 {
				tail.take(math.Abs(r.Summary.Median/p-1), c)
			}
		}
		if r := c.Of("redelivery_lateness_p99"); r.N > 0 {
			late.take(r.Summary.Median, c)
		}
		n, _ := c.Sum("queue_early_redeliveries")
		early += n
	}
	of := ""
	if len(cells) > 1 {
		of = "at most "
	}
	var parts []string
	if perRecord.of != nil {
		parts = append(parts, fmt.Sprintf("deliveries per record are %s%s off the arithmetic", of,
			unit.Percent(perRecord.v)))
	}
	if tail.of != nil {
		parts = append(parts, fmt.Sprintf("the tail is %s%s off the share that was dropped", of, unit.Percent(tail.v)))
	}
	if late.of != nil {
		parts = append(parts, fmt.Sprintf("redeliveries are %s late at p99%s",
			medianOf(late.of, "redelivery_lateness_p99"), late.where(d, len(cells))))
	}
	if len(parts) == 0 {
		return "nothing was delivered again"
	}
	if early == 0 {
		return strings.Join(parts, ", ") + ", and none early"
	}
	return strings.Join(parts, ", ") + ", and " + unit.Count(int64(early)) + " EARLY"
}

type extreme struct {
	v  float64
	of *analysis.Cell
}

func (e *extreme) take(v float64, c *analysis.Cell) {
	if e.of == nil || v > e.v {
		e.v, e.of = v, c
	}
}

func (e extreme) where(d *analysis.Study, cells int) string {
	if cells < 2 {
		return ""
	}
	return " in the worst (" + d.Said(e.of.Label) + ")"
}

// anyQueue is nil if no run has a queue.
func anyQueue(d *analysis.Cell) *result.Queue {
	for _, r := range d.Sample.Taken {
		if r.Run.Queue != nil {
			return r.Run.Queue
		}
	}
	return nil
}

func dropped(c *analysis.Cell) string {
	if p := shareDropped(c); p > 0 {
		return unit.Percent(p) + " " + c.Setting("consume.queue.drop.how")
	}
	return unit.Absent
}

func shareDropped(c *analysis.Cell) float64 {
	percent, found := strings.CutSuffix(c.Setting("consume.queue.drop.share"), "%")
	var p float64
	if _, err := fmt.Sscan(percent, &p); !found || err != nil {
		return 0
	}
	return p / 100
}
