package answers

import (
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// pricesOfStarts is a sentence on the cost of writing each record's start before its delivery; ""
// without such cells. of returns the cost, or "" if it is not known.
func pricesOfStarts(d *analysis.Study, cells []*analysis.Cell, of func(first, late *analysis.Cell) string) string {
	var clauses []string
	for _, c := range cells {
		late := d.StartsLate(c)
		if late == nil {
			continue
		}
		if price := of(c, late); price != "" {
			clauses = append(clauses, d.Said(c.Label)+" "+price)
		}
	}
	if len(clauses) == 0 {
		return ""
	}
	return " With starts first, " + phrases(clauses)
}

func startsCost(d *analysis.Study) func(first, late *analysis.Cell) string {
	return func(first, late *analysis.Cell) string {
		times := func(name string) string { return quotient(first.Of(name), late.Of(name)) }
		var took []string
		for _, part := range []struct{ times, of string }{
			{times("broker_bytes_in_per_record"), "bytes into the brokers"},
			{times("broker_requests_per_record"), "requests at the brokers"},
			{quotient(cpuOfEach(first), cpuOfEach(late)), "CPU of brokers and clients"},
			{times(closedTime), analysis.FigureCalled(closedTime).Title},
		} {
			if part.times != unit.Absent {
				took = append(took, part.times+" times the "+part.of)
			}
		}
		text := fmt.Sprintf("acknowledged %s times what %s did", times("queue_acked_per_s"), d.Said(late.Label))
		if len(took) > 0 {
			text += ", and each record took " + layout.Enumerate(took)
		}
		return text
	}
}

const closedTime = "e2e_service_time_p50"

// cpuOfEach takes only the runs with the CPU of both clients and brokers.
func cpuOfEach(c *analysis.Cell) analysis.Repeated {
	var values []float64
	for _, r := range c.Sample.Taken {
		clients, known := analysis.FigureCalled("cpu_cores").Value(&r.Run)
		brokers, too := analysis.FigureCalled("broker_cpu_cores").Value(&r.Run)
		if acked, is := analysis.FigureCalled("queue_acked_per_s").Value(&r.Run); known && too && is && acked > 0 {
			values = append(values, (clients+brokers)/acked)
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
		if times := quotient(cpuOfEach(first), cpuOfEach(late)); times != unit.Absent {
			parts = append(parts, "each record took "+times+" times the CPU of brokers and clients")
		}
		return strings.Join(parts, ", and ")
	}
}
