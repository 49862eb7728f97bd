package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/run/peers"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// comparable explains which figures can be compared.
const comparable = `What can be compared: records acked per second and the send service time, which for both runs from
the call of send to the ack, on one cluster, with the same settings, in turns. What cannot: response
times, which the tools do not have, so that waiting for a late schedule shows in ours alone;
delivered per second, which is live traffic for ours and the reading of a filled topic for theirs;
times below a millisecond, which they round; and what was lost or came twice, which they do not see.`

const titleColumns = 24

// printPeers prints the figures of the three tools side by side, as medians of their runs.
func printPeers(w io.Writer, r *peers.Rounds) error {
	// The first column is empty, which sets the gap before the titles.
	table := layout.Table{Gap: 3, Left: map[int]bool{1: true}}
	table.Add(append([]string{"", ""}, peers.Names[:]...)...)
	row := func(title string, of func([]result.Run) string) {
		cells := []string{"", layout.Pad(title, titleColumns)}
		for _, runs := range r.Runs {
			cells = append(cells, of(runs))
		}
		table.Add(cells...)
	}
	row("runs", func(runs []result.Run) string { return strconv.Itoa(len(runs)) })
	for _, f := range peerFigures() {
		row(f.Title, func(runs []result.Run) string { return peerMedian(f, runs) })
	}
	if err := printTable(w, &table); err != nil {
		return err
	}
	fmt.Fprintln(w)
	printWrapped(w, "Medians. %s", strings.ReplaceAll(comparable, "\n", " "))
	for _, difference := range peers.Differences(r.Scenario) {
		printWrapped(w, "Mind: %s.", difference)
	}
	return nil
}

// peerFigures returns the figures of the table. A missing figure, or one with too few records, is a
// dash.
func peerFigures() (all []figure.Figure) {
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

func peerMedian(f figure.Figure, runs []result.Run) string {
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
