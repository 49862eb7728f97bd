package answers

import (
	"cmp"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// engineScaling says for each engine of a queue what more nodes, threads and partitions
// brought it, in rate and in latency.
func engineScaling(d *analysis.Study) Answer {
	const name = "queue_acked_per_s"
	time := queueTime(d)
	columns := []column{valued("acked/s", name), ofPlain(d, "÷ plain", name),
		valued(analysis.FigureCalled(time+"_p50").Title, time+"_p50"), valued("p99", time+"_p99"),
		ofPlain(d, "p50 ÷ plain", time+"_p50")}
	table := tabulate(d, append(append(columns, queueCosts()...), summed("delivered again", "queue_redelivered"),
		summed("pending", "queue_pending"), summed("lost", "queue_lost"))...)
	table.Notes = []string{"acked/s: acknowledged by the application, each record once. ÷ plain: of the plain scenario that is alike but for the engine."}
	if time == "e2e_service_time" {
		table.Notes = append(table.Notes, "In a closed loop the time of a record is about what is under way ÷ the rate.")
	}
	rate, p50 := analysis.FigureCalled(name), analysis.FigureCalled(time+"_p50")
	at := func(c *analysis.Cell) string { // a run that was starved has a rate and no times
		text := c.Of(name).MedianText(rate)
		if c.Of(p50.Name).N > 0 {
			text += " at a p50 of " + c.Of(p50.Name).MedianText(p50)
		}
		return fmt.Sprintf("%s (%s)", text, shapeOf(c))
	}
	var clauses []string
	var fastest []*analysis.Cell // of each engine
	for _, cells := range byEngine(d) {
		lowest, most := cells[0], cells[len(cells)-1]
		fastest = append(fastest, most)
		clause := fmt.Sprintf("%s acknowledged %s", most.EngineSaid(), at(most))
		if most != lowest {
			clause = fmt.Sprintf("%s went from %s to %s, %s times as much", most.EngineSaid(), at(lowest), at(most),
				quotient(most.Of(name), lowest.Of(name)))
		}
		if base := d.PlainOf(most); base != nil {
			clause += fmt.Sprintf(", which is %s times the rate of plain there", quotient(most.Of(name), base.Of(name)))
			if most.Of(p50.Name).N > 0 && base.Of(p50.Name).N > 0 {
				clause += fmt.Sprintf(", with %s times its p50", quotient(most.Of(p50.Name), base.Of(p50.Name)))
			}
		}
		clauses = append(clauses, clause)
	}
	return table.says(phrases(clauses) + pricesOfStarts(d, fastest, startsCost(d)) + notSettled(d))
}

// queueTime is the end-to-end time that the runs have: from when a record was due, or in a
// closed loop from when it was sent.
func queueTime(d *analysis.Study) string {
	if slices.ContainsFunc(d.Cells, func(c analysis.Cell) bool { return c.Of("e2e_response_time_p50").N > 0 }) {
		return "e2e_response_time"
	}
	return "e2e_service_time"
}

// byEngine are the valid cells of each engine, as sentences call it, those that acknowledged
// the least first.
func byEngine(d *analysis.Study) (groups [][]*analysis.Cell) {
	at := map[string]int{}
	for _, c := range d.ValidCells() {
		if c.Of("queue_acked_per_s").N == 0 {
			continue
		}
		i, known := at[c.EngineSaid()]
		if !known {
			i = len(groups)
			at[c.EngineSaid()], groups = i, append(groups, nil)
		}
		groups[i] = append(groups[i], c)
	}
	for _, cells := range groups {
		slices.SortStableFunc(cells, func(a, b *analysis.Cell) int {
			return cmp.Compare(a.Of("queue_acked_per_s").Summary.Median, b.Of("queue_acked_per_s").Summary.Median)
		})
	}
	return groups
}

// shapeOf is how many work on a queue.
func shapeOf(c *analysis.Cell) string {
	shape := fmt.Sprintf("%s × %s threads", c.Setting("consume.consumers"), c.Setting("consume.queue.threads"))
	if partitions := c.Setting("topic.partitions"); partitions != "" && partitions != unit.Absent {
		shape += ", " + partitions + " partitions"
	}
	return shape
}
