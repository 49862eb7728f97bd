package main

import (
	"context"
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

var offers = []struct {
	rate  string
	bytes int
	pacer string
}{
	{"10k/s", 512, "frugal"},
	{"10k/s", 512, "precise"},
	{"100k/s", 100, "frugal"},
	{"100k/s", 512, "frugal"},
	{"500k/s", 100, "frugal"},
	{"500k/s", 512, "frugal"},
}

func (l *lab) open(ctx context.Context) error {
	fmt.Fprintf(l.stdout, `
## Offering a load, open loop

4 producers, 6 partitions, acks 1, snappy, linger 5 ms, batches of 64 KiB, json; one consumer that counts and times;
%v each after %v of warm-up, medians of %d. "acked ÷ scheduled" is that of the records due in the window.

`, l.plan.measure, warmup, l.plan.rounds)
	outcomes := make([][]result.Run, len(offers))
	for range l.plan.rounds {
		for i, o := range offers {
			settle()
			outcome, err := l.bench(ctx, fmt.Sprintf(`
name: perf-open
topic: {partitions: 6, replication: 1}
load:
  rate: %s
  producers: 4
  pacer: %s
  record: {size: %dB, payload: json}
phases: {warmup: %v, measure: %v, drain: 30s}
`, o.rate, o.pacer, o.bytes, warmup, l.plan.measure))
			if err != nil {
				return err
			}
			r := outcome.Run
			l.progress("open, %s of %d B, %s: %d of %d acked, %s", o.rate, o.bytes, o.pacer, r.Load.Acked, r.Load.Scheduled, r.Verdict.Status)
			outcomes[i] = append(outcomes[i], r)
		}
	}
	t := layout.Table{Rows: [][]string{{"rate", "record", "pacer", "acked ÷ scheduled", "acked in the window",
		"pacer lateness p50", "p99", "send response p50", "p99", "CPU for a record", "verdict"}}}
	for i, o := range offers {
		t.Add(offerRow(o.rate, o.bytes, o.pacer, outcomes[i])...)
	}
	fmt.Fprint(l.stdout, t.Markdown())
	return nil
}

func offerRow(rate string, bytes int, pacer string, runs []result.Run) []string {
	return []string{
		rate, fmt.Sprintf("%d B", bytes), pacer,
		fmt.Sprintf("%.3f %%", 100*median(runs, func(r result.Run) float64 { return float64(r.Load.Acked) / float64(r.Load.Scheduled) })),
		unit.PerSecond(median(runs, func(r result.Run) float64 { return r.Load.AckedPerS })),
		medianTime(runs, "pacer_lateness", p50), medianTime(runs, "pacer_lateness", p99),
		medianTime(runs, "send_response_time", p50), medianTime(runs, "send_response_time", p99),
		medianCPU(runs), verdicts(runs),
	}
}

func p50(t result.Time) int64 { return t.P50Ns }
func p99(t result.Time) int64 { return t.P99Ns }

func medianTime(runs []result.Run, metric string, figure func(result.Time) int64) string {
	return unit.Nanos(int64(median(runs, func(r result.Run) float64 { return float64(figure(r.Time[metric])) })))
}

func medianCPU(runs []result.Run) string {
	cpu := median(runs, func(r result.Run) float64 {
		if r.Process.CPUPerRecord == nil {
			return 0
		}
		return *r.Process.CPUPerRecord
	})
	if cpu == 0 {
		return "–"
	}
	return unit.Nanos(int64(cpu))
}

func verdicts(runs []result.Run) string {
	valid := 0
	for _, r := range runs {
		if r.Verdict.Status == result.Valid {
			valid++
		}
	}
	if valid == len(runs) {
		return result.Valid
	}
	return fmt.Sprintf("%d of %d valid", valid, len(runs))
}
