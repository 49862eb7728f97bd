package peers

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"kafka-bench/internal/result"
	"kafka-bench/internal/unit"
)

// Column is one of those who are set side by side.
type Column struct {
	Name string
	Runs []result.Run // its repeats
}

// row is a figure of a run, by the field that holds it.
type row struct {
	title string
	path  string
	there func(*result.Run) bool // it was measured, on enough records
	value func(*result.Run) float64
	print func(float64) string
}

func nanoseconds(v float64) string { return unit.Nanos(int64(v)) }

// rows are what is set side by side. A figure that a run does not tell is a dash.
func rows() []row {
	all := []row{
		{
			"acked", "load.acked_per_s", func(r *result.Run) bool { return r.Load.Acked > 0 },
			func(r *result.Run) float64 { return r.Load.AckedPerS }, unit.PerSecond,
		},
		{
			"delivered", "delivery.delivered_per_s", func(r *result.Run) bool { return r.Delivery.Delivered > 0 },
			func(r *result.Run) float64 { return r.Delivery.DeliveredPerS }, unit.PerSecond,
		},
	}
	for _, metric := range []struct{ name, title string }{
		{"send_service_time", "send service time"}, {"send_response_time", "send response time"}, {"e2e_response_time", "e2e response time"},
	} {
		for _, figure := range []struct {
			title, field string
			least        int64 // records that it takes: ten beyond the percentile
			of           func(result.Time) int64
		}{
			{"p50", "p50_ns", 20, func(t result.Time) int64 { return t.P50Ns }},
			{"p95", "p95_ns", 200, func(t result.Time) int64 { return t.P95Ns }},
			{"p99", "p99_ns", 1_000, func(t result.Time) int64 { return t.P99Ns }},
			{"p99.9", "p99_9_ns", 10_000, func(t result.Time) int64 { return t.P999Ns }},
			{"max", "max_ns", 1, func(t result.Time) int64 { return t.MaxNs }},
		} {
			all = append(all, row{
				metric.title + " " + figure.title, "time." + metric.name + "." + figure.field,
				func(r *result.Run) bool { return r.Time[metric.name].Count >= figure.least },
				func(r *result.Run) float64 { return float64(figure.of(r.Time[metric.name])) }, nanoseconds,
			})
		}
	}
	return all
}

// titleColumns is the width of the titles, which are to the left where figures are
// to the right.
const titleColumns = 24

// Table sets the columns side by side, each figure the median of its runs, and
// says what can be compared of them. A percentile is shown where a run has ten
// records beyond it.
func Table(w io.Writer, columns []Column) error {
	table := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintf(table, "%-*s\t", titleColumns, "")
	for _, c := range columns {
		fmt.Fprintf(table, "%s\t", c.Name)
	}
	fmt.Fprintf(table, "\n%-*s\t", titleColumns, "runs")
	for _, c := range columns {
		fmt.Fprintf(table, "%d\t", len(c.Runs))
	}
	fmt.Fprintln(table)
	for _, figure := range rows() {
		fmt.Fprintf(table, "%-*s\t", titleColumns, figure.title)
		for _, c := range columns {
			fmt.Fprintf(table, "%s\t", figure.cell(c.Runs))
		}
		fmt.Fprintln(table)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nMedians. %s\n", Comparable)
	return err
}

// cell is the median of the runs that have the figure.
func (w row) cell(runs []result.Run) string {
	var values []float64
	for i := range runs {
		if r := &runs[i]; w.there(r) && r.Says(w.path) {
			values = append(values, w.value(&runs[i]))
		}
	}
	if len(values) == 0 {
		return "–"
	}
	slices.Sort(values)
	middle := len(values) / 2
	if len(values)%2 == 1 {
		return w.print(values[middle])
	}
	return w.print((values[middle-1] + values[middle]) / 2)
}
