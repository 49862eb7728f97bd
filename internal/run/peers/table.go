package peers

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Column is one of those who are set side by side.
type Column struct {
	Name string
	Runs []result.Run // its repeats
}

// rows are the figures that are set side by side. One that a run does not have, or
// has too few records for, is a dash.
func rows() (all []figure.Figure) {
	names := []string{"acked_per_s", "delivered_per_s"}
	for _, metric := range []string{"send_service_time", "send_response_time", "e2e_response_time"} {
		for _, statistic := range []string{"p50", "p95", "p99", "p99_9", "max"} {
			names = append(names, metric+"_"+statistic)
		}
	}
	for _, f := range figure.All() {
		if slices.Contains(names, f.Name) {
			all = append(all, f)
		}
	}
	return all
}

// titleColumns is the width of the titles, which are to the left where figures are
// to the right.
const titleColumns = 24

// Table sets the columns side by side, each figure the median of its runs, and
// says what can be compared of them.
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
	for _, f := range rows() {
		fmt.Fprintf(table, "%-*s\t", titleColumns, f.Title)
		for _, c := range columns {
			fmt.Fprintf(table, "%s\t", cell(f, c.Runs))
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
func cell(f figure.Figure, runs []result.Run) string {
	summaries := make([]*result.Run, len(runs))
	for i := range runs {
		summaries[i] = &runs[i]
	}
	all := f.Over(summaries)
	if len(all.Ranked) == 0 {
		return "–"
	}
	return all.Format(f, func(values []float64) float64 { return stats.Summarise(values, 0.95).Median })
}
