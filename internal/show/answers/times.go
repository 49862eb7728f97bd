package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

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
		return table.says("no run has these times")
	}
	clauses := quickest(d, metric)
	base := d.Base
	if along := inOrderOfValue(d, told); along != nil {
		told, base = along, func(*analysis.Cell) *analysis.Cell { return along[0] }
	}
	for _, c := range told {
		if b := base(c); b != nil && b.Name != c.Name && b.Valid > 0 {
			clauses = append(clauses, adds(d, c, b,
				slices.Compact([]string{metric + "_p50", rankedTime(d, metric)})...)...)
		}
	}
	if len(clauses) == 0 { // nothing is compared
		for _, c := range told {
			clauses = append(clauses, fmt.Sprintf("%s of %s: %s at p50, %s at p99 and %s at p99.9", title, d.Said(c.Label),
				medianOf(c, metric+"_p50"), medianOf(c, metric+"_p99"), medianOf(c, metric+"_p99_9")))
		}
	}
	return table.says(clauses...)
}

// inOrderOfValue returns nil if the cells do not differ in one number.
func inOrderOfValue(d *analysis.Study, cells []*analysis.Cell) []*analysis.Cell {
	if len(d.Axes) != 1 || slices.ContainsFunc(cells, func(c *analysis.Cell) bool {
		_, known := valueOf(c)
		return !known
	}) {
		return nil
	}
	return slices.SortedStableFunc(slices.Values(cells), func(a, b *analysis.Cell) int {
		one, _ := valueOf(a)
		other, _ := valueOf(b)
		return cmp.Compare(one, other)
	})
}

// adds says what a cell adds to the times of another. Of a time that it is not shown to add to,
// only the last is said.
func adds(d *analysis.Study, c, base *analysis.Cell, names ...string) []string {
	var parts []string
	for i, name := range names {
		last := i == len(names)-1
		if part := addsTo(d, c, base, name); part != "" && (last || ifUnshown(c.Of(name), base.Of(name)) == "") {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []string{d.Said(c.Label) + " " + strings.Join(parts, ", and ")}
}

func rankedTime(d *analysis.Study, metric string) string {
	if strings.HasPrefix(d.By.Name, metric+"_") {
		return d.By.Name
	}
	return metric + "_p99"
}

// quickest names the cell with the lowest time, and whether the runs show it; nil for fewer than two
// cells, and for a campaign with variants and another axis.
func quickest(d *analysis.Study, metric string) []string {
	by := rankedTime(d, metric)
	ranked := d.RankedOtherwise(by)
	cells := ranked.Ranked()
	if len(cells) < 2 || d.VariantsAt() >= 0 {
		return nil
	}
	head, rest := bestOf(ranked, cells)
	if cells[0].Figures[by].N > 1 &&
		!slices.ContainsFunc(rest, func(c analysis.Contender) bool { return c.Word != analysis.WordWorse }) {
		head += ", and the runs show it against each of the others"
	}
	return []string{head}
}

func other(metric string) string {
	if strings.HasPrefix(metric, "e2e") {
		return ""
	}
	return analysis.PrimaryName
}
