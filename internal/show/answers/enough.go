package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// enough says the least value of the one setting that is varied with which a cell stays near
// the best, and what the cells that have less reached.
func enough(d *analysis.Study) Answer {
	name := cmp.Or(d.By.Name, analysis.ThroughputFigure)
	ranked := d.Ranked()
	ofBest := column{"÷ best", func(c *analysis.Cell) string {
		switch {
		case len(ranked) == 0 || c.Valid == 0:
			return unit.Absent
		case c.Name == ranked[0].Name:
			return "1"
		}
		return quotient(c.Of(name), ranked[0].Of(name))
	}}
	columns := []column{valued(titleOf(name), name), ofBest, valued("bytes/s", "throughput_bytes_per_s")}
	table := tabulate(d, append(columns, costColumns()...)...)
	if len(ranked) == 0 {
		return table.says("no valid run tells what it reached.")
	}
	best := ranked[0].Figures[d.By.Name]
	byValue := slices.Clone(ranked)
	for i := range byValue {
		if _, known := valueOf(&byValue[i]); len(d.Axes) != 1 || !known {
			return table.says("the scenarios do not differ in one number, so there is no least of it.")
		}
	}
	slices.SortStableFunc(byValue, func(a, b analysis.Cell) int {
		one, _ := valueOf(&a)
		other, _ := valueOf(&b)
		return cmp.Compare(one, other)
	})
	near := func(c analysis.Cell) bool {
		v, limit := c.Figures[d.By.Name].Summary.Median, best.Summary.Median
		if d.By.Better == figure.Lower {
			return v <= (1+nearBest)*limit
		}
		return v >= (1-nearBest)*limit
	}
	at := slices.IndexFunc(byValue, near)
	least := byValue[at]
	head := fmt.Sprintf("%s is the least that is within %s of the best, with %s",
		d.Said(least.Label), unit.WholePercent(nearBest), least.Figures[d.By.Name].Bounded(d.By))
	if at == 0 {
		head += ", and the least that has a valid run"
	}
	clauses := []string{head}
	if least.Label != ranked[0].Label {
		clauses = append(clauses, fmt.Sprintf("the best is %s, with %s", d.Said(ranked[0].Label), best.Bounded(d.By)))
	}
	for _, c := range byValue[:at] {
		part := "%s reached %s of the best"
		if d.By.Better == figure.Lower {
			part = "%s has %s times the best"
		}
		clauses = append(clauses, fmt.Sprintf(part, d.Said(c.Label), quotient(c.Figures[d.By.Name], best)))
	}
	return table.says(phrases(clauses) + tooShort(d))
}

// valueOf is the number that a cell is called by: a count, a share of cores, or bytes.
func valueOf(c *analysis.Cell) (v float64, known bool) {
	text := strings.Join(c.Values, "")
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, true
	}
	size, err := unit.ParseSize(text)
	return float64(size), err == nil
}
