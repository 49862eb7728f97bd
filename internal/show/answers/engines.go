package answers

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
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

// against is a clause that divides the figure of each engine by that of plain: first of those that the runs tell
// apart from plain, or are too few to. It is "" if no engine has the figure.
func (g engineGroup) against(name string) (clause string) {
	var rest []string
	for _, c := range g.others {
		r, base := c.Of(name), g.plain.Of(name)
		switch times := quotient(r, base); {
		case times == unit.Absent:
		case alike(r, base):
			rest = append(rest, c.EngineSaid()+" "+times)
		default:
			clause += fmt.Sprintf(", %s %s times that%s", c.EngineSaid(), times, ifUnshown(r, base))
		}
	}
	if len(rest) > 0 {
		clause += ", not told apart from plain: " + layout.Enumerate(rest)
	}
	return clause
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
	time := queueTime(d) + "_p50"
	for _, g := range groups {
		clauses = append(clauses, g.prefix()+"plain acknowledged "+medianOf(g.plain, name)+g.against(name))
		if others := g.against(time); others != "" && g.plain.Setting("load.producers") != "0" { // a backlog is old
			clauses = append(clauses, fmt.Sprintf("%sthe %s of plain is %s%s", g.prefix(), analysis.FigureCalled(time).Title,
				medianOf(g.plain, time), others))
		}
	}
	for _, c := range alone {
		clauses = append(clauses, fmt.Sprintf("%s acknowledged %s, without a plain scenario to compare with", d.Said(c.Label),
			medianOf(c, name)))
	}
	return table.says(slices.Concat(clauses, notSettled(d))...)
}

func notSettled(d *analysis.Study) (clauses []string) {
	for _, part := range []struct{ name, what string }{{"queue_lost", "LOST"},
		{"queue_pending", "not settled by the end"}} {
		for _, c := range d.ValidCells() {
			if n, _ := c.Sum(part.name); n > 0 {
				clauses = append(clauses,
					fmt.Sprintf("%s of %s %s", unit.Things(int64(n), "record"), d.Said(c.Label), part.what))
			}
		}
	}
	return clauses
}
