package answers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// most answers which cell reached the most, separately for each variant if the variants do
// different things. It names one cell only if a test distinguishes that cell from every other. If
// all cells of a variant have the same load, most compares their times.
func most(d *analysis.Study) Answer {
	columns := append(throughputColumns(d, "÷ first", cmp.Or(d.By.Name, analysis.ThroughputFigure)),
		valued("e2e response time p50", "e2e_response_time_p50"), valued("e2e response time p99",
			"e2e_response_time_p99"))
	table := tabulate(d, append(columns, costColumns()...)...)
	var clauses []string
	table.Notes = variantNotes(d)
	if parts := analysis.ByVariant(d); len(parts) == 1 {
		clauses = mostOf(parts[0].Cells)
	} else {
		for _, part := range parts {
			clauses = append(clauses, part.Prefix+strings.Join(mostOf(part.Cells), ", "))
		}
	}
	clauses = append(clauses, ratios(d)...)
	return table.says(clauses...)
}

func ratios(d *analysis.Study) (clauses []string) {
	for _, cell := range d.ValidCells() {
		if base := d.NamedBase(cell); base != nil && base.Valid > 0 && !cell.PartlyRead() && !base.PartlyRead() {
			of, than := cell.Of(d.By.Name), base.Of(d.By.Name)
			clauses = append(clauses, fmt.Sprintf("%s ÷ %s: %s%s", d.Said(cell.Label), d.Said(base.Label),
				quotient(of, than), ifUnshown(of, than)))
		}
	}
	return clauses
}

func variantNotes(d *analysis.Study) []string {
	if d.VariantsAt() < 0 {
		return nil
	}
	return []string{"Each variant does something else: a figure is divided by that of the first scenario of the same variant, if that is valid."}
}

func mostOf(d *analysis.Study) []string {
	skipped := notRanked(d)
	ranked := slices.DeleteFunc(d.Ranked(), func(c analysis.Cell) bool {
		return c.PartlyRead()
	})
	if len(ranked) == 0 {
		return append([]string{"no valid run shows what it reached"}, skipped...)
	}
	head, rest := bestOf(d, ranked)
	clauses := []string{head}
	for i, other := range rest {
		if base := d.NamedBase(&ranked[i+1]); base != nil && base.Name == ranked[0].Name {
			continue // ratios divides them
		}
		part := "reached %s of that"
		if d.By.Better == figure.Lower {
			part = "has %s times that"
		}
		clauses = append(clauses, d.Said(other.Name)+" "+fmt.Sprintf(part, quotient(other.B, other.A)))
	}
	if most, text := cellBottleneck(&ranked[0]); most != "" && most != notKnown && most != offeredLoad {
		clauses = append(clauses, d.Said(ranked[0].Label)+" was limited by "+text)
	}
	if last := lastNearBest(d, ranked); last != "" {
		clauses = append(clauses, last)
	}
	return append(clauses, skipped...)
}

func bestOf(d *analysis.Study, ranked []analysis.Cell) (head string, rest []analysis.Contender) {
	reached, side := "reached the most", "highest"
	switch {
	case d.By.Better == figure.Lower:
		reached, side = "has the lowest "+d.By.Title, "lowest"
	case d.By.Name != analysis.ThroughputFigure:
		reached = "has the highest " + titleOf(d.By.Name)
	}
	best := ranked[0].Figures[d.By.Name]
	head = fmt.Sprintf("%s %s, %s", d.Said(ranked[0].Label), reached, best.Bounded(d.By))
	if best.N == 1 && slices.ContainsFunc(ranked, func(c analysis.Cell) bool { return c.Figures[d.By.Name].N > 1 }) {
		head += " in its one valid run, which carries no claim"
	}
	if len(ranked) == 1 {
		return head + ", and there is nothing to hold it against", nil
	}
	rest = d.Against(ranked)
	var alike []string
	for _, other := range rest {
		if other.Word != analysis.WordWorse && best.N > 1 {
			alike = append(alike, d.Said(other.Name))
		}
	}
	if len(alike) > 0 {
		head = fmt.Sprintf("the %s median of %s is that of %s, %s, which is not told apart from %s", side,
			titleOf(d.By.Name), d.Said(ranked[0].Label), best.Bounded(d.By), layout.Enumerate(alike))
	}
	return head, rest
}

// nearBest is the relative distance from the best within which a median counts as
// near.
const nearBest = 0.1

func lastNearBest(d *analysis.Study, ranked []analysis.Cell) string {
	if len(d.Axes) != 1 || len(ranked) < 2 || d.By.Better != figure.Higher {
		return ""
	}
	best, last := ranked[0].Figures[d.By.Name].Summary.Median, 0
	highest, reach := math.Inf(-1), math.Inf(-1)
	for i, cell := range ranked {
		at, err := strconv.ParseFloat(strings.Join(cell.Values, ""), 64)
		if err != nil {
			return ""
		}
		highest = max(highest, at)
		if cell.Figures[d.By.Name].Summary.Median >= (1-nearBest)*best && at > reach {
			last, reach = i, at
		}
	}
	name := d.Said(ranked[last].Label)
	if reach == highest {
		return fmt.Sprintf("the median at %s, the highest that was measured, is within %s of the best", name, unit.WholePercent(nearBest))
	}
	return fmt.Sprintf("%s is the last whose median is within %s of the best", name, unit.WholePercent(nearBest))
}
