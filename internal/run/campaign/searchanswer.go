package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/search"
)

func (p *prober) note(f search.Finding) {
	number := func(v float64) *float64 {
		if v == 0 {
			return nil
		}
		return &v
	}
	p.found.CapacityPerS, p.found.HighestPerS, p.found.FailedPerS = number(f.CapacityPerS), number(f.HighestPerS), number(f.FailedPerS)
	switch {
	case f.FailedPerS == 0:
	case f.Tool:
		p.found.Limit = result.LimitTool
	default:
		p.found.Limit = result.LimitKafka
	}
}

func (c SearchConfig) answer(f search.Finding, found *result.Search, err error) string {
	var b strings.Builder
	switch {
	case f.HighestPerS > 0:
		fmt.Fprintf(&b, "%s is the highest rate that holds: a run of %v met every expectation.",
			unit.PerSecond(f.HighestPerS), c.Confirm)
	case err != nil && f.PassedPerS > 0:
		fmt.Fprintf(&b, "%s so far %s has passed a probe of %v, and is not confirmed.", endedEarly("search", err),
			unit.PerSecond(f.PassedPerS), c.Probe)
	case err != nil:
		b.WriteString(endedEarly("search", err) + " no rate had passed yet.")
	case f.CapacityPerS == 0:
		fmt.Fprintf(&b, "Nothing came through in %s of the closed loop: there is nothing to search.",
			times(len(f.Probes)))
	case f.TooFewPerS > 0 && f.TooFewPerS >= f.PassedPerS:
		fmt.Fprintf(&b, "It is unknown whether %s holds: %s. Give --confirm %v: probes are lengthened up to that.",
			unit.PerSecond(f.TooFewPerS), strings.Join(why(found, f.TooFewPerS),
				"; "), unit.Duration(c.enough(f.TooFewPerS)))
	case f.PassedPerS > 0:
		fmt.Fprintf(&b, "No rate is confirmed: %s passed a probe of %v, and no probe was left for the longer run; allow more with --max-probes.", unit.PerSecond(f.PassedPerS), c.Probe)
	case f.Refuted:
		fmt.Fprintf(&b, "No rate is confirmed: runs of %v failed down to %s, and the probes were used up; allow more with --max-probes.", c.Confirm, unit.PerSecond(f.FailedPerS))
	default:
		fmt.Fprintf(&b, "No rate holds, down to %s.", unit.PerSecond(f.FailedPerS))
	}
	if f.FailedPerS > 0 {
		fmt.Fprintf(&b, " %s did not pass: %s.", unit.PerSecond(f.FailedPerS),
			strings.Join(why(found, f.FailedPerS), "; "))
		if f.Tool {
			b.WriteString(" There the limit was this tool or its machine, and not Kafka alone.")
		}
	}
	return b.String()
}

func endedEarly(what string, err error) string {
	if errors.Is(err, ErrAgentLost) {
		return fmt.Sprintf("The %s ended early (%v):", what, err)
	}
	return "The " + what + " ended early:"
}

func why(found *result.Search, perS float64) []string {
	for _, p := range slices.Backward(found.Probes) {
		if p.OfferedPerS == perS && !p.Passed {
			return p.Failures
		}
	}
	return nil
}

func (c SearchConfig) curveAnswer(found *result.Search, err error) string {
	highest, failed, told := 0.0, false, false
	for _, p := range lastOfEach(found.Probes) {
		switch {
		case p.TooFew || p.Doubtful:
			continue
		case !p.Passed:
			failed = true
		case !failed:
			highest = p.OfferedPerS
		}
		told = true
	}
	early := ""
	if err != nil {
		early = endedEarly("curve", err) + " "
	}
	switch {
	case len(found.Probes) == 0:
		return early + "no rate was tried."
	case !told:
		return early + "the records are too few to judge any rate; give a longer --confirm: probes are lengthened up to that."
	case !failed:
		return early + fmt.Sprintf("every rate that was tried met the expectations, up to %s.", unit.PerSecond(highest))
	case highest == 0:
		return early + "not even the lowest rate met the expectations."
	}
	return early + fmt.Sprintf("the expectations are met up to %s.", unit.PerSecond(highest))
}

// lastOfEach is ordered by rate.
func lastOfEach(probes []result.Probe) []result.Probe {
	last := make(map[float64]result.Probe)
	for _, p := range probes {
		last[p.OfferedPerS] = p
	}
	return slices.SortedFunc(maps.Values(last),
		func(a, b result.Probe) int { return cmp.Compare(a.OfferedPerS, b.OfferedPerS) })
}

func (p *prober) caveats(f search.Finding) {
	p.found.Caveats = nil
	if p.caveat != "" {
		p.found.Caveats = append(p.found.Caveats, p.caveat)
	}
	last := lastOfEach(p.found.Probes)
	failed := func(probe result.Probe) bool {
		return !probe.Passed && !probe.TooFew && !probe.Stalled && !probe.Doubtful
	}
	if highest := p.found.HighestPerS; highest != nil {
		bound := math.Inf(1)
		if p.found.FailedPerS != nil {
			bound = *p.found.FailedPerS
		}
		nearest := bound
		for _, probe := range last { // one of the curve may be nearer
			if failed(probe) && probe.OfferedPerS > *highest {
				nearest = min(nearest, probe.OfferedPerS)
			}
		}
		switch gap := nearest / *highest - 1; {
		case math.IsInf(gap, 1):
			p.found.Caveats = append(p.found.Caveats, "no rate failed: a higher one may hold, too")
		case gap > p.found.ResolutionRatio && nearest < bound:
			p.found.Caveats = append(p.found.Caveats,
				fmt.Sprintf("the answer is known to %.1f %%, not to %.3g %%: one run on the curve failed there", gap*100,
					p.found.ResolutionRatio*100))
		case gap > p.found.ResolutionRatio:
			p.found.Caveats = append(p.found.Caveats,
				fmt.Sprintf("the answer is known to %.1f %%, not to %.3g %%: the probes were used up", gap*100,
					p.found.ResolutionRatio*100))
		}
	}
	if f.FailedOnce {
		p.found.Caveats = append(p.found.Caveats,
			fmt.Sprintf("%s failed once and was not tried again: no probe was left", unit.PerSecond(f.FailedPerS)))
	}
	for _, probe := range last {
		if probe.Phase != string(search.Curve) || probe.TooFew || probe.Doubtful || p.found.HighestPerS == nil {
			continue
		}
		switch at := unit.PerSecond(probe.OfferedPerS); {
		case !probe.Passed && probe.OfferedPerS > *p.found.HighestPerS && // of lower ones the answer says it
			(p.found.FailedPerS == nil || probe.OfferedPerS < *p.found.FailedPerS):
			p.found.Caveats = append(p.found.Caveats,
				fmt.Sprintf("on the curve %s did not pass: %s", at, strings.Join(probe.Failures, "; ")))
		case probe.Passed && probe.OfferedPerS > *p.found.HighestPerS:
			p.found.Caveats = append(p.found.Caveats,
				fmt.Sprintf("on the curve %s passed: at another time more may hold than the answer", at))
		}
	}
}

func times(n int) string {
	if n == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs", n)
}
