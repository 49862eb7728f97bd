package answers

import (
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// pricesOfStarts says what it costs to write the start marker of each record before its delivery.
// of(first, late) returns the cost, or "" if it is not known.
func pricesOfStarts(d *analysis.Study, cells []*analysis.Cell, of func(first, late *analysis.Cell) string) (clauses []string) {
	for _, c := range cells {
		late := d.StartsLate(c)
		if late == nil {
			continue
		}
		if price := of(c, late); price != "" {
			clauses = append(clauses, "starts first: "+d.Said(c.Label)+" "+price)
		}
	}
	return clauses
}

func startsCost(d *analysis.Study) func(first, late *analysis.Cell) string {
	return func(first, late *analysis.Cell) string {
		acked, than := first.Of("queue_acked_per_s"), late.Of("queue_acked_per_s")
		text := fmt.Sprintf("acknowledged %s times what %s did%s", quotient(acked, than), d.Said(late.Label),
			ifUnshown(acked, than))
		if took := eachTook(first, late, closedTime); took != "" {
			text += ", and " + took
		}
		return text
	}
}

// eachTook prints the cost of a record if its start marker is written before its delivery ÷ the
// cost if it is written later: bytes, requests, CPU and further figures. It is "" if no ratio is
// known.
func eachTook(first, late *analysis.Cell, further ...string) string {
	var took, rest []string
	take := func(r, base analysis.Repeated, of string) {
		switch times := quotient(r, base); {
		case times == unit.Absent:
		case alike(r, base):
			rest = append(rest, times+" times the "+of)
		default:
			took = append(took, times+" times the "+of+ifUnshown(r, base))
		}
	}
	takeFigure := func(name, of string) {
		if f := analysis.FigureCalled(name); late.Of(name).MedianText(f) != f.Format(0) { // else a quotient by next to nothing
			take(first.Of(name), late.Of(name), of)
		}
	}
	takeFigure("broker_bytes_in_per_record", "bytes into the brokers")
	takeFigure("queue_written_bytes_per_record", "bytes that the queue wrote")
	takeFigure("broker_requests_per_record", "requests at the brokers")
	take(cpuOfEach(first), cpuOfEach(late), "CPU of brokers and clients")
	for _, name := range further {
		takeFigure(name, analysis.FigureCalled(name).Title)
	}
	switch {
	case len(took)+len(rest) == 0:
		return ""
	case len(took) == 0:
		return "what each record took is not shown to differ: " + layout.Enumerate(rest)
	case len(rest) == 0:
		return "each record took " + layout.Enumerate(took)
	}
	return "each record took " + layout.Enumerate(took) + " (not shown to differ: " + layout.Enumerate(rest) + ")"
}

const closedTime = "e2e_service_time_p50"

// cpuOfEach is the CPU time of a record in ns, over the runs with the CPU of both clients and
// brokers.
func cpuOfEach(c *analysis.Cell) analysis.Repeated {
	var values []float64
	for _, r := range c.Sample.Taken {
		clients, known := analysis.FigureCalled("cpu_cores").Value(&r.Run)
		brokers, too := analysis.FigureCalled("broker_cpu_cores").Value(&r.Run)
		if acked, is := analysis.FigureCalled("queue_acked_per_s").Value(&r.Run); known && too && is && acked > 0 {
			values = append(values, (clients+brokers)*1e9/acked)
		}
	}
	if len(values) == 0 {
		return analysis.Repeated{}
	}
	return analysis.FromValues(values)
}

func startsAdd(d *analysis.Study, name string) func(first, late *analysis.Cell) string {
	return func(first, late *analysis.Cell) string {
		var parts []string
		if adds := addsTo(d, first, late, name); adds != "" {
			parts = append(parts, adds)
		}
		if took := eachTook(first, late); took != "" {
			parts = append(parts, took)
		}
		return strings.Join(parts, ", and ")
	}
}
