package main

import (
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// recovery is how a group worked off a backlog after its work became lighter, while the load
// continued.
//
//	backlog
//	  B ┤      ╱╲               A backlog shrinks by what is delivered less what
//	    │    ╱   ╲              is offered, and is back to normal after
//	    │  ╱      ╲
//	  N ┤╱         ╲______      expected = (B − N) ÷ (delivered/s − offered/s)
//	    └──────┬────┬────────
//	        change  drained
//
// The run measured when its backlog was back to normal, and the formula gives the expected
// time. If both agree, the run's backlog, rates and time axis are consistent.
type recovery struct {
	result.Change
	ExpectedS float64
}

func (r recovery) difference() float64 { return r.ExpectedS/(*r.DrainTimeS) - 1 }

func recoveryOf(run *result.Run) (recovery, bool) {
	for _, c := range run.Lag.Changes {
		if c.DrainTimeS != nil {
			return recovery{c, float64(c.BacklogRecords-c.NormalRecords) / (c.DeliveredPerS - c.OfferedPerS)}, true
		}
	}
	return recovery{}, false
}

func (s *shelf) recovery(scenario string) string {
	runs := valid(s.of(scenario).runs())
	if len(runs) == 0 {
		return "There is no run yet."
	}
	head, rule := methodsOf(runs), "---"
	var rows [7][]string
	for i, name := range []string{
		"backlog when the work became lighter", "normal: backlog of a group that keeps up", "offered meanwhile", "drain rate",
		"expected: (backlog − normal) ÷ (drain rate − offered)", "time until the backlog was back to normal", "difference",
	} {
		rows[i] = []string{name}
	}
	seconds := func(s float64) string { return unit.Nanos(int64(s * 1e9)) }
	for i, run := range runs {
		head, rule = head+fmt.Sprintf(" | run %d", i+1), rule+"|--:"
		r, found := recoveryOf(&run.Run)
		if !found {
			for row := range rows {
				rows[row] = append(rows[row], absent)
			}
			continue
		}
		for row, text := range []string{
			unit.Count(r.BacklogRecords) + " records", unit.Count(r.NormalRecords) + " records", unit.PerSecond(r.OfferedPerS),
			unit.PerSecond(r.DeliveredPerS), seconds(r.ExpectedS), seconds(*r.DrainTimeS), fmt.Sprintf("%.2f %%", 100*r.difference()),
		} {
			rows[row] = append(rows[row], text)
		}
	}
	lines := []string{"| " + head + " |", "|" + rule + "|"}
	for _, row := range rows {
		lines = append(lines, "| "+strings.Join(row, " | ")+" |")
	}
	return strings.Join(lines, "\n")
}
