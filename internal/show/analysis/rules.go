package analysis

import (
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Rule is a kind of finding. Package report has a sentence for each.
type Rule string

// The rules, with the values of their findings.
const (
	Unfinished     Rule = "run.unfinished"
	Invalid        Rule = "run.invalid"         // Said has the reasons
	PartlyInvalid  Rule = "run.partly_invalid"  // left_out, all
	Lost           Rule = "load.lost"           // records
	NotSent        Rule = "load.not_sent"       // share
	LeftBehind     Rule = "load.left_behind"    // share, in_times
	TurnedAway     Rule = "load.turned_away"    // shed of the last of Of; NAME + " admitted" of each
	HeldBack       Rule = "load.held_back"      // share, in_times
	SentLater      Rule = "load.sent_later"     // records, admitted; shed, 0 if none was
	BoundKept      Rule = "gate.bound_kept"     // peak, n, of
	BoundUndecided Rule = "gate.bound_unclear"  // peak, least, n, of
	BoundExceeded  Rule = "gate.bound_exceeded" // peak, n, of; least if it differs
	TargetKept     Rule = "gate.target_kept"    // p99, p99_least, clock_error, n, of
	TargetMissed   Rule = "gate.target_missed"  // the same, and ratio; p99_top, p99_top_least, ratio_top of the worst run
	GatesCompared  Rule = "gate.compared"       // ratio of the first of Of to the second, shown; Names of differing settings
	NotSettled     Rule = "gate.not_settled"    // n, of
	CapacityUsed   Rule = "gate.used"           // share
	CapacityUnused Rule = "gate.unused"         // share; Said has a cause
	ConsumersIdle  Rule = "gate.idle"           // share; Said has a cause
	BoundTooSmall  Rule = "gate.bound_small"    // Said has the cause
	NoneLost       Rule = "load.none_lost"
	AllAlike       Rule = "run.all_alike"     // low, top
	AllSaturated   Rule = "run.all_saturated" // low, top, capacity
)

// Finding is one thing that runs show.
type Finding struct {
	Rule   Rule
	Of     []string           // the variants, as a reader calls them
	Values map[string]float64 // shares are ratios; n is the number of runs with the finding
	Run    *result.Run        // the typical one, if the sentence needs its settings
	Names  []string
	Said   string // text from the runs themselves
}

// OfBackpressure reports whether the finding says what a controller kept, or what
// that cost.
func (f Finding) OfBackpressure() bool {
	switch f.Rule {
	case BoundKept, BoundUndecided, BoundExceeded, TargetKept, TargetMissed, SentLater, CapacityUsed, CapacityUnused,
		ConsumersIdle, BoundTooSmall, NoneLost, AllAlike, AllSaturated:
		return true
	}
	return false
}

const (
	// noticeable is the smallest loss that a report mentions, as a share of the
	// load.
	noticeable = 0.005
	// alike is the greatest relative difference of throughputs that count as the
	// same.
	alike = 0.10
	// idle is the idle share of the consumers' time from which a report mentions it.
	idle = 0.02
)

// Findings returns what a reader of a table of variants might miss. Findings about a controller
// come only from valid runs.
func Findings(compared []Variant) (all []Finding) {
	each := func(variants []Variant, rules ...func(Variant) *Finding) {
		for _, v := range variants {
			for _, rule := range rules {
				if f := rule(v); f != nil {
					f.Of = []string{v.Name}
					all = append(all, *f)
				}
			}
		}
	}
	each(compared, invalid)
	each(compared, losses, failures, leftBehind)
	all = append(all, turnedAway(compared)...)
	each(compared, heldBack)
	trusted := slices.DeleteFunc(slices.Clone(compared), func(v Variant) bool { return v.Valid == 0 })
	each(trusted, bound, target)
	all = append(all, amongGated(trusted)...)
	before := len(all)
	ofOff := figure.DeliveredOfOff(References(trusted))
	each(trusted, func(v Variant) *Finding { return starved(v, ofOff) })
	if len(all) == before {
		all = append(all, throughput(trusted)...)
	} else {
		each(trusted, func(v Variant) *Finding { return used(v, ofOff) })
	}
	all = append(all, noneLost(trusted)...)
	each(trusted, unsettled)
	return all
}

func invalid(v Variant) *Finding {
	switch {
	case len(v.Runs) == 0:
		return &Finding{Rule: Unfinished}
	case v.Valid == 0:
		return &Finding{Rule: Invalid, Said: strings.Join(v.Runs[0].Run.Verdict.Reasons, "; ")}
	case v.Valid < v.All:
		return &Finding{Rule: PartlyInvalid,
			Values: map[string]float64{"left_out": float64(v.All - v.Valid), "all": float64(v.All)}}
	}
	return nil
}

func losses(v Variant) *Finding {
	if lost := v.Of(LostRecords); lost.Top > 0 {
		return &Finding{Rule: Lost, Values: map[string]float64{"records": lost.Top}}
	}
	return nil
}

func failures(v Variant) *Finding {
	if part := v.Of(FailedShare); part.Median >= noticeable {
		return &Finding{Rule: NotSent, Values: map[string]float64{"share": part.Median}}
	}
	return nil
}

func turnedAway(compared []Variant) []Finding {
	f := Finding{Rule: TurnedAway, Values: map[string]float64{}}
	for _, v := range compared {
		if shed := v.Of(ShedShare).Median; shed >= noticeable {
			f.Of, f.Values[v.Name+" admitted"], f.Values["shed"] = append(f.Of,
				v.Name), v.Of(AdmittedShare).Median, shed
		}
	}
	if len(f.Of) == 0 {
		return nil
	}
	return []Finding{f}
}

func heldBack(v Variant) *Finding {
	if part := v.Of(DeferredShare); part.Median >= noticeable {
		return &Finding{Rule: HeldBack, Values: map[string]float64{"share": part.Median, "in_times": inTimes(v)}}
	}
	if peak := v.Figure(FigureCalled("deferred_peak")); peak.Median > 0 {
		values := map[string]float64{"records": peak.Top, "admitted": v.Of(AdmittedShare).Median,
			"shed": v.Of(Shed).Top}
		return &Finding{Rule: SentLater, Values: values}
	}
	return nil
}

func leftBehind(v Variant) *Finding {
	if left := v.Of(pendingShare); left.Median >= noticeable {
		return &Finding{Rule: LeftBehind, Values: map[string]float64{"share": left.Median, "in_times": inTimes(v)}}
	}
	return nil
}

// inTimes is 0 if a run's times exclude the records that did not end, as in method 1 and in other
// tools; else 1.
func inTimes(v Variant) float64 {
	if slices.ContainsFunc(v.Runs, func(r *result.Recorded) bool { return r.Run.Method() < 2 }) {
		return 0
	}
	return 1
}

func bound(v Variant) *Finding {
	over := v.Of(PeakLagOfBound)
	if over.N == 0 {
		return nil
	}
	above := func(ratio float64) bool { return ratio > 1 }
	values := map[string]float64{"peak": over.Top, "least": over.Top, "of": float64(over.N)}
	f := &Finding{Rule: BoundExceeded, Run: &v.Typical(PeakLagOfBound).Run, Values: values}
	exceeded := v.Where(PeakLagOfBound, above)
	if over.Top <= 1 {
		f.Rule, exceeded = BoundKept, over.N
	} else if least := v.Of(AtLeastOfBound); least.N == over.N {
		values["least"] = least.Top
		if least.Top <= 1 {
			f.Rule = BoundUndecided
		} else {
			exceeded = v.Where(AtLeastOfBound, above)
		}
	}
	values["n"] = float64(exceeded)
	return f
}

// amongGated compares the e2e response times of variants with backpressure. It compares each with
// the first whose other settings are the same, except figure.NotFelt, and tests each pair by
// itself.
func amongGated(trusted []Variant) (all []Finding) {
	p99 := FigureCalled(PrimaryName)
	gated := slices.DeleteFunc(slices.Clone(trusted), func(v Variant) bool { return !v.Held() || v.Figure(p99).N == 0 })
	for i, v := range gated {
		for _, first := range gated[:i] {
			others := besideBackpressure(Differences(ScenarioSettings(first.Runs), ScenarioSettings(v.Runs)))
			if slices.ContainsFunc(others, func(name string) bool { return name != figure.NotFelt }) {
				continue
			}
			of, than := v.Figure(p99).Median, first.Figure(p99).Median
			if !math.IsInf(of, 1) && !math.IsInf(than, 1) && than > 0 {
				shown := float64(shownByRanks(first.Values(p99), v.Values(p99)))
				all = append(all, Finding{
					Rule: GatesCompared, Of: []string{v.Name, first.Name}, Names: others,
					Values: map[string]float64{"ratio": of / than, "shown": shown},
				})
			}
			break
		}
	}
	return all
}

// NoClaim replaces a stats.Verdict if each variant has one run.
const NoClaim stats.Verdict = -1

func shownByRanks(a, b []float64) stats.Verdict {
	if len(a) == 1 && len(b) == 1 {
		return NoClaim
	}
	return stats.Compare(a, b, DefaultAlpha).Verdict
}

// P99OfTarget is the p99 of the time that a controller's target bounds, ÷ the target.
var P99OfTarget = FigureCalled("p99_of_target")

func target(v Variant) *Finding {
	f := P99OfTarget.Among(v.Among)
	ratio := v.Of(f.Ranked)
	if ratio.N == 0 {
		return nil
	}
	run := &v.Typical(f.Ranked).Run
	p99, n := v.Figure(figure.HeldTime(run)), float64(ratio.N)
	found := &Finding{Rule: TargetKept, Run: run, Values: map[string]float64{
		"ratio": ratio.Median, "p99": p99.Median, "p99_least": p99.Least.Median, "clock_error": p99.ClockError, "n": n, "of": n,
		"ratio_top": ratio.Top, "p99_top": p99.Top, "p99_top_least": p99.Least.Top,
	}}
	if ratio.Top <= result.HeldWithin {
		return found
	}
	found.Rule = TargetMissed
	found.Values["n"] = float64(v.Where(f.Ranked, func(ratio float64) bool { return ratio > result.HeldWithin }))
	return found
}

func unsettled(v Variant) *Finding {
	changed := v.Where(changes, func(n float64) bool { return n > 0 })
	if settled := v.Figure(FigureCalled("settling_time")).N; v.Held() && settled < changed {
		return &Finding{Rule: NotSettled,
			Values: map[string]float64{"n": float64(changed - settled), "of": float64(changed)}}
	}
	return nil
}

func changes(r *result.Run) (float64, bool) { return float64(len(r.Lag.Changes)), true }

func throughput(compared []Variant) []Finding {
	var low, top float64
	var limit Spread
	seen, saturated := 0, true
	for _, v := range compared {
		rate := v.Figure(FigureCalled("delivered_per_s"))
		if rate.N == 0 {
			continue
		}
		if seen == 0 || rate.Median < low {
			low = rate.Median
		}
		top = max(top, rate.Median)
		limit = v.Of(Capacity)
		saturated = saturated && limit.N > 0 && rate.Median > (1-alike)*limit.Median
		seen++
	}
	if seen < 2 || top == 0 || (top-low)/top > alike {
		return nil
	}
	f := Finding{Rule: AllAlike, Values: map[string]float64{"low": low, "top": top, "capacity": limit.Median}}
	if saturated {
		f.Rule = AllSaturated
	}
	return []Finding{f}
}

// starved finds consumers that idled while load was shed or deferred. It compares their rate with
// the rate without backpressure. If that rate is not known, it uses their utilisation.
func starved(v Variant, ofOff figure.Figure) *Finding {
	busy, part := v.Of(Utilisation), v.Figure(ofOff)
	cause := tooSmall(v)
	switch {
	case v.Of(ShedShare).Median+v.Of(DeferredShare).Median < noticeable:
	case part.N > 0 && 1-part.Median < idle:
	case part.N > 0:
		return &Finding{Rule: CapacityUnused, Said: cause, Values: map[string]float64{"share": part.Median}}
	case busy.N > 0 && 1-busy.Median >= idle:
		return &Finding{Rule: ConsumersIdle, Said: cause, Values: map[string]float64{"share": 1 - busy.Median}}
	case busy.N == 0 && cause != "":
		return &Finding{Rule: BoundTooSmall, Said: cause}
	}
	return nil
}

// used finds consumers that a bound left as busy as they were without backpressure.
func used(v Variant, ofOff figure.Figure) *Finding {
	if part := v.Figure(ofOff); v.Held() && part.N > 0 && 1-part.Median < idle {
		return &Finding{Rule: CapacityUsed, Values: map[string]float64{"share": part.Median}}
	}
	return nil
}

// noneLost finds that faults under backpressure lost no record, if every run knows that.
func noneLost(trusted []Variant) []Finding {
	faults := false
	for _, v := range trusted {
		if v.Where(LostRecords, func(lost float64) bool { return lost == 0 }) < len(v.Runs) {
			return nil
		}
		faults = faults || slices.ContainsFunc(v.Runs, func(r *result.Recorded) bool { return len(r.Run.Faults) > 0 })
	}
	if !faults || !UnderBackpressure(trusted) {
		return nil
	}
	return []Finding{{Rule: NoneLost}}
}

// smallBound begins a run's warning that a bound is too small. A sufficient bound and the reason
// follow.
const smallBound = "backpressure.max_lag: "

func tooSmall(v Variant) string {
	for _, r := range v.Runs {
		for _, w := range r.Run.Verdict.Warnings {
			if wider, found := strings.CutPrefix(w, smallBound); found {
				wider, _, _ = strings.Cut(wider, ". ")
				return wider
			}
		}
	}
	return ""
}
