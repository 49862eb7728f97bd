package main

import (
	"context"
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func (l *lab) baseline(ctx context.Context) error {
	text, err := scenario.PresetText("baseline")
	if err != nil {
		return err
	}
	fmt.Fprintf(l.stdout, `
## The baseline

The preset "baseline": 10,000 records/s of 512 B mixed, 8 producers, 4 consumers, 12 partitions, snappy, linger 5 ms,
acks 1; %v each after %v of warm-up.

`, l.plan.measure, warmup)
	t := layout.Table{Rows: [][]string{{"round", "CPU for a record", "e2e response p50", "p99", "e2e service p50", "p99", "peak RSS", "verdict"}}}
	var runs []result.Run
	for round := range l.plan.rounds {
		settle()
		stop, err := l.profile(fmt.Sprintf("baseline-%d", round+1))
		if err != nil {
			return err
		}
		outcome, err := l.bench(ctx, string(text), fmt.Sprintf("phases.warmup=%v", warmup), fmt.Sprintf("phases.measure=%v", l.plan.measure))
		stop()
		if err != nil {
			return err
		}
		runs = append(runs, outcome.Run)
		t.Add(baselineRow(fmt.Sprint(round+1), runs[round:])...)
	}
	t.Add(baselineRow("median", runs)...)
	fmt.Fprint(l.stdout, t.Markdown())
	return nil
}

func baselineRow(name string, runs []result.Run) []string {
	return []string{
		name, medianCPU(runs),
		medianTime(runs, "e2e_response_time", p50), medianTime(runs, "e2e_response_time", p99),
		medianTime(runs, "e2e_service_time", p50), medianTime(runs, "e2e_service_time", p99),
		medianRSS(runs), verdicts(runs),
	}
}
