package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func engineScaling(d *analysis.Study) Answer {
	const name = "queue_acked_per_s"
	time := queueTime(d)
	columns := append([]column{valued("acked/s", name), ofPlain(d, "÷ plain", name)}, queueTimes(d)...)
	columns = append(columns, ofPlain(d, "p50 ÷ plain", time+"_p50"))
	table := tabulate(d, append(append(columns, queueCosts()...), summed("delivered again", "queue_redelivered"),
		summed("pending", "queue_pending"), summed("lost", "queue_lost"))...)
	table.Notes = []string{"acked/s: acknowledged by the application, each record once. ÷ plain: of the plain scenario that is alike but for the engine."}
	table.Notes = append(table.Notes, closedNote(d)...)
	rate, p50 := analysis.FigureCalled(name), analysis.FigureCalled(time+"_p50")
	at := func(c *analysis.Cell) string {
		text := c.Of(name).MedianText(rate)
		if c.Of(p50.Name).N > 0 {
			text += " at a p50 of " + c.Of(p50.Name).MedianText(p50)
		}
		return fmt.Sprintf("%s (%s)", text, shapeOf(c))
	}
	var clauses []string
	for _, cells := range byEngine(d) {
		smallest, largest := cells[0], cells[len(cells)-1]
		clause := fmt.Sprintf("%s acknowledged %s", largest.EngineSaid(), at(largest))
		if largest != smallest {
			clause = fmt.Sprintf("%s went from %s to %s, %s times as much", largest.EngineSaid(), at(smallest), at(largest),
				quotient(largest.Of(name), smallest.Of(name))) + ifUnshown(largest.Of(name), smallest.Of(name))
		}
		if base := d.PlainOf(largest); base != nil {
			clause += fmt.Sprintf(", which is %s times the rate of plain there%s", quotient(largest.Of(name), base.Of(name)),
				ifUnshown(largest.Of(name), base.Of(name)))
		}
		clauses = append(clauses, append([]string{clause}, timeOfPlain(d, cells, p50.Name)...)...)
		peak := slices.MaxFunc(cells, func(a, b *analysis.Cell) int {
			return cmp.Compare(a.Of(name).Summary.Median, b.Of(name).Summary.Median)
		})
		if peak != smallest && threadsOf(peak) != threadsOf(largest) {
			not := ifUnshown(peak.Of(name), largest.Of(name))
			if not == "" && peak.Of(name).N > 1 && !analysis.ShownRange(between(cells, peak, largest, name)) {
				not = unshownRange
			}
			clauses = append(clauses, fmt.Sprintf("the highest median of %s is %s, %s times that of the largest shape%s",
				peak.EngineSaid(), at(peak), quotient(peak.Of(name), largest.Of(name)), not))
		}
		if more := morePartitions(d, cells, name); len(more) > 0 {
			clauses = append(clauses, fmt.Sprintf("with more partitions, %s had %s", largest.EngineSaid(),
				layout.Enumerate(more)))
		}
	}
	if len(clauses) == 0 {
		clauses = append(clauses, "no valid run acknowledged records of a queue")
	}
	return table.says(slices.Concat(clauses, notSettled(d))...)
}

// timeOfPlain compares an engine's time with that of plain in the largest shape in which both are known.
func timeOfPlain(d *analysis.Study, cells []*analysis.Cell, time string) []string {
	for _, c := range slices.Backward(cells) {
		base := d.PlainOf(c)
		if base == nil || quotient(c.Of(time), base.Of(time)) == unit.Absent {
			continue
		}
		return []string{fmt.Sprintf("the %s of %s is %s times that of plain at %s%s", analysis.FigureCalled(time).Title,
			c.EngineSaid(), quotient(c.Of(time), base.Of(time)), shapeOf(c), ifUnshown(c.Of(time), base.Of(time)))}
	}
	return nil
}

// between returns the figure of first, of the other cells, and of last.
func between(cells []*analysis.Cell, first, last *analysis.Cell, name string) []analysis.Repeated {
	all := []analysis.Repeated{first.Of(name)}
	for _, c := range cells {
		if c != first && c != last {
			all = append(all, c.Of(name))
		}
	}
	return append(all, last.Of(name))
}

func queueTimes(d *analysis.Study) []column {
	time := queueTime(d)
	return []column{valued(analysis.FigureCalled(time+"_p50").Title, time+"_p50"), valued("p99", time+"_p99")}
}

func closedNote(d *analysis.Study) []string {
	closed := func(c analysis.Cell) bool { return c.Of(closedTime).N > 0 }
	if queueTime(d)+"_p50" != closedTime || !slices.ContainsFunc(d.Cells, closed) {
		return nil
	}
	return []string{"In a closed loop the time of a record is about what is under way ÷ the rate."}
}

func queueTime(d *analysis.Study) string {
	if slices.ContainsFunc(d.Cells, func(c analysis.Cell) bool { return c.Of("e2e_response_time_p50").N > 0 }) {
		return "e2e_response_time"
	}
	return "e2e_service_time"
}

func morePartitions(d *analysis.Study, cells []*analysis.Cell, name string) (parts []string) {
	axis := slices.IndexFunc(d.Axes, func(a result.Axis) bool { return a.Path == partitionsKey })
	if axis < 0 {
		return nil
	}
	others := func(c *analysis.Cell) string {
		return fmt.Sprintf("%q", slices.Delete(slices.Clone(c.Values), axis, axis+1))
	}
	var order []string
	alike := map[string][]*analysis.Cell{}
	for _, c := range cells {
		if alike[others(c)] == nil {
			order = append(order, others(c))
		}
		alike[others(c)] = append(alike[others(c)], c)
	}
	for _, key := range order {
		fewest, most := alike[key][0], alike[key][len(alike[key])-1]
		if fewest != most {
			parts = append(parts, fmt.Sprintf("%s times the rate at %s (%s ÷ %s partitions%s)",
				quotient(most.Of(name), fewest.Of(name)), threadsOf(most), most.Setting(partitionsKey),
				fewest.Setting(partitionsKey), ifUnshown(most.Of(name), fewest.Of(name))))
		}
	}
	return parts
}

// byEngine groups the valid cells by engine, each ordered by nodes × threads, then by partitions.
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
			return cmp.Or(cmp.Compare(counted(a, nodesKey)*counted(a, threadsKey), counted(b, nodesKey)*counted(b, threadsKey)),
				cmp.Compare(counted(a, partitionsKey), counted(b, partitionsKey)))
		})
	}
	return groups
}

const (
	nodesKey      = "consume.consumers"
	threadsKey    = "consume.queue.threads"
	partitionsKey = "topic.partitions"
)

// counted is 0 if the setting is not known.
func counted(c *analysis.Cell, path string) int {
	n, _ := strconv.Atoi(c.Setting(path))
	return n
}

func threadsOf(c *analysis.Cell) string {
	return fmt.Sprintf("%s × %s threads", c.Setting(nodesKey), c.Setting(threadsKey))
}

func shapeOf(c *analysis.Cell) string {
	shape := threadsOf(c)
	if partitions := c.Setting(partitionsKey); partitions != "" && partitions != unit.Absent {
		shape += ", " + partitions + " partitions"
	}
	return shape
}

const closedTime = "e2e_service_time_p50"
