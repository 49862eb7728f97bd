package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// manyCells is from how many on a sentence tells of the lowest and the highest alone.
const manyCells = 5

// timesBeside lays times of the cells beside each other: those that the suite or its
// question names, or the end-to-end response times, or service times where there is no schedule.
func timesBeside(d *analysis.Study) (AnswerTable, string) {
	metric := "e2e_response_time"
	if i := slices.IndexFunc(result.TimeMetrics, func(m string) bool { return strings.HasPrefix(d.By.Name, m+"_") }); i >= 0 && (d.ByFrom == analysis.FromSuite || d.ByFrom == analysis.FromQuestion) {
		metric = result.TimeMetrics[i]
	} else if !slices.ContainsFunc(d.Cells, func(c analysis.Cell) bool { return c.Of(metric+"_p50").N > 0 }) {
		metric = "e2e_service_time"
	}
	title := words(metric)
	columns := []answerColumn{
		valued(title+" p50", metric+"_p50"), valued("p99", metric+"_p99"), valued("p99.9", metric+"_p99_9"),
		againstFirst(d, "p99 ÷ first", metric+"_p99"),
		valued("e2e response time p99", other(metric)), valued("offered/s", "offered_per_s"), valued("delivered/s", "delivered_per_s"),
	}
	table := tabulate(d, append(columns, costColumns()...)...)
	table.Notes = variantNotes(d)
	var told []*analysis.Cell
	for _, cell := range d.ValidCells() {
		if cell.Of(metric+"_p50").N > 0 {
			told = append(told, cell)
		}
	}
	if len(told) == 0 {
		return table, "no run has these times."
	}
	p50 := func(c *analysis.Cell) float64 { return c.Of(metric + "_p50").Summary.Median }
	clauses := []string{title + " at p50, p99 and p99.9"}
	if len(told) >= manyCells {
		slices.SortStableFunc(told, func(a, b *analysis.Cell) int { return cmp.Compare(p50(a), p50(b)) })
		clauses[0] += ", the lowest and the highest of " + unit.Things(int64(len(told)), "scenario")
		told = []*analysis.Cell{told[0], told[len(told)-1]}
	}
	for _, cell := range told {
		clauses = append(clauses, fmt.Sprintf("%s %s, %s and %s", d.Said(cell.Label),
			medianOf(cell, metric+"_p50"), medianOf(cell, metric+"_p99"), medianOf(cell, metric+"_p99_9")))
	}
	return table, quickest(d, metric) + clauses[0] + ": " + phrases(clauses[1:])
}

// quickest says which cell has the lowest time, by the percentile that the cells are
// ranked by, and whether the runs show it; "" where there is nothing to choose from, or
// where the cells of several variants are not alike.
func quickest(d *analysis.Study, metric string) string {
	by := metric + "_p99"
	if strings.HasPrefix(d.By.Name, metric+"_") {
		by = d.By.Name
	}
	ranked := d.RankedOtherwise(by)
	cells := ranked.Ranked()
	if len(cells) < 2 || d.VariantsAt() >= 0 {
		return ""
	}
	head, rest := bestOf(ranked, cells)
	if cells[0].Figures[by].N > 1 && !slices.ContainsFunc(rest, func(c analysis.Contender) bool { return c.Word != analysis.WordWorse }) {
		head += ", and the runs show it against each of the others"
	}
	return head + "; "
}

// other is the figure that is shown beside times of another kind; none beside itself.
func other(metric string) string {
	if strings.HasPrefix(metric, "e2e") {
		return ""
	}
	return analysis.PrimaryName
}

// medianOf prints the median of a figure with what bounds it.
func medianOf(c *analysis.Cell, name string) string {
	return c.Of(name).Bounded(analysis.FigureCalled(name))
}

// failover says what the faults of the brokers cost: how long a partition took no
// record, what was lost and came twice, and what users felt.
func failover(d *analysis.Study) (AnswerTable, string) {
	table := tabulate(d,
		valued("unavailable", "ack_gap_max"), worst("at worst", "ack_gap_max"),
		summed("acked", "acked"), summed("lost", "lost"), summed("duplicates", "duplicates"), summed("unknown", "unknown"), summed("failed", "failed"),
		stretched("e2e p99 before", before),
		stretched("e2e p99 during", during),
		stretched("e2e p99 after", after),
		valued("under-replicated", "under_replicated_time"), valued("without a leader", "leaderless_time"),
	)
	var clauses []string
	for _, cell := range d.ValidCells() {
		gap := cell.Of("ack_gap_max")
		if gap.N == 0 {
			clauses = append(clauses, d.Said(cell.Label)+": no run tells how long the topic was not available")
			continue
		}
		clause := fmt.Sprintf("%s: a partition took no record for %s", d.Said(cell.Label), medianOf(cell, "ack_gap_max"))
		if lost, known := cell.Sum("lost"); known {
			acked, _ := cell.Sum("acked")
			twice, _ := cell.Sum("duplicates")
			clause += fmt.Sprintf(", of %s acked records %s and %s came twice", unit.Count(int64(acked)), wereLost(int64(lost)), none(int64(twice)))
		}
		clauses = append(clauses, clause+felt(cell))
	}
	return table, phrases(clauses)
}

// felt is what users felt of it; "" where no record arrived in any of the parts.
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

// worst is a column of the highest value of any of a cell's runs.
func worst(head, name string) answerColumn {
	f := analysis.FigureCalled(name)
	return answerColumn{head, func(c *analysis.Cell) string {
		r := c.Of(name)
		if r.N < 2 { // it is the one that there is
			return unit.Absent
		}
		return f.Format(r.Summary.Max)
	}}
}

// The parts of the measured window.
func before(a *result.Availability) *result.Stretch { return a.Before }

func during(a *result.Availability) *result.Stretch { return a.During }

func after(a *result.Availability) *result.Stretch { return a.After }

// stretched is a column of stretchP99.
func stretched(head string, of func(*result.Availability) *result.Stretch) answerColumn {
	return answerColumn{head, func(c *analysis.Cell) string { return stretchP99(c, of) }}
}

// stretchP99 prints the e2e time p99 in a part of the measured window, the median over
// the runs: the response time, or the service time where there is none.
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
	return cellMark(c, analysis.FromValues(values), analysis.FromValues(values).Bounded(f))
}

// e2eP99 is NaN where nothing was delivered in the stretch, or no time is to be relied on.
func e2eP99(r *result.Run, s *result.Stretch) float64 {
	for _, metric := range []string{"e2e_response_time", "e2e_service_time"} {
		if t, some := s.Time[metric]; some && t.Count > 0 && r.Says("time."+metric) {
			return float64(t.P99Ns)
		}
	}
	return math.NaN()
}
