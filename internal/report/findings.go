package report

import (
	"fmt"
	"strings"

	"kafka-bench/internal/unit"
)

const (
	// noticeable is the share of the load from which on its loss is told.
	noticeable = 0.005
	// alike is how far apart throughputs may be that count as the same.
	alike = 0.10
	// idle is the share of their time that consumers may be idle before
	// somebody should ask why.
	idle = 0.02
)

// findings puts in words what a reader of the table might miss, above all that
// figures of admitted records say nothing of those that were not. Each
// sentence comes of a rule over the figures, and a rule that does not apply
// is silent.
func findings(compared []variant) []string {
	var sentences []string
	say := func(s string) {
		if s != "" {
			sentences = append(sentences, s)
		}
	}
	for _, v := range compared {
		say(invalid(v))
	}
	for _, v := range compared {
		say(losses(v))
		say(failures(v))
		say(turnedAway(v))
		say(leftBehind(v))
		say(bound(v))
	}
	say(throughput(compared))
	for _, v := range compared {
		say(starved(v))
	}
	if len(sentences) == 0 {
		return []string{"Nothing stands out beyond the figures above."}
	}
	return sentences
}

func invalid(v variant) string {
	switch {
	case len(v.runs) == 0:
		return fmt.Sprintf("%s did not finish: it has no figures.", v.name)
	case v.valid == 0:
		why := strings.Join(v.runs[0].Run.Verdict.Reasons, "; ")
		return fmt.Sprintf("%s is invalid (%s): its figures are shown, and are not to be relied on.", v.name, why)
	case v.valid < v.all:
		return fmt.Sprintf("%s: left out %d of %d runs, invalid or not finished.", v.name, v.all-v.valid, v.all)
	}
	return ""
}

func losses(v variant) string {
	if lost := v.of(lostRecords); lost.top > 0 {
		return fmt.Sprintf("%s lost up to %s acked records.", v.name, records(lost.top))
	}
	return ""
}

func failures(v variant) string {
	if part := v.of(failedShare); part.median >= noticeable {
		return fmt.Sprintf("%s failed to send %s of what was offered, or cannot say whether it was sent.", v.name, unit.Percent(part.median))
	}
	return ""
}

// turnedAway speaks of load that never became records.
func turnedAway(v variant) string {
	if part := v.of(shedShare); part.median >= noticeable {
		return fmt.Sprintf("%s shed %s of what was offered: its times speak of the %s that it admitted, and of nothing else.",
			v.name, unit.Percent(part.median), unit.Percent(v.of(admittedShare).median))
	}
	if part := v.of(deferredShare); part.median >= noticeable {
		return fmt.Sprintf("%s still held back %s of what was offered when it ended: those records are in none of its times.",
			v.name, unit.Percent(part.median))
	}
	return ""
}

// leftBehind speaks of load that was accepted and not worked off.
func leftBehind(v variant) string {
	left := v.of(pendingShare)
	if left.median < noticeable {
		return ""
	}
	return fmt.Sprintf("%s took in more than its consumers can take: %s of what was offered was not delivered when the drain ended, and is in none of its e2e times.",
		v.name, unit.Percent(left.median))
}

// bound compares the peak of the lag with the bound that was asked for.
func bound(v variant) string {
	over := v.of(peakLagOfBound)
	if over.n == 0 || over.median <= 1 {
		return ""
	}
	return fmt.Sprintf("%s went over its bound: the lag peaked at %s records, %s of max_lag.", v.name, records(v.of(peakLag).median), times(over.median))
}

// throughput tells whether the variants differ in what reached the consumers.
func throughput(compared []variant) string {
	var low, top float64
	var limit spread
	seen, saturated := 0, true
	for _, v := range compared {
		rate := v.of(deliveredPerS)
		if rate.n == 0 {
			continue
		}
		if seen == 0 || rate.median < low {
			low = rate.median
		}
		top = max(top, rate.median)
		limit = v.of(capacity)
		saturated = saturated && limit.n > 0 && rate.median > (1-alike)*limit.median
		seen++
	}
	if seen < 2 || top == 0 || (top-low)/top > alike {
		return ""
	}
	same, extent := cells(spread{n: seen, low: low, median: top, top: top}, unit.PerSecond)
	if extent != "" {
		same = extent
	}
	if saturated {
		return fmt.Sprintf("All deliver about the same, %s: what the consumers can take (%s). They differ in who waits, and in what is turned away.",
			same, unit.PerSecond(limit.median))
	}
	return fmt.Sprintf("All deliver about the same, %s.", same)
}

// starved speaks of consumers that had nothing to do while load was turned
// away.
func starved(v variant) string {
	busy := v.of(utilisation)
	away := v.of(shedShare).median + v.of(deferredShare).median
	if busy.n == 0 || away < noticeable || 1-busy.median < idle {
		return ""
	}
	return fmt.Sprintf("%s left its consumers idle for %s of the window while it turned load away.", v.name, unit.Percent(1-busy.median))
}
