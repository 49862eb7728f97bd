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
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// enough finds the smallest value of the one varied setting such that no cell with this value or a
// higher one falls short of the best: its median is near the best, or the test of its runs does not
// distinguish them from those of the best.
func enough(d *analysis.Study) Answer {
	name := cmp.Or(d.By.Name, analysis.ThroughputFigure)
	ranked := slices.DeleteFunc(d.Ranked(), func(c analysis.Cell) bool { return c.PartlyRead() })
	ofBest := column{"÷ best", func(c *analysis.Cell) string {
		switch {
		case len(ranked) == 0 || c.Valid == 0 || c.PartlyRead():
			return unit.Absent
		case c.Name == ranked[0].Name:
			return "1"
		}
		return quotient(c.Of(name), ranked[0].Of(name))
	}}
	columns := []column{valued(titleOf(name), name), ofBest, valued("bytes/s", "throughput_bytes_per_s")}
	table := tabulate(d, append(columns, costColumns()...)...)
	if len(ranked) == 0 {
		return table.says(append([]string{"no valid run shows what it reached"}, notRanked(d)...)...)
	}
	best := ranked[0].Figures[d.By.Name]
	byValue, known := ascending(d, ranked)
	if !known {
		return table.says("the scenarios do not differ in one number, so there is no least of it")
	}
	nearAt := func(c analysis.Cell) bool { return isNear(d, ratio(c.Figures[d.By.Name], best).Value) }
	alike := map[string]bool{}
	for _, other := range d.Against(ranked) {
		alike[other.Name] = other.Word == analysis.WordNoDifference
	}
	fallsShort := func(c analysis.Cell) bool { return c.Name != ranked[0].Name && !nearAt(c) && !alike[c.Label] }
	at := len(byValue)
	for at > 0 && !fallsShort(byValue[at-1]) {
		at--
	}
	var clauses []string
	if at == len(byValue) {
		clauses = append(clauses, fmt.Sprintf("no value is known to be enough, as %s, the highest "+
			"that was measured, is not within %s of the best", d.Said(byValue[at-1].Label), unit.WholePercent(nearBest)))
	} else {
		clauses = append(clauses, leastOf(d, byValue[at:], ranked[0], at == 0))
	}
	if at == len(byValue) || byValue[at].Name != ranked[0].Name {
		clauses = append(clauses, fmt.Sprintf("the best is %s, with %s", d.Said(ranked[0].Label), best.Bounded(d.By)))
	}
	for _, c := range byValue[:at] {
		if c.Name == ranked[0].Name {
			continue
		}
		part := "%s reached %s of the best"
		if d.By.Better == figure.Lower {
			part = "%s has %s times the best"
		}
		clause := fmt.Sprintf(part, d.Said(c.Label), quotient(c.Figures[d.By.Name], best))
		if !fallsShort(c) {
			clause += ", but one with more did not come as near"
		}
		clauses = append(clauses, clause)
	}
	return table.says(slices.Concat(clauses, notRanked(d), tooShort(d))...)
}

// ascending sorts the cells by the one setting that varies, if it is a number.
func ascending(d *analysis.Study, cells []analysis.Cell) (sorted []analysis.Cell, known bool) {
	sorted = slices.Clone(cells)
	for i := range sorted {
		if _, known := valueOf(&sorted[i]); len(d.Axes) != 1 || !known {
			return nil, false
		}
	}
	slices.SortStableFunc(sorted, func(a, b analysis.Cell) int {
		one, _ := valueOf(&a)
		other, _ := valueOf(&b)
		return cmp.Compare(one, other)
	})
	return sorted, true
}

// isNear reports whether a quotient of a cell and the best is close enough. An unknown one is not.
func isNear(d *analysis.Study, quotient float64) bool {
	if d.By.Better == figure.Lower {
		return quotient <= 1+nearBest
	}
	return quotient >= 1-nearBest
}

// leastOf names the first of enough, the cells that do not fall short, and those of them that may not be near the best.
// all means that no ranked cell falls short.
func leastOf(d *analysis.Study, enough []analysis.Cell, best analysis.Cell, all bool) string {
	what, or := best.Figures[d.By.Name], ""
	var not []string
	for _, c := range enough {
		of := ratio(c.Figures[d.By.Name], what)
		if !isNear(d, of.Value) {
			or = ", or not told apart from it"
		}
		bound := of.Low
		if d.By.Better == figure.Lower {
			bound = of.High
		}
		if c.Name != best.Name && what.N > 1 && !isNear(d, bound) {
			not = append(not, d.Said(c.Label))
		}
	}
	head := fmt.Sprintf("%s is the least from which on all are within %s of the best%s, with %s",
		d.Said(enough[0].Label), unit.WholePercent(nearBest), or, enough[0].Figures[d.By.Name].Bounded(d.By))
	if all {
		head += ", the least that was ranked"
	}
	if len(not) > 0 && or == "" {
		head += ", which is not shown of " + layout.Enumerate(not)
	}
	return head
}

func valueOf(c *analysis.Cell) (v float64, known bool) {
	text := strings.Join(c.Values, "")
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return v, true
	}
	size, err := unit.ParseSize(text)
	return float64(size), err == nil
}
