package main

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/answers"
)

// queues are the presets of the section on kmq, in its order. Their runs are recorded only if -only
// names them.
var queues = []string{
	"kmq-study", "kmq-online", "kmq-scale", "kmq-drain", "kmq-latency", "kmq-drops-silent", "kmq-drops-nack",
	"kmq-kill", "kmq-heavy-tail", "kmq-rolling",
}

func (s *shelf) missingQueues() string { return s.missingOf(queues) }

func (s *shelf) queueVerdicts() string { return s.verdictsOf(queues) }

func (s *shelf) queueGoals() (string, error) {
	table, err := s.goalsOf(queues)
	if table == notMade {
		return "", err // the verdicts say that no runs were made
	}
	return table, err
}

// decision is "" if no preset of the kmq study was made.
func (s *shelf) decision() (string, error) {
	var campaigns []*analysis.Study
	for i := range s.queues {
		if s.queues[i].campaign == nil {
			continue
		}
		d, err := analysis.NewStudy(s.queues[i].campaign, "")
		if err != nil {
			return "", err
		}
		campaigns = append(campaigns, d)
	}
	if len(campaigns) == 0 {
		return "", nil
	}
	table := answers.Decide(campaigns...)
	head := table.Rows[0]
	head[0] += ", " + methodsOf(runsOf(s.queues))
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s", strings.Join(head, " | "), strings.Repeat("---|", len(head)))
	for _, row := range table.Rows[1:] {
		fmt.Fprintf(&b, "\n| %s |", strings.Join(row, " | "))
	}
	fmt.Fprintf(&b, "\n\n%s", strings.Join(table.Notes, " "))
	return b.String(), nil
}

// median is of the valid runs of a variant; false if none has the figure.
func (e *entry) median(variant, name string) (float64, bool, error) {
	f, err := e.figure(name)
	if err != nil {
		return 0, false, err
	}
	values := f.Over(e.valid(variant))
	if len(values.Ranked) == 0 {
		return 0, false, nil
	}
	median := medianOf(values.Ranked)
	return median, !math.IsInf(median, 1), nil
}

func madeForQueues(name string) bool { return slices.Contains(queues, name) }
