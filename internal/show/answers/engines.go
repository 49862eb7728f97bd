package answers

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

func ofPlain(d *analysis.Study, head, name string) column {
	return column{head, func(c *analysis.Cell) string {
		if c.EngineOf() == analysis.PlainEngine && c.Of(name).N > 0 {
			return "1"
		}
		base := d.PlainOf(c)
		if base == nil {
			return unit.Absent
		}
		return CellMark(c, c.Of(name), quotient(c.Of(name), base.Of(name)))
	}}
}

// engineGroups groups the cells of other engines by their plain cell. alone are those without one.
func engineGroups(d *analysis.Study) (groups []engineGroup, alone []*analysis.Cell) {
	at := map[string]int{}
	for _, c := range d.ValidCells() {
		if c.EngineOf() == analysis.PlainEngine {
			at[c.Name] = len(groups)
			groups = append(groups, engineGroup{plain: c})
		}
	}
	for _, c := range d.ValidCells() {
		switch base := d.PlainOf(c); {
		case base != nil:
			groups[at[base.Name]].others = append(groups[at[base.Name]].others, c)
		case c.EngineOf() != analysis.PlainEngine:
			alone = append(alone, c)
		}
	}
	return groups, alone
}

type engineGroup struct {
	plain  *analysis.Cell
	others []*analysis.Cell
}

func (g engineGroup) prefix() string {
	if kind := analysis.KindOf(g.plain.Label, analysis.PlainEngine); kind != "" {
		return kind + ": "
	}
	return ""
}

func engines(d *analysis.Study) Answer {
	const name = "queue_acked_per_s"
	times := append(queueTimes(d), valued("settle time p50", "settle_time_p50"), valued("p99", "settle_time_p99"))
	columns := append([]column{valued("acked/s", name), ofPlain(d, "÷ plain", name)}, times...)
	table := tabulate(d, append(append(columns, queueCosts()...), summed("delivered again", "queue_redelivered"),
		summed("pending", "queue_pending"), summed("lost", "queue_lost"))...)
	table.Notes = []string{"acked/s: acknowledged by the application, each record once. ÷ plain: of the plain scenario that is alike but for the engine."}
	table.Notes = append(table.Notes, closedNote(d)...)
	groups, alone := engineGroups(d)
	var clauses []string
	for _, g := range groups {
		clause := g.prefix() + "plain acknowledged " + medianOf(g.plain, name)
		for _, c := range g.others {
			clause += fmt.Sprintf(", %s %s times that", c.EngineSaid(), quotient(c.Of(name), g.plain.Of(name)))
		}
		clauses = append(clauses, clause)
	}
	for _, c := range alone {
		clauses = append(clauses, fmt.Sprintf("%s acknowledged %s, without a plain scenario to compare with", d.Said(c.Label),
			medianOf(c, name)))
	}
	return table.says(phrases(clauses) + pricesOfStarts(d, d.ValidCells(), startsCost(d)) + notSettled(d))
}

func notSettled(d *analysis.Study) string {
	var clauses []string
	for _, part := range []struct{ name, what string }{{"queue_lost", "LOST"},
		{"queue_pending", "not settled by the end"}} {
		for _, c := range d.ValidCells() {
			if n, _ := c.Sum(part.name); n > 0 {
				clauses = append(clauses,
					fmt.Sprintf("%s of %s %s", unit.Things(int64(n), "record"), d.Said(c.Label), part.what))
			}
		}
	}
	if len(clauses) == 0 {
		return ""
	}
	return " But " + phrases(clauses)
}
