// Package outcome judges the system that a run measured. The verdict says whether the figures are
// valid; the outcome says what happened to the records. A valid run may have measured a system that
// lost half of them.
//
// Files to know: outcome.go, keepingup.go.
package outcome

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// A system that reaches one of these bounds is unavailable.
const (
	longestGap  = time.Second // without an ack, while a record waits for one
	mostRefused = 0.005       // of the scheduled records: failed or unknown
)

// statuses has the worst first. NotJudged is last, because it is not worse than any other.
var statuses = []string{
	result.LostRecords, result.Unavailable, result.Overloaded, result.HeldBack, result.KeptUp, result.NotJudged,
}

// Worse reports whether status a is worse than b; an unknown status never is.
func Worse(a, b string) bool {
	rank := func(status string) int { return slices.Index(statuses, status) }
	return rank(a) >= 0 && (rank(b) < 0 || rank(a) < rank(b))
}

// In returns the run's recorded outcome, or judges an older run.
func In(r *result.Run) result.System {
	if r.System != nil {
		return *r.System
	}
	return Of(r)
}

// Of judges the system by a run's figures. The first matching rule gives the status, all matching
// rules the findings.
func Of(r *result.Run) result.System {
	if why := notJudged(r); why != "" {
		return result.System{Status: result.NotJudged, Findings: []string{why}}
	}
	s := result.System{Status: result.KeptUp, Findings: []string{}}
	for _, rule := range []struct {
		status string
		holds  func(*result.Run) []string
	}{
		{result.LostRecords, lost},
		{result.Unavailable, unavailable},
		{result.Overloaded, overloaded},
		{result.HeldBack, heldBack},
	} {
		found := rule.holds(r)
		if len(found) > 0 && s.Status == result.KeptUp {
			s.Status = rule.status
		}
		s.Findings = append(s.Findings, found...)
	}
	if len(s.Findings) == 0 {
		s.Findings = append(s.Findings,
			fmt.Sprintf("%s came through, of %s", unit.PerSecond(Reached(r)), unit.PerSecond(r.Load.OfferedPerS)))
	}
	return s
}

// Sentence returns the findings of an outcome in one line.
func Sentence(s result.System) string { return strings.Join(s.Findings, "; ") }

func notJudged(r *result.Run) string {
	switch {
	case r.Run.Imported != nil:
		return "another tool made the run"
	case r.Verdict.Status != result.Valid:
		return "the measurement is invalid"
	case r.Load.ClosedLoop:
		return "a closed loop offers as much as the clients take"
	case r.Load.Scheduled == 0:
		return "nothing was offered"
	case consumed(r) && !r.Delivery.Checked:
		return "records without a stamp can't be distinguished"
	}
	return ""
}

func consumed(r *result.Run) bool { return r.Consumer.Members > 0 }

func lost(r *result.Run) (found []string) {
	add := func(n int64, format string) {
		if n > 0 {
			found = append(found, fmt.Sprintf(format, records(n)))
		}
	}
	add(r.Delivery.Lost, "%s acknowledged and never delivered")
	add(r.Delivery.Corrupt, "%s delivered with other content")
	if r.Queue != nil {
		add(r.Queue.Lost, "%s not in the queue any more, and not settled")
	}
	return found
}

func unavailable(r *result.Run) (found []string) {
	if gap := ackGap(r); gap >= longestGap {
		found = append(found, fmt.Sprintf("a partition had no acknowledgement for %s, though records waited for one",
			unit.Nanos(int64(gap))))
	}
	if refused := r.Load.Failed + r.Load.Unknown; float64(refused) >= mostRefused*float64(r.Load.Scheduled) &&
		refused > 0 {
		text := share(refused, r.Load.Scheduled) + " of the scheduled records failed or have an unknown result"
		if most := r.Load.Errors.Most(); most != "" {
			text += "; the most frequent error: " + most
		}
		found = append(found, text)
	}
	return found
}

// ackGap is 0 with a gate, and for an older run that did not record it.
func ackGap(r *result.Run) time.Duration {
	switch {
	case r.Backpressure != nil:
		return 0
	case r.Load.AckGapMaxNs != nil:
		return time.Duration(*r.Load.AckGapMaxNs)
	case r.Availability != nil:
		return time.Duration(r.Availability.AckGapMaxNs)
	}
	return 0
}

func overloaded(r *result.Run) (found []string) {
	if consumed(r) && !r.Lag.Drained && r.Delivery.Pending > 0 {
		found = append(found, fmt.Sprintf("%s of the scheduled was delivered; %s still under way when the drain ended",
			unit.Percent(r.Delivery.Ratio), records(r.Delivery.Pending)))
	}
	if n := r.Load.Deferred; n > 0 {
		found = append(found, records(n)+" still waiting at the source at the end")
	}
	if n := r.Load.ShedByReason["queue_full"]; n > 0 {
		found = append(found, share(n,
			r.Load.Scheduled)+" of the scheduled was shed, because the queue at the source was full")
	}
	if admitted := admittedPerS(r); r.Scenario.Get("consume.hold") == "" && !KeepsUp(r, admitted) {
		found = append(found, fmt.Sprintf("it did not keep up: %s of %s came through in the measured window",
			unit.PerSecond(Reached(r)), unit.PerSecond(admitted)))
	}
	return found
}

func heldBack(r *result.Run) []string {
	if shed := r.Load.ShedByReason["gate"] + r.Load.ShedByReason["degrade"]; shed > 0 {
		return []string{share(shed, r.Load.Scheduled) + " of the scheduled was shed by the gate"}
	}
	return nil
}

func records(n int64) string {
	if n == 1 {
		return "1 record was"
	}
	return unit.Count(n) + " records were"
}

func share(n, of int64) string { return unit.Percent(float64(n) / float64(of)) }
