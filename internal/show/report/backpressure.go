package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printBackpressure(p *layout.Page, r *result.Recorded) {
	b := r.Run.Backpressure
	if b == nil {
		return
	}
	p.Heading("Backpressure", " in the measured window")
	printRemarks(p, underGate(&r.Run))
	printPictureOf(p, r)
}

type remark struct{ style, label, text string }

func printRemarks(p *layout.Page, all []remark) {
	for _, r := range all {
		p.Styled(r.style, r.label, r.text)
	}
}

func underGate(r *result.Run) []remark {
	b := r.Backpressure
	all := []remark{
		{layout.Plain, "controller", layout.List(controller(b), signal(b))},
		{layout.Plain, "excess", excess(r)},
	}
	if b.BoundRecords != nil {
		all = append(all, remark{layout.Plain, "bound", moved(b)})
	}
	all = append(all, kept(r)...)
	all = append(all, remark{layout.Plain, "gate", gateUse(r)})
	if b.BlindS > 0 {
		all = append(all, remark{layout.Yellow, "blind",
			"the lag was not known for " + unit.Seconds(b.BlindS) + " beyond the grace time"})
	}
	if b.Processes > 1 {
		all = append(all, remark{layout.Plain, "processes", shared(b)})
	}
	return all
}

func controller(b *result.Backpressure) string {
	text := b.Controller
	switch {
	case b.Controller == "hysteresis" && b.ResumeLag > 0:
		text += fmt.Sprintf(": closes above a lag of %s, opens below %s", unit.Count(b.MaxLag), unit.Count(b.ResumeLag))
	case b.Controller == "hysteresis":
		text += ": closes above a lag of " + unit.Count(b.MaxLag)
	case b.TargetNs > 0:
		text += ": holds " + unit.Nanos(b.TargetNs) + " from the gate to the consumer"
		if b.MaxLag > 0 {
			text += ", and a lag of at most " + unit.Count(b.MaxLag)
		}
	case b.MaxLag > 0:
		text += ": holds a lag of at most " + unit.Count(b.MaxLag)
	}
	if b.Per == "partition" {
		text += " in each partition"
	}
	return text
}

func signal(b *result.Backpressure) string {
	read := "read every " + unit.Nanos(b.PollNs)
	switch b.Signal {
	case "committed":
		return "goes by what is committed, " + read
	case "delivered":
		return "goes by what its own consumers took, " + read
	}
	return "the lag is " + read
}

func excess(r *result.Run) string {
	b, l := r.Backpressure, r.Load
	shed := ""
	if l.Shed > 0 {
		shed = fmt.Sprintf("%s (%s of the scheduled)", unit.Things(l.Shed, "record"), share(l.Shed, l.Scheduled))
		shed = layout.List(append([]string{shed}, shedBy(r)...)...)
	}
	switch b.Excess {
	case "defer":
		text := "deferred: at most " + unit.Things(b.DeferredPeakRecords,
			"record") + " waited at the source, " + unit.Count(l.Deferred) + " still did at the end"
		if shed != "" {
			text += "; shed: " + shed
		}
		return text
	case "degrade":
		kept := ""
		if n := r.Scenario.Get("backpressure.keep"); n != "" {
			kept = ": one record in " + n + " of it is kept and waits"
		}
		return layout.List("degraded"+kept, "at most "+unit.Count(b.DeferredPeakRecords)+" waited",
			"shed: "+orNone(shed))
	}
	return "shed: " + orNone(shed)
}

func orNone(text string) string {
	if text == "" {
		return "none"
	}
	return text
}

var shedReasons = []struct{ figure, words, short string }{
	{"shed_by_gate", "by the gate", "by the gate"},
	{"shed_by_queue", "as the queue at the source was full", "by a full queue"},
	{"shed_by_degrade", "by degrading", "by degrading"},
}

func shedBy(r *result.Run) (parts []string) {
	for _, reason := range shedReasons {
		if v, known := analysis.FigureCalled(reason.figure).Value(r); known && v > 0 {
			parts = append(parts, records(v)+" "+reason.words)
		}
	}
	if len(parts) < 2 {
		return nil
	}
	return parts
}

func moved(b *result.Backpressure) string {
	text := unit.Things(b.BoundRecords.Min, "record")
	if b.BoundRecords.Min == b.BoundRecords.Max {
		text += " throughout"
	} else {
		text = unit.Count(b.BoundRecords.Min) + " to " + unit.Things(b.BoundRecords.Max,
			"record") + ", " + unit.Count(b.BoundRecords.Last) + " at the end"
	}
	if b.Per == "partition" {
		text += ", in each partition"
	}
	if analysis.Estimates(b) {
		text = layout.List(text, "of the backlog as it is estimated between commits, not of the consumer lag")
	}
	return text
}

func kept(r *result.Run) (all []remark) {
	if ratio, known := analysis.PeakLagOfBound(r); known {
		least, known := analysis.AtLeastOfBound(r)
		if !known {
			least = ratio
		}
		style, text := layout.Plain,
			fmt.Sprintf("%s: the lag%s peaked at %s of %s", fromTo(least, ratio, times), ofPartition(r),
				fromTo(peakOfBound(r, least), peakOfBound(r, ratio), records), unit.Things(r.Backpressure.MaxLag, "record"))
		switch {
		case least > 1:
			style, text = layout.Yellow, text+", OVER the bound"
		case ratio > 1:
			style, text = layout.Yellow, text+", UNDECIDED: "+whyUndecided
		}
		all = append(all, remark{style, "lag ÷ max_lag", text})
	}
	if ratio, known := analysis.P99OfTarget.AtLeast(r); known {
		held := figure.HeldTime(r)
		text, _ := held.Text(r)
		style, factor := layout.Plain, times(ratio)
		if ranked, _ := analysis.P99OfTarget.Ranked(r); ranked > result.HeldWithin {
			style = layout.Yellow
			switch {
			case ratio == 0: // a lower bound of 0 says nothing
				factor = unit.Absent
			case math.IsInf(ranked, 1):
				factor = "> " + factor
			}
		}
		all = append(all, remark{style, "p99 ÷ target", fmt.Sprintf("%s: the %s is %s, the target %s",
			factor, held.Title, text, unit.Nanos(r.Backpressure.TargetNs))})
	}
	return all
}

const whyUndecided = "several processes produced while the lag was read, and the bound lies between its lowest and highest possible peak"

func fromTo(low, top float64, format func(float64) string) string {
	if from, to := format(low), format(top); from != to {
		return strings.TrimSuffix(from, " ×") + " to " + to
	}
	return format(top)
}

func ofPartition(r *result.Run) string {
	if r.Backpressure.Per == "partition" {
		return " of the worst partition"
	}
	return ""
}

func peakOfBound(r *result.Run, ratio float64) float64 { return ratio * float64(r.Backpressure.MaxLag) }

func gateUse(r *result.Run) string {
	b := r.Backpressure
	closed := "refused records for " + unit.Seconds(b.ClosedS)
	if w := analysis.Window(r); w > 0 {
		closed += " (" + unit.Percent(b.ClosedS*1e9/float64(w)) + " of the window)"
	}
	var decisions string
	if b.Decisions > 0 {
		decisions = "opened or closed " + unit.Things(b.Decisions, "time")
	}
	return layout.List(closed, decisions, "lag reading at most "+unit.Nanos(b.SignalAgeMaxNs)+" old")
}

func shared(b *result.Backpressure) string {
	text := unit.Count(int64(b.Processes)) + " with producers, each with a gate of its own"
	if b.Share == "demand" {
		return text + " and a part of the bound by what it had to send"
	}
	return text + " and the same part of the bound"
}

var faultEvents = []string{"fault", "broker", "rebalance", "process", "error"}

const faultLines = 12

func printFaults(p *layout.Page, r *result.Recorded) {
	if len(r.Run.Faults) == 0 {
		return
	}
	p.Heading("Faults", ", and what followed")
	printRemarks(p, followed(r))
}

func followed(r *result.Recorded) (all []remark) {
	left := 0
	repeated := make(map[string]bool) // a client repeats an error for as long as it lasts
	for _, e := range r.Events {
		said := e.What + e.Reason
		if e.AtNs < 0 || !slices.Contains(faultEvents, e.Kind) || repeated[said] {
			continue
		}
		repeated[said] = e.Kind == "error"
		if len(all) == faultLines {
			left++
			continue
		}
		style, text := layout.Plain, e.What
		if e.Reason != "" {
			text += ": " + e.Reason
		}
		if e.Kind == "fault" {
			style = layout.Yellow
		}
		all = append(all, remark{style, seconds(e.AtNs), text})
	}
	if left > 0 {
		all = append(all, remark{layout.Plain, "", fmt.Sprintf("and %d more in %s", left, result.EventsFile)})
	}
	return all
}

func markdownRemarks(m *layout.Markdown, title string, all []remark) {
	m.Paragraph("**", title, "**")
	var items []string
	for _, r := range all {
		text := layout.Prose(r.text)
		if r.label != "" {
			text = layout.Prose(r.label) + ": " + text
		}
		if r.style == layout.Yellow {
			text = "⚠️ " + text
		}
		items = append(items, text)
	}
	m.List(items)
}
