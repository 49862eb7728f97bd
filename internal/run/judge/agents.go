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
	// maxClockError bounds how far an agent's clock may have been off at the start: beyond
	// it the agents' loads were not one load.
	maxClockError = 50 * time.Millisecond
	// warnClockError is from where that shows in the shape of the load.
	warnClockError = 5 * time.Millisecond
)

// agents returns the agents, each with what it adds to the verdict. What its coordinator
// says of it comes first.
func (v verdict) agents() []result.Agent {
	all := slices.Clone(v.Evidence.Agents)
	for i, a := range all {
		own := alone(v.out, a)
		all[i].Reasons = slices.Concat(a.Reasons, v.faultsOfTheAgent(a), faultsOfTheTool(own))
		all[i].Warnings = slices.Concat(a.Warnings, warningsOfTheClock(a), warningsOfTheMachine(own))
	}
	return all
}

// faultsOfTheAgent: its part is not there, or is not the part of one load.
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
	// Each of its producers has its share of the schedule to within one record.
	if v.Expected != nil && a.Counts != nil && v.Scenario.Load.Producers > 0 {
		share := *v.Expected * float64(a.Producers) / float64(v.Scenario.Load.Producers)
		if math.Abs(float64(a.Counts.Scheduled)-share) > float64(a.Producers)+1 {
			reasons = append(reasons, offSchedule(a.Counts.Scheduled, share))
		}
	}
	return reasons
}

// warningsOfTheClock say by how much an agent's load may have been shifted.
func warningsOfTheClock(a result.Agent) []string {
	if a.ClockErrorNs == nil || *a.ClockErrorNs <= int64(warnClockError) || *a.ClockErrorNs > int64(maxClockError) {
		return nil
	}
	return []string{fmt.Sprintf("its clock may have been off by %s at the start", unit.Nanos(*a.ClockErrorNs))}
}

// alone returns the run with only what the verdict judges of a generator, as it was in one agent.
// What was due is the whole run's: an agent that only receives times scheduled records too.
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

// partMissing reports whether an agent did not hand in its part, so that nothing adds up.
func (e *Evidence) partMissing() bool {
	return slices.ContainsFunc(e.Agents, func(a result.Agent) bool { return !a.HandedIn })
}

// ofAgent says which agent texts are of.
func ofAgent(a result.Agent, texts []string) []string {
	named := make([]string, len(texts))
	for i, text := range texts {
		named[i] = a.String() + ": " + text
	}
	return named
}

// unsaid leaves out what an agent has in the same words: of several machines the run has
// the figures of the busiest.
func unsaid(texts []string, agents []result.Agent) []string {
	return slices.DeleteFunc(texts, func(text string) bool {
		return slices.ContainsFunc(agents, func(a result.Agent) bool {
			return slices.Contains(a.Reasons, text) || slices.Contains(a.Warnings, text)
		})
	})
}
