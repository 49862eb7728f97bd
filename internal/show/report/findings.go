package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
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
// is silent. What a controller held, or left unused, is said of valid runs alone.
func findings(compared []analysis.Variant) []string {
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
		say(leftBehind(v))
	}
	say(turnedAway(compared))
	for _, v := range compared {
		say(heldBack(v))
	}
	trusted := slices.DeleteFunc(slices.Clone(compared), func(v analysis.Variant) bool { return v.Valid == 0 })
	for _, v := range trusted {
		say(bound(v))
		say(target(v))
	}
	for _, s := range amongGated(trusted) {
		say(s)
	}
	unused := starved(trusted)
	if len(unused) == 0 {
		say(throughput(trusted))
	}
	for _, s := range unused {
		say(s)
	}
	for _, v := range trusted {
		say(unsettled(v))
	}
	if len(sentences) == 0 {
		return []string{"Nothing stands out beyond the figures above."}
	}
	return sentences
}

func invalid(v analysis.Variant) string {
	switch {
	case len(v.Runs) == 0:
		return fmt.Sprintf("%s did not finish: it has no figures.", v.Name)
	case v.Valid == 0:
		why := strings.Join(v.Runs[0].Run.Verdict.Reasons, "; ")
		return fmt.Sprintf("%s is invalid (%s): its figures are shown, and are not to be relied on.", v.Name, why)
	case v.Valid < v.All:
		return fmt.Sprintf("%s: left out %d of %d runs, invalid or not finished.", v.Name, v.All-v.Valid, v.All)
	}
	return ""
}

func losses(v analysis.Variant) string {
	if lost := v.Of(analysis.LostRecords); lost.Top > 0 {
		return fmt.Sprintf("%s lost up to %s acked records.", v.Name, records(lost.Top))
	}
	return ""
}

func failures(v analysis.Variant) string {
	if part := v.Of(analysis.FailedShare); part.Median >= noticeable {
		return fmt.Sprintf("%s failed to send %s of what was offered, or cannot say whether it was sent.", v.Name, unit.Percent(part.Median))
	}
	return ""
}

// turnedAway speaks of load that never became records.
func turnedAway(compared []analysis.Variant) string {
	var each []string
	var one analysis.Variant
	for _, v := range compared {
		if v.Of(analysis.ShedShare).Median >= noticeable {
			one = v
			each = append(each, v.Name+" let "+unit.Percent(v.Of(analysis.AdmittedShare).Median)+" through")
		}
	}
	switch len(each) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s shed %s of what was offered: its times speak of the %s that it admitted, and of nothing else.",
			one.Name, unit.Percent(one.Of(analysis.ShedShare).Median), unit.Percent(one.Of(analysis.AdmittedShare).Median))
	}
	return "Times speak of what was admitted, and of nothing else: of what was offered, " + layout.Enumerate(each) + "."
}

// heldBack speaks of load that waited at the source.
func heldBack(v analysis.Variant) string {
	if part := v.Of(analysis.DeferredShare); part.Median >= noticeable {
		return fmt.Sprintf("%s still held back %s of what was offered when it ended: those records %s.",
			v.Name, unit.Percent(part.Median), inTimes(v, "are in none of its times"))
	}
	if peak := v.Figure(analysis.FigureCalled("deferred_peak")); peak.Median > 0 {
		of := "all"
		if v.Of(analysis.Shed).Top > 0 {
			of = "the " + unit.Percent(v.Of(analysis.AdmittedShare).Median) + " that it admitted"
		}
		return fmt.Sprintf("%s held back up to %s at the source, and they went out later: its response times count from when each was due, and are of %s.",
			v.Name, unit.Things(int64(peak.Top), "record"), of)
	}
	return ""
}

// leftBehind speaks of load that was accepted and not worked off.
func leftBehind(v analysis.Variant) string {
	left := v.Of(analysis.PendingShare)
	if left.Median < noticeable {
		return ""
	}
	return fmt.Sprintf("%s was not drained: it took in more than its consumers can take, and "+
		"%s of what was offered was not delivered when the drain ended: those records %s.",
		v.Name, unit.Percent(left.Median), inTimes(v, "are in none of its e2e times"))
}

// inTimes says how records that did not end count in the times: none is in those of
// method 1 and of other tools.
func inTimes(v analysis.Variant, none string) string {
	if slices.ContainsFunc(v.Runs, func(r *result.Recorded) bool { return r.Run.Method() < 2 }) {
		return none
	}
	return "count in its percentiles as slower than all others"
}

// bound holds the peak of the lag against the bound that was asked for, in the worst
// of the runs: a bound that holds in most of them is none.
func bound(v analysis.Variant) string {
	over := v.Of(analysis.PeakLagOfBound)
	if over.N == 0 {
		return ""
	}
	r := &v.Typical(analysis.PeakLagOfBound).Run
	of := fmt.Sprintf("%s of %s", records(peakOfBound(r, over.Top)), unit.Count(r.Backpressure.MaxLag))
	if over.Top <= 1 {
		return fmt.Sprintf("%s kept its bound%s: the lag%s peaked at %s.", v.Name, inRuns(over.N, over.N), ofPartition(r), of)
	}
	above := func(ratio float64) bool { return ratio > 1 }
	exceeded := v.Where(analysis.PeakLagOfBound, above)
	if least := v.Of(analysis.AtLeastOfBound); least.N == over.N {
		of = fmt.Sprintf("%s of %s", fromTo(peakOfBound(r, least.Top), peakOfBound(r, over.Top), records), unit.Count(r.Backpressure.MaxLag))
		if least.Top <= 1 {
			return fmt.Sprintf("It is undecided whether %s kept its bound%s: the lag%s peaked at %s; %s.", v.Name, inRuns(exceeded, over.N), ofPartition(r), of, whyUndecided)
		}
		exceeded = v.Where(analysis.AtLeastOfBound, above)
	}
	return fmt.Sprintf("%s went over its bound%s: the lag%s peaked at %s, %s.", v.Name, inRuns(exceeded, over.N), ofPartition(r), of, times(over.Top))
}

// amongGated holds the time of each variant under a gate against that of the first one that
// offered the same to the same consumers. Each pair is a question of its own: ranks say whether
// the two differ at all. One run of each answers nothing.
func amongGated(trusted []analysis.Variant) (sentences []string) {
	p99 := analysis.FigureCalled(analysis.PrimaryName)
	var gated []analysis.Variant
	for _, v := range trusted {
		if v.Held() && v.Figure(p99).N > 0 {
			gated = append(gated, v)
		}
	}
	for i, v := range gated {
		for _, first := range gated[:i] {
			others := analysis.BesideBackpressure(analysis.Differences(analysis.ScenarioSettings(first.Runs), analysis.ScenarioSettings(v.Runs)))
			if slices.ContainsFunc(others, func(name string) bool { return name != figure.NotFelt }) {
				continue
			}
			of, than := v.Figure(p99).Median, first.Figure(p99).Median
			if !math.IsInf(of, 1) && !math.IsInf(than, 1) && than > 0 {
				sentence := fmt.Sprintf("%s's p99 is %s that of %s; %s.", v.Name, times(of/than), first.Name, shownByRanks(first.Values(p99), v.Values(p99)))
				if len(others) > 0 {
					sentence += " They differ in " + layout.Enumerate(others) + " as well."
				}
				sentences = append(sentences, sentence)
			}
			break
		}
	}
	return sentences
}

// shownByRanks says what two sets of runs show of each other.
func shownByRanks(a, b []float64) string {
	if len(a) == 1 && len(b) == 1 {
		return "one run of each carries no claim"
	}
	switch stats.Compare(a, b, analysis.DefaultAlpha).Verdict {
	case stats.TooFew:
		return "too few runs to show a difference"
	case stats.NoDifference:
		return "ranks show no difference"
	}
	return "ranks show a difference"
}

// p99OfTarget is by how much a controller kept its target.
var p99OfTarget = analysis.FigureCalled("p99_of_target")

// target holds the time of the admitted against what a controller was to hold.
func target(v analysis.Variant) string {
	f := p99OfTarget.Among(v.Among)
	ratio := v.Of(f.Ranked)
	if ratio.N == 0 {
		return ""
	}
	r := &v.Typical(f.Ranked).Run
	held := figure.HeldTime(r)
	p99, _ := held.Text(r)
	wanted := unit.Nanos(r.Backpressure.TargetNs)
	if ratio.Top <= result.HeldWithin {
		return fmt.Sprintf("%s held its target at p99 to within %v ×%s: %s is %s, the target %s.", v.Name, result.HeldWithin, inRuns(ratio.N, ratio.N), held.Title, p99, wanted)
	}
	missed := v.Where(f.Ranked, func(ratio float64) bool { return ratio > result.HeldWithin })
	over := times(ratio.Median) + " the target"
	if math.IsInf(ratio.Median, 1) {
		over = "as too many records had not ended"
	}
	return fmt.Sprintf("%s went over its target of %s at p99%s: %s is %s, %s.", v.Name, wanted, inRuns(missed, ratio.N), held.Title, p99, over)
}

// inRuns says in how many of several runs something was so.
func inRuns(n, of int) string {
	switch {
	case of == 1:
		return ""
	case n == of:
		return fmt.Sprintf(" in all %d runs", of)
	}
	return fmt.Sprintf(" in %d of %d runs", n, of)
}

// unsettled speaks of controllers that did not follow the consumers in time.
func unsettled(v analysis.Variant) string {
	changed := v.Where(changes, func(n float64) bool { return n > 0 })
	if settled := v.Figure(analysis.FigureCalled("settling_time")).N; v.Held() && settled < changed {
		return fmt.Sprintf("%s had not settled%s when the next change of the consumers, or the end, came.", v.Name, inRuns(changed-settled, changed))
	}
	return ""
}

func changes(r *result.Run) (float64, bool) { return float64(len(r.Lag.Changes)), true }

// throughput tells whether the variants differ in what reached the consumers.
func throughput(compared []analysis.Variant) string {
	var low, top float64
	var limit analysis.Spread
	seen, saturated := 0, true
	for _, v := range compared {
		rate := v.Figure(analysis.FigureCalled("delivered_per_s"))
		if rate.N == 0 {
			continue
		}
		if seen == 0 || rate.Median < low {
			low = rate.Median
		}
		top = max(top, rate.Median)
		limit = v.Of(analysis.Capacity)
		saturated = saturated && limit.N > 0 && rate.Median > (1-alike)*limit.Median
		seen++
	}
	if seen < 2 || top == 0 || (top-low)/top > alike {
		return ""
	}
	same, extent := cells(analysis.Spread{N: seen, Low: low, Median: top, Top: top}, unit.PerSecond)
	if extent != "" {
		same = extent
	}
	if saturated {
		return fmt.Sprintf("All deliver about the same, %s: what the consumers can take (%s). They differ in who waits, and in what is turned away.",
			same, unit.PerSecond(limit.Median))
	}
	return fmt.Sprintf("All deliver about the same, %s.", same)
}

// starved speaks of consumers that had nothing to do while load was turned away: by
// what the same consumers delivered without backpressure where that is known, and
// else by how busy they were.
func starved(compared []analysis.Variant) (sentences []string) {
	ofOff := figure.DeliveredOfOff(analysis.References(compared))
	for _, v := range compared {
		busy, part := v.Of(analysis.Utilisation), v.Figure(ofOff)
		away := v.Of(analysis.ShedShare).Median + v.Of(analysis.DeferredShare).Median
		switch {
		case away < noticeable:
		case part.N > 0 && 1-part.Median < idle:
		case part.N > 0:
			sentences = append(sentences, fmt.Sprintf("%s left capacity unused: it delivered %s of what the same consumers delivered without backpressure, while it turned load away.%s",
				v.Name, unit.Percent(part.Median), tooSmall(v)))
		case busy.N > 0 && 1-busy.Median >= idle:
			sentences = append(sentences, fmt.Sprintf("%s left its consumers idle for %s of the window while it turned load away.%s",
				v.Name, unit.Percent(1-busy.Median), tooSmall(v)))
		case busy.N == 0 && tooSmall(v) != "":
			sentences = append(sentences, fmt.Sprintf("%s turned load away that its consumers may have had room for.%s", v.Name, tooSmall(v)))
		}
	}
	return sentences
}

// smallBound begins a run's warning of a bound that has no room for what a group that
// keeps up has under way. What would do follows, and behind the sentence the reason.
const smallBound = "backpressure.max_lag: "

// tooSmall is the cause of load turned away for nothing, where a warning tells it.
func tooSmall(v analysis.Variant) string {
	for _, r := range v.Runs {
		for _, w := range r.Run.Verdict.Warnings {
			if wider, found := strings.CutPrefix(w, smallBound); found {
				wider, _, _ = strings.Cut(wider, ". ")
				return " Its bound is too small for what is under way: " + wider + "."
			}
		}
	}
	return ""
}
