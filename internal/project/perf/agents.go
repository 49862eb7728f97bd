package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// tool is the program that starts agents; make builds it.
const tool = "bin/kafka-bench"

// agentRounds is the least number of rounds, so that the ratio has an interval.
const agentRounds = 10

// agents compares two local agents with one run that has its producers in two processes.
func (l *lab) agents(ctx context.Context) error {
	rounds := max(l.plan.rounds, agentRounds)
	fmt.Fprintf(l.stdout, `
## Agents

A closed loop of two producers, settings as above, %v each after %v of warm-up: in two processes of one run
(load.processes: 2), and in two local agents, in turns, %d rounds.

`, l.plan.measure, warmup, rounds)
	scenario := filepath.Join(l.dir, "agents.yaml")
	text := strings.Replace(produceRun("perf-agents", "max", 2, warmup, l.plan.measure), "clients: 1", "clients: 2", 1)
	if err := os.WriteFile(scenario, []byte(text), 0o600); err != nil {
		return err
	}
	var processes, agents, spread []float64
	for round := range rounds {
		for _, of := range []struct {
			rates *[]float64
			flags []string
		}{
			{&processes, []string{"--set", "load.processes=2"}},
			{&agents, []string{"--agents", "2", "--local-agents"}},
		} {
			settle()
			r, err := l.invoke(ctx, append([]string{"run", scenario, "--brokers", strings.Join(l.kafka.Bootstrap(), ",")}, of.flags...)...)
			if err != nil {
				return err
			}
			*of.rates = append(*of.rates, r.Load.AckedPerS)
			l.progress("agents, round %d: %s acked, %s", round+1, unit.PerSecond(r.Load.AckedPerS), strings.Join(of.flags, " "))
			if len(r.Agents) == 2 && r.Agents[0].StartedNs != nil && r.Agents[1].StartedNs != nil {
				apart := *r.Agents[0].StartedNs - *r.Agents[1].StartedNs
				spread = append(spread, float64(max(apart, -apart)))
			}
		}
	}
	ratio, low, high := ratioOf(processes, agents)
	same := func(x float64) float64 { return x }
	t := layout.Table{Rows: [][]string{{"", "median, acked", "÷ load.processes: 2", "95 % interval", "start, spread"}}}
	t.Add("load.processes: 2", unit.PerSecond(median(processes, same)), "1", "–", "–")
	t.Add("two local agents", unit.PerSecond(median(agents, same)), fmt.Sprintf("%.3f", ratio), fmt.Sprintf("%.3f–%.3f", low, high),
		unit.Nanos(int64(median(spread, same))))
	fmt.Fprint(l.stdout, t.Markdown())
	return nil
}

// invoke makes one run with the tool. An invalid run counts too, with its rate as measured.
func (l *lab) invoke(ctx context.Context, arguments ...string) (result.Run, error) {
	out, err := os.MkdirTemp(l.dir, "run-")
	if err != nil {
		return result.Run{}, err
	}
	cmd := exec.CommandContext(ctx, tool, append(arguments, "--out", out)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	said, failed := cmd.CombinedOutput()
	runs, err := filepath.Glob(filepath.Join(out, "*", result.SummaryFile))
	if err != nil || len(runs) != 1 {
		return result.Run{}, errors.Join(fmt.Errorf("%s %s: %w: %s", tool, strings.Join(arguments, " "), failed, said), err)
	}
	recorded, err := result.Read(filepath.Dir(runs[0]))
	if err != nil {
		return result.Run{}, err
	}
	return recorded.Run, nil
}
