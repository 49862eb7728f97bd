package judge

import (
	"fmt"
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

const (
	// maxClockError is the greatest clock error of an agent at the start of a valid run.
	maxClockError = 50 * time.Millisecond
	// warnClockError is the clock error above which the shape of the load may change.
	warnClockError = 5 * time.Millisecond
)

func (v verdict) agents() []result.Agent {
	all := slices.Clone(v.Evidence.Agents)
	for i, a := range all {
		own := alone(v.out, a)
		all[i].Reasons = slices.Concat(a.Reasons, v.faultsOfTheAgent(a), faultsOfTheTool(own))
		all[i].Warnings = slices.Concat(a.Warnings, warningsOfTheClock(a), warningsOfTheMachine(own))
	}
	return all
}

func (v verdict) faultsOfTheAgent(a result.Agent) (reasons []string) {
	if !a.HandedIn {
		return []string{"its part is missing"}
	}
	switch clock := a.ClockErrorNs; {
	case clock == nil:
		reasons = append(reasons, "it is not known how far its clock was off at the start")
	case *clock > int64(maxClockError):
		reasons = append(reasons, fmt.Sprintf("its clock may have been off by %s at the start, above the bound of %v",
			unit.Nanos(*clock), maxClockError))
	}
	// Each producer may be off its part of the schedule by one record.
	if v.Expected != nil && a.Counts != nil && v.Scenario.Load.Producers > 0 {
		share := *v.Expected * float64(a.Producers) / float64(v.Scenario.Load.Producers)
		if math.Abs(float64(a.Counts.Scheduled)-share) > float64(a.Producers)+1 {
			reasons = append(reasons, offSchedule(a.Counts.Scheduled, share))
		}
	}
	return reasons
}

func warningsOfTheClock(a result.Agent) []string {
	if a.ClockErrorNs == nil || *a.ClockErrorNs <= int64(warnClockError) || *a.ClockErrorNs > int64(maxClockError) {
		return nil
	}
	return []string{fmt.Sprintf("its clock may have been off by %s at the start", unit.Nanos(*a.ClockErrorNs))}
}

// alone returns a run that has only the figures by which the verdict judges one agent. Its Load is
// that of the whole run, because even an agent without producers measures times of scheduled
// records.
func alone(out *result.Run, a result.Agent) *result.Run {
	own := &result.Run{Load: out.Load, Time: map[string]result.Time{}}
	if a.PacerLatenessP99Ns != nil {
		own.Time["pacer_lateness"] = result.Time{P99Ns: *a.PacerLatenessP99Ns}
	}
	if a.Process != nil {
		own.Process = *a.Process
	}
	return own
}

func (e *Evidence) partMissing() bool {
	return slices.ContainsFunc(e.Agents, func(a result.Agent) bool { return !a.HandedIn })
}

func ofAgent(a result.Agent, texts []string) []string {
	named := make([]string, len(texts))
	for i, text := range texts {
		named[i] = a.String() + ": " + text
	}
	return named
}

// unsaid removes the texts that an agent has too. The run has them because its figures are those of
// its busiest agent.
func unsaid(texts []string, agents []result.Agent) []string {
	return slices.DeleteFunc(texts, func(text string) bool {
		return slices.ContainsFunc(agents, func(a result.Agent) bool {
			return slices.Contains(a.Reasons, text) || slices.Contains(a.Warnings, text)
		})
	})
}
