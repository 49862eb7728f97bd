package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/run/campaign"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/search"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// printSearch prints the probes that a search may make. If the cluster cannot be used, it returns
// the error that a search would return.
func printSearch(w io.Writer, cfg campaign.SearchConfig, r rig, at place) error {
	where, err := at.text(r.flags, 1)
	if err != nil {
		return err
	}
	planned := cfg.Campaign(tool()).Campaign
	printWrapped(w, "%s", planned.Name)
	printWrapped(w, "%s", planned.Question)
	fmt.Fprintln(w)
	for _, warning := range append(judge.Warnings(cfg.Scenario), at.asked.warnings[cfg.First().Name]...) {
		printWrapped(w, "warning: %s", warning)
	}
	searched, curved, least, most := cfg.Probes()
	table := layout.Table{Gap: 2, Left: map[int]bool{1: true}}
	if searched > 0 {
		first, lowest, highest := search.Reach()
		table.Add("rates", fmt.Sprintf("first as fast as it goes, which gives the capacity; then %s of it, then %s to %s, and higher if these pass",
			percent(first), percent(lowest), percent(highest)))
		table.Add("probes", fmt.Sprintf("at most %d (--max-probes), until the answer is within %.3g %% of a rate that fails",
			searched, cfg.Options.WithDefaults().Resolution*100))
	}
	if curved > 0 {
		table.Add("curve", curveOf(cfg, curved))
	}
	table.Add("each takes", fmt.Sprintf("%s warm-up, %s window (%s if it confirms, or a percentile needs more records), and a drain",
		unit.Span(time.Duration(cfg.Scenario.Phases.Warmup)), unit.Span(cfg.Probe), unit.Span(cfg.Confirm)))
	table.Add("duration", fmt.Sprintf("at most %s, and what it takes to start; about %s if no probe is longer or repeated, without drains",
		unit.Span(most), roughly(least)))
	if topic := existing([]scenario.Scenario{cfg.Scenario}); topic != "" {
		table.Add("existing", topic)
	}
	table.Rows = append(table.Rows, r.rows(where, at.asked)...)
	table.Rows = append(table.Rows, givenToBrokers([]scenario.Scenario{cfg.Scenario})...)
	table.Rows = slices.DeleteFunc(table.Rows, func(row []string) bool { return row[1] == "" })
	return printTable(w, &table)
}

func curveOf(cfg campaign.SearchConfig, probes int) string {
	text := "10 % to 110 % of the answer"
	if of := cfg.CurveOfPerS; of > 0 {
		rates := search.CurveRates(of)
		text = unit.PerSecond(rates[0]) + " to " + unit.PerSecond(rates[len(rates)-1])
	}
	return fmt.Sprintf("%s, at most %d probes: one that delivers nothing is repeated once", text, probes)
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", share*100) }
