package answers

import (
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

const (
	wireBytes     = "wire_bytes_per_record"
	wireBytesSaid = "bytes on the wire for each record"
	toolCPUSaid   = "CPU time of the tool for each record"
)

func savings(d *analysis.Study) Answer {
	table := tabulate(d,
		valued("on the wire, each record", wireBytes), againstFirst(d, "÷ first", wireBytes),
		valued("compression", "compression_ratio"), valued("tool's CPU, each record", "cpu_per_record"),
		valued("brokers' CPU, each record", "broker_cpu_per_record"), valued("GC cycles", "gc_cycles"),
		valued("acked/s", "acked_per_s"), valued("e2e response time p50", "e2e_response_time_p50"),
		valued("p99", analysis.PrimaryName), limited(), summed("lost", "lost"),
	)
	return table.says(spreads(d, []said{
		{wireBytes, wireBytesSaid}, {analysis.PrimaryName, "e2e response time p99"},
		{"cpu_per_record", toolCPUSaid}, {"gc_cycles", "GC cycles of the tool"},
	})...)
}

type said struct{ figure, words string }

func spreads(d *analysis.Study, all []said) (clauses []string) {
	for _, s := range all {
		if clause := spread(d, s); clause != "" {
			clauses = append(clauses, clause)
		}
	}
	if len(clauses) == 0 {
		return []string{"there are not two scenarios with a valid run to hold against each other"}
	}
	return clauses
}

func repeatedOf(cells []analysis.Cell, name string) []analysis.Repeated {
	all := make([]analysis.Repeated, len(cells))
	for i := range cells {
		all[i] = cells[i].Of(name)
	}
	return all
}

// spread names the cells with the lowest and the highest median of a figure, and their quotient if the runs show that
// they differ; "" if fewer than two cells have the figure.
func spread(d *analysis.Study, s said) string {
	ranked := d.RankedOtherwise(s.figure)
	cells := ranked.Ranked()
	if len(cells) < 2 {
		return ""
	}
	low, high := cells[0].Figures[s.figure], cells[len(cells)-1].Figures[s.figure]
	text := fmt.Sprintf("%s: lowest median with %s, %s, and highest with %s, %s", s.words, d.Said(cells[0].Label),
		low.Bounded(ranked.By), d.Said(cells[len(cells)-1].Label), high.Bounded(ranked.By))
	rest := ranked.Against(cells)
	several := slices.ContainsFunc(cells, func(c analysis.Cell) bool { return c.Figures[s.figure].N > 1 })
	ends := rest[len(rest)-1]
	switch times := quotient(high, low); {
	case several && ends.Word != analysis.WordWorse: // said below
	case several && !analysis.ShownRange(repeatedOf(cells, s.figure)):
		text += unshownRange
	case times != unit.Absent:
		text += ", " + times + " times as much"
	}
	if low.N == 1 && several {
		return text + ", with one valid run of " + d.Said(cells[0].Label) + ", which carries no claim"
	}
	var alike, untold []string
	for _, other := range rest {
		switch {
		case low.N == 1 || other.Word == analysis.WordWorse:
		case other.Word == analysis.WordTooFew:
			untold = append(untold, d.Said(other.Name))
		default:
			alike = append(alike, d.Said(other.Name))
		}
	}
	if len(alike) > 0 {
		text += ", and " + d.Said(cells[0].Label) + " is not told apart from " + layout.Enumerate(alike)
	}
	if len(untold) > 0 {
		text += ", with too few runs to tell " + d.Said(cells[0].Label) + " from " + layout.Enumerate(untold)
	}
	return text
}
