package main

import (
	"context"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// These are fractions of the closed loop's rate.
var fractions = []float64{1, 0.95, 0.9, 0.85, 0.8}

// A rate held if the records acked in the window are fewer than those due in it by at most this
// fraction.
const tolerance = 0.001

// The window is twice as long as elsewhere. In a shorter one, a single pause near the end could
// exceed the tolerance.
func (l *lab) ceilingWindow() time.Duration { return 2 * l.plan.measure }

// ceiling finds the highest rate that an open loop holds, compared with the closed loop's at the
// same settings. The difference is the cost of the schedule.
func (l *lab) ceiling(ctx context.Context) error {
	fmt.Fprintf(l.stdout, `
## The highest rate of an open loop

%d B values, %d partitions, acks 1, no compression, batches of %d KiB, linger %v, one client, 2 workers, nobody consumes;
%v each after %v of warm-up. Fractions of the closed loop's rate in the same round are offered, %d rounds; "held" is a
valid run in which what was acked in the window is at most %.1f %% less than what was due in it.

`, recordBytes, partitions, batchBytes>>10, linger, l.ceilingWindow(), 2*warmup, l.plan.rounds, 100*tolerance)
	var closed []float64
	held := make([][]result.Run, len(fractions))
	for round := range l.plan.rounds {
		settle()
		outcome, err := l.bench(ctx, l.ceilingRun("max"))
		if err != nil {
			return err
		}
		capacity := outcome.Run.Load.AckedPerS
		closed = append(closed, capacity)
		l.progress("ceiling, round %d: closed loop %s", round+1, unit.PerSecond(capacity))
		for i, f := range fractions {
			settle()
			outcome, err := l.bench(ctx, l.ceilingRun(fmt.Sprintf("%.0f/s", capacity*f)))
			if err != nil {
				return err
			}
			held[i] = append(held[i], outcome.Run)
			l.progress("ceiling, round %d: %.2f of it: %s, %s", round+1, f, howHeld(outcome.Run), outcome.Run.Verdict.Status)
		}
	}
	t := layout.Table{Rows: [][]string{{"offered ÷ closed loop", "offered", "acked in the window ÷ due", "deferred at the end",
		"send response p50", "p99", "CPU for a record", "held"}}}
	t.Add("closed loop", unit.PerSecond(median(closed, func(r float64) float64 { return r })), "–", "–", "–", "–", "–", "–")
	for i, f := range fractions {
		t.Add(ceilingRow(f, held[i])...)
	}
	fmt.Fprint(l.stdout, t.Markdown())
	return nil
}

func (l *lab) ceilingRun(rate string) string {
	return produceRun("perf-ceiling", rate, 2, 2*warmup, l.ceilingWindow())
}

func keptUp(r result.Run) float64 { return r.Load.AckedPerS / r.Load.OfferedPerS }

func isHeld(r result.Run) bool {
	return r.Verdict.Status == result.Valid && keptUp(r) >= 1-tolerance
}

func howHeld(r result.Run) string {
	return fmt.Sprintf("%.3f %% of %s", 100*keptUp(r), unit.PerSecond(r.Load.OfferedPerS))
}

func ceilingRow(fraction float64, runs []result.Run) []string {
	n := 0
	for _, r := range runs {
		if isHeld(r) {
			n++
		}
	}
	return []string{
		fmt.Sprintf("%.2f", fraction),
		unit.PerSecond(median(runs, func(r result.Run) float64 { return r.Load.OfferedPerS })),
		fmt.Sprintf("%.3f %%", 100*median(runs, keptUp)),
		unit.Count(int64(median(runs, func(r result.Run) float64 { return float64(r.Load.Deferred) }))),
		medianTime(runs, "send_response_time", p50), medianTime(runs, "send_response_time", p99), medianCPU(runs),
		fmt.Sprintf("%d of %d", n, len(runs)),
	}
}
