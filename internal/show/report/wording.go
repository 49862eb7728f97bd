package report

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

var wording = map[analysis.Rule]func(analysis.Finding) string{
	analysis.Unfinished: func(f analysis.Finding) string { return f.Of[0] + " did not finish: it has no figures." },
	analysis.Invalid: func(f analysis.Finding) string {
		return fmt.Sprintf("%s is invalid (%s): its figures are shown, and are not to be relied on.", f.Of[0], f.Said)
	},
	analysis.PartlyInvalid: func(f analysis.Finding) string {
		return fmt.Sprintf("%s: left out %.0f of %.0f runs, invalid or not finished.",
			f.Of[0], f.Values["left_out"], f.Values["all"])
	},
	analysis.Lost: func(f analysis.Finding) string {
		return fmt.Sprintf("%s lost up to %s acked records.", f.Of[0], records(f.Values["records"]))
	},
	analysis.NotSent: func(f analysis.Finding) string {
		return fmt.Sprintf("%s failed to send %s of what was offered, or cannot say whether it was sent.",
			f.Of[0], unit.Percent(f.Values["share"]))
	},
	analysis.LeftBehind: func(f analysis.Finding) string {
		return fmt.Sprintf("%s was not drained: it took in more than its consumers can take, and "+
			"%s of what was offered was not delivered when the drain ended: those records %s.",
			f.Of[0], unit.Percent(f.Values["share"]), inTimes(f, "are in none of its e2e times"))
	},
	analysis.TurnedAway: turnedAway,
	analysis.HeldBack: func(f analysis.Finding) string {
		return fmt.Sprintf("%s still held back %s of what was offered when it ended: those records %s.",
			f.Of[0], unit.Percent(f.Values["share"]), inTimes(f, "are in none of its times"))
	},
	analysis.SentLater: func(f analysis.Finding) string {
		of := "all"
		if f.Values["shed"] > 0 {
			of = "the " + unit.Percent(f.Values["admitted"]) + " that it admitted"
		}
		return fmt.Sprintf("%s held back up to %s at the source, and they went out later: its response times count from when each was due, and are of %s.",
			f.Of[0], unit.Things(int64(f.Values["records"]), "record"), of)
	},
	analysis.BoundKept: func(f analysis.Finding) string {
		return fmt.Sprintf("%s kept its bound%s: the lag%s peaked at %s.",
			f.Of[0], inRuns(f), ofPartition(f.Run), peakOf(f))
	},
	analysis.BoundUndecided: func(f analysis.Finding) string {
		return fmt.Sprintf("It is undecided whether %s kept its bound%s: the lag%s peaked at %s; %s.",
			f.Of[0], inRuns(f), ofPartition(f.Run), peakOf(f), whyUndecided)
	},
	analysis.BoundExceeded: func(f analysis.Finding) string {
		return fmt.Sprintf("%s went over its bound%s: the lag%s peaked at %s, %s.",
			f.Of[0], inRuns(f), ofPartition(f.Run), peakOf(f), times(f.Values["peak"]))
	},
	analysis.TargetKept: func(f analysis.Finding) string {
		title, p99, wanted := targetOf(f)
		return fmt.Sprintf("%s held its target at p99 to within %v ×%s: %s is %s, the target %s.",
			f.Of[0], result.HeldWithin, inRuns(f), title, p99, wanted)
	},
	analysis.TargetMissed: func(f analysis.Finding) string {
		title, p99, wanted := targetOf(f)
		ratio := f.Values["ratio"]
		if f.Values["n"] < f.Values["of"] {
			top := figure.HeldTime(f.Run).FormatClocked(f.Values["p99_top"], f.Values["p99_top_least"], f.Values["clock_error"])
			p99, ratio = p99+" in the median and "+top+" at most", f.Values["ratio_top"]
		}
		over := times(ratio) + " the target"
		if math.IsInf(ratio, 1) {
			over = "as too many records had not ended"
		}
		return fmt.Sprintf("%s went over %v × its target of %s at p99%s: %s is %s, %s.",
			f.Of[0], result.HeldWithin, wanted, inRuns(f), title, p99, over)
	},
	analysis.GatesCompared: gatesCompared,
	analysis.NotSettled: func(f analysis.Finding) string {
		return fmt.Sprintf("%s had not settled%s when the next change of the consumers, or the end, came.",
			f.Of[0], inRuns(f))
	},
	analysis.CapacityUnused: func(f analysis.Finding) string {
		return fmt.Sprintf("%s left capacity unused: it delivered %s of what the same consumers delivered without backpressure, while it turned load away.%s",
			f.Of[0], unit.Percent(f.Values["share"]), tooSmall(f))
	},
	analysis.ConsumersIdle: func(f analysis.Finding) string {
		return fmt.Sprintf("%s left its consumers idle for %s of the window while it turned load away.%s",
			f.Of[0], unit.Percent(f.Values["share"]), tooSmall(f))
	},
	analysis.BoundTooSmall: func(f analysis.Finding) string {
		return fmt.Sprintf("%s turned load away that its consumers may have had room for.%s", f.Of[0], tooSmall(f))
	},
	analysis.CapacityUsed: func(f analysis.Finding) string {
		return fmt.Sprintf("%s delivered %s of what the same consumers delivered without backpressure.",
			f.Of[0], unit.Percent(f.Values["share"]))
	},
	analysis.NoneLost: func(analysis.Finding) string { return "No acked record was lost." },
	analysis.AllAlike: func(f analysis.Finding) string { return "All deliver about the same, " + delivered(f) + "." },
	analysis.AllSaturated: func(f analysis.Finding) string {
		return fmt.Sprintf("All deliver about the same, %s: what the consumers can take (%s). They differ in who waits, and in what is turned away.",
			delivered(f), unit.PerSecond(f.Values["capacity"]))
	},
}

// Findings returns the findings as sentences, or one sentence if there are none.
func Findings(compared []analysis.Variant) []string {
	if all := said(compared, func(analysis.Finding) bool { return true }); len(all) > 0 {
		return all
	}
	return []string{"Nothing stands out beyond the figures above."}
}

// Held returns sentences on what backpressure achieved and cost, and as rest the sentences on the
// other findings.
func Held(compared []analysis.Variant) (held, rest []string) {
	return said(compared, analysis.Finding.OfBackpressure),
		said(compared, func(f analysis.Finding) bool { return !f.OfBackpressure() })
}

func said(compared []analysis.Variant, which func(analysis.Finding) bool) (sentences []string) {
	for _, f := range analysis.Findings(compared) {
		if which(f) {
			sentences = append(sentences, wording[f.Rule](f))
		}
	}
	return sentences
}

func turnedAway(f analysis.Finding) string {
	if len(f.Of) == 1 {
		return fmt.Sprintf("%s shed %s of what was offered: its times speak of the %s that it admitted, and of nothing else.",
			f.Of[0], unit.Percent(f.Values["shed"]), unit.Percent(f.Values[f.Of[0]+" admitted"]))
	}
	each := make([]string, len(f.Of))
	for i, name := range f.Of {
		each[i] = name + " let " + unit.Percent(f.Values[name+" admitted"]) + " through"
	}
	return "Times speak of what was admitted, and of nothing else: of what was offered, " + layout.Enumerate(each) + "."
}

func gatesCompared(f analysis.Finding) string {
	shown := "ranks show a difference"
	switch stats.Verdict(f.Values["shown"]) {
	case analysis.NoClaim:
		shown = "one run of each carries no claim"
	case stats.TooFew:
		shown = "too few runs to show a difference"
	case stats.NoDifference:
		shown = "ranks show no difference"
	}
	sentence := fmt.Sprintf("%s's p99 is %s that of %s; %s.", f.Of[0], times(f.Values["ratio"]), f.Of[1], shown)
	if len(f.Names) > 0 {
		sentence += " They differ in " + layout.Enumerate(f.Names) + " as well."
	}
	return sentence
}

func inTimes(f analysis.Finding, none string) string {
	if f.Values["in_times"] == 0 {
		return none
	}
	return "count in its percentiles as slower than all others"
}

func inRuns(f analysis.Finding) string {
	switch n, of := f.Values["n"], f.Values["of"]; {
	case of == 1:
		return ""
	case n == 2 && of == 2:
		return " in both runs"
	case n == of:
		return fmt.Sprintf(" in all %.0f runs", of)
	default:
		return fmt.Sprintf(" in %.0f of %.0f runs", n, of)
	}
}

func peakOf(f analysis.Finding) string {
	least, peak := peakOfBound(f.Run, f.Values["least"]), peakOfBound(f.Run, f.Values["peak"])
	return fromTo(least, peak, records) + " of " + unit.Count(f.Run.Backpressure.MaxLag)
}

func targetOf(f analysis.Finding) (title, p99, wanted string) {
	held := figure.HeldTime(f.Run)
	p99 = held.FormatClocked(f.Values["p99"], f.Values["p99_least"], f.Values["clock_error"])
	return held.Title, p99, unit.Nanos(f.Run.Backpressure.TargetNs)
}

func tooSmall(f analysis.Finding) string {
	if f.Said == "" {
		return ""
	}
	return " Its bound is too small for what is under way: " + f.Said + "."
}

func delivered(f analysis.Finding) string {
	same, extent := cells(analysis.Spread{N: 2, Low: f.Values["low"], Median: f.Values["top"], Top: f.Values["top"]},
		unit.PerSecond)
	if extent == "" {
		return same
	}
	if apart := unit.WholePercent(1 - f.Values["low"]/f.Values["top"]); apart != unit.WholePercent(0) {
		extent += ", " + apart + " apart"
	}
	return extent
}
