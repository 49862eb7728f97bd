package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// manyCells is the number of cells from which a sentence names only the lowest and the highest.
const manyCells = 5

// timesBeside compares the cells by one time: the time that the suite or its question names, or
// else the end-to-end time.
func timesBeside(d *analysis.Study) Answer {
	metric := "e2e_response_time"
	if i := slices.IndexFunc(result.TimeMetrics,
		func(m string) bool { return strings.HasPrefix(d.By.Name, m+"_") }); i >= 0 &&
		(d.ByFrom == analysis.FromSuite || d.ByFrom == analysis.FromQuestion) {
		metric = result.TimeMetrics[i]
	} else if !slices.ContainsFunc(d.Cells, func(c analysis.Cell) bool { return c.Of(metric+"_p50").N > 0 }) {
		metric = "e2e_service_time"
	}
	title := layout.Words(metric)
	columns := []column{
		valued(title+" p50", metric+"_p50"), valued("p99", metric+"_p99"), valued("p99.9", metric+"_p99_9"),
		againstFirst(d, "p99 ÷ first", metric+"_p99"),
		valued("e2e response time p99", other(metric)), valued("offered/s", "offered_per_s"),
		valued("delivered/s", "delivered_per_s"),
	}
	table := tabulate(d, append(columns, costColumns()...)...)
	table.Notes = variantNotes(d)
	var told []*analysis.Cell
	for _, cell := range d.ValidCells() {
		if cell.Of(rankedTime(d, metric)).N > 0 {
			told = append(told, cell)
		}
	}
	if len(told) == 0 {
		return table.says("no run has these times.")
	}
	adds := addedAlong(d, told, rankedTime(d, metric))
	if len(adds) == 0 && len(told) < manyCells {
		adds = addedToBases(d, told, rankedTime(d, metric))
	}
	ranks := func(c *analysis.Cell) float64 { return c.Of(rankedTime(d, metric)).Summary.Median }
	clauses := []string{title + " at p50, p99 and p99.9"}
	if len(told) >= manyCells {
		slices.SortStableFunc(told, func(a, b *analysis.Cell) int { return cmp.Compare(ranks(a), ranks(b)) })
		clauses[0] += ", the lowest and the highest of " + unit.Things(int64(len(told)), "scenario")
		told = []*analysis.Cell{told[0], told[len(told)-1]}
	}
	for _, cell := range told {
		clauses = append(clauses, fmt.Sprintf("%s %s, %s and %s", d.Said(cell.Label),
			medianOf(cell, metric+"_p50"), medianOf(cell, metric+"_p99"), medianOf(cell, metric+"_p99_9")))
	}
	return table.says(quickest(d, metric) + clauses[0] + ": " + phrases(append(clauses[1:], adds...)))
}

func addedAlong(d *analysis.Study, cells []*analysis.Cell, name string) (clauses []string) {
	if len(d.Axes) != 1 {
		return nil
	}
	for _, c := range cells {
		if _, known := valueOf(c); !known {
			return nil
		}
	}
	along := slices.SortedStableFunc(slices.Values(cells), func(a, b *analysis.Cell) int {
		one, _ := valueOf(a)
		other, _ := valueOf(b)
		return cmp.Compare(one, other)
	})
	for _, c := range along[1:] {
		if adds := addsTo(d, c, along[0], name); adds != "" {
			clauses = append(clauses, d.Said(c.Label)+" "+adds)
		}
	}
	return clauses
}

func addedToBases(d *analysis.Study, cells []*analysis.Cell, name string) (clauses []string) {
	for _, c := range cells {
		if base := d.Base(c); base != nil && base.Name != c.Name && base.Valid > 0 {
			if adds := addsTo(d, c, base, name); adds != "" {
				clauses = append(clauses, d.Said(c.Label)+" "+adds)
			}
		}
	}
	return clauses
}

func rankedTime(d *analysis.Study, metric string) string {
	if strings.HasPrefix(d.By.Name, metric+"_") {
		return d.By.Name
	}
	return metric + "_p99"
}

// quickest names the cell with the lowest time, and whether the runs show it; "" for fewer than two
// cells, and for a campaign with variants and another axis.
func quickest(d *analysis.Study, metric string) string {
	by := rankedTime(d, metric)
	ranked := d.RankedOtherwise(by)
	cells := ranked.Ranked()
	if len(cells) < 2 || d.VariantsAt() >= 0 {
		return ""
	}
	head, rest := bestOf(ranked, cells)
	if cells[0].Figures[by].N > 1 &&
		!slices.ContainsFunc(rest, func(c analysis.Contender) bool { return c.Word != analysis.WordWorse }) {
		head += ", and the runs show it against each of the others"
	}
	return head + "; "
}

func other(metric string) string {
	if strings.HasPrefix(metric, "e2e") {
		return ""
	}
	return analysis.PrimaryName
}
