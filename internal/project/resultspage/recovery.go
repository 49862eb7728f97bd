package main

import (
	"fmt"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// recovery is how a group worked off a backlog after its work became lighter,
// while the load went on.
//
//	backlog
//	  B ┤      ╱╲               A backlog shrinks by what is delivered less what
//	    │    ╱   ╲              is offered, and is back to normal after
//	    │  ╱      ╲
//	  N ┤╱         ╲______      expected = (B − N) ÷ (delivered/s − offered/s)
//	    └──────┬────┬────────
//	        change  drained
//
// The run watched its backlog, and says when it was back to normal; the formula
// says when that should have been. That both agree says that backlog, rates and
// the time axis of a run are of one piece.
type recovery struct {
	result.Change
	ExpectedS float64
}

// difference is how far the expected time is from the measured one, relative to
// it.
func (r recovery) difference() float64 { return r.ExpectedS/(*r.DrainTimeS) - 1 }

// recoveryOf is the first recovery of a run; false where there was none.
func recoveryOf(run *result.Run) (recovery, bool) {
	for _, c := range run.Lag.Changes {
		if c.DrainTimeS != nil {
			return recovery{c, float64(c.BacklogRecords-c.NormalRecords) / (c.DeliveredPerS - c.OfferedPerS)}, true
		}
	}
	return recovery{}, false
}

// recovery is the arithmetic of a recovery as a table.
func (s *shelf) recovery(scenario string) string {
	run := s.one(scenario)
	if run == nil {
		return "There is no run yet."
	}
	r, found := recoveryOf(&run.Run)
	if !found {
		return "The run found no backlog that was worked off."
	}
	seconds := func(s float64) string { return unit.Nanos(int64(s * 1e9)) }
	var b strings.Builder
	fmt.Fprintf(&b, "| %s | |\n|---|--:|\n", methodsOf([]*result.Recorded{run}))
	for _, row := range [][2]string{
		{"backlog when the work became lighter", unit.Count(r.BacklogRecords) + " records"},
		{"backlog of a group that keeps up", unit.Count(r.NormalRecords) + " records"},
		{"offered meanwhile", unit.PerSecond(r.OfferedPerS)},
		{"drain rate", unit.PerSecond(r.DeliveredPerS)},
		{"backlog ÷ (drain rate − offered)", seconds(r.ExpectedS)},
		{"time until the backlog was back to normal", seconds(*r.DrainTimeS)},
		{"difference", fmt.Sprintf("%.2f %%", 100*r.difference())},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	return strings.TrimSuffix(b.String(), "\n")
}
