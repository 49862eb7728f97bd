package answers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

type crew struct {
	*analysis.Cell
	brokers, consumers int
}

func crewsOf(cells []*analysis.Cell) (all []crew) {
	for _, c := range cells {
		brokers, wrong := strconv.Atoi(c.Setting("cluster.brokers"))
		consumers, err := strconv.Atoi(c.Setting("consume.consumers"))
		if wrong == nil && err == nil && consumers > 0 && !c.PartlyRead() &&
			c.Of(analysis.ThroughputFigure).N > 0 {
			all = append(all, crew{c, brokers, consumers})
		}
	}
	slices.SortStableFunc(all, func(a, b crew) int {
		return cmp.Or(cmp.Compare(a.brokers, b.brokers), cmp.Compare(a.consumers, b.consumers))
	})
	return all
}

func (c crew) each() analysis.Repeated {
	values := slices.Clone(c.Of(analysis.ThroughputFigure).Values)
	for i := range values {
		values[i] /= float64(c.consumers)
	}
	return analysis.FromValues(values)
}

func perConsumer(d *analysis.Study) Answer {
	const name = analysis.ThroughputFigure
	crews := crewsOf(d.ValidCells())
	f := analysis.FigureCalled(name)
	each := column{"each consumer", func(cell *analysis.Cell) string {
		for _, c := range crewsOf([]*analysis.Cell{cell}) {
			return CellMark(cell, cell.Of(name), c.each().Bounded(f))
		}
		return unit.Absent
	}}
	against := func(head string, alike func(a, b crew) bool) column {
		return column{head, func(cell *analysis.Cell) string {
			for _, c := range crewsOf([]*analysis.Cell{cell}) {
				switch i := slices.IndexFunc(crews, func(other crew) bool { return alike(other, c) }); {
				case i < 0:
				case crews[i].Cell == cell:
					return "1"
				default:
					return CellMark(cell, cell.Of(name), quotient(c.each(), crews[i].each()))
				}
			}
			return unit.Absent
		}}
	}
	columns := append(throughputColumns(d, "÷ first", name), each,
		against("÷ fewest consumers", func(a, b crew) bool { return a.brokers == b.brokers }),
		against("÷ fewest brokers", func(a, b crew) bool { return a.consumers == b.consumers }))
	table := tabulate(d, append(columns, costColumns()...)...)
	table.Notes = []string{"÷ fewest consumers: what each consumer read ÷ that of the fewest consumers on as many brokers. ÷ fewest brokers: ÷ that of as many consumers on the fewest brokers."}
	if len(crews) == 0 {
		return table.says(append([]string{"no valid run shows what its consumers read"}, notRanked(d)...)...)
	}
	return table.says(slices.Concat(moreConsumers(crews), moreBrokers(crews), notRanked(d), tooShort(d))...)
}

func moreConsumers(crews []crew) (clauses []string) {
	f := analysis.FigureCalled(analysis.ThroughputFigure)
	for _, group := range grouped(crews, func(c crew) int { return c.brokers }) {
		first, last := group[0], group[len(group)-1]
		clause := fmt.Sprintf("on %s %s read %s", unit.Things(int64(first.brokers), "broker"),
			unit.Things(int64(first.consumers), "consumer"), first.each().Bounded(f))
		if first.consumers > 1 {
			clause += " each"
		}
		for _, more := range group[1:] {
			if more.consumers == first.consumers {
				continue // another setting differs
			}
			and := ","
			if more == last {
				and = ", and"
			}
			clause += fmt.Sprintf("%s %d read %s each, %s times that of %d%s", and, more.consumers, more.each().Bounded(f),
				quotient(more.each(), first.each()), first.consumers, ifUnshown(more.each(), first.each()))
		}
		if last.consumers > first.consumers {
			clause += bottleneckClause(last.Cell)
		}
		clauses = append(clauses, clause)
	}
	return clauses
}

func moreBrokers(crews []crew) (clauses []string) {
	byConsumers := slices.Clone(crews)
	slices.SortStableFunc(byConsumers, func(a, b crew) int { return cmp.Compare(a.consumers, b.consumers) })
	for _, group := range grouped(byConsumers, func(c crew) int { return c.consumers }) {
		first, last := group[0], group[len(group)-1]
		if last.brokers > first.brokers {
			clauses = append(clauses, fmt.Sprintf("%s read %s times as much from %s as from %d%s",
				unit.Things(int64(last.consumers), "consumer"), quotient(last.each(), first.each()),
				unit.Things(int64(last.brokers), "broker"), first.brokers, ifUnshown(last.each(), first.each())))
		}
	}
	return clauses
}

func grouped(crews []crew, key func(crew) int) (groups [][]crew) {
	for i, c := range crews {
		if i == 0 || key(c) != key(crews[i-1]) {
			groups = append(groups, nil)
		}
		groups[len(groups)-1] = append(groups[len(groups)-1], c)
	}
	return groups
}
