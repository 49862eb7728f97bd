package report

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printLag(p *layout.Page, recorded *result.Recorded) {
	r := &recorded.Run
	if r.Consumer.Members == 0 && (r.Run.Imported == nil || !r.Says("lag.backlog_peak_records")) {
		return
	}
	p.Heading("Lag", "")
	l := r.Lag
	consumer := "not measured"
	if l.PeakRecords != nil {
		consumer = "peak " + unit.Things(*l.PeakRecords, "record")
		if least := l.PeakAtLeastRecords; least != nil && *least != *l.PeakRecords {
			consumer = "peak between " + unit.Count(*least) + " and " + unit.Things(*l.PeakRecords, "record")
		}
		if l.FinalRecords != nil {
			consumer += ", " + unit.Count(*l.FinalRecords) + " at the end"
		}
		consumer += " (high watermark − committed)"
	}
	p.Labelled("consumer lag", consumer)
	if worst := worstPartitions(recorded.Intervals); worst != "" {
		p.Labelled("", worst)
	}
	switch {
	case reads(r): // the section on the records read has the backlog
	case r.Says("lag.backlog_peak_records"):
		p.Labelled("backlog", "peak "+unit.Things(l.BacklogPeakRecords, "record")+" (acked − delivered)")
	}
	if r.Says("lag.time_lag_peak_ns") && !reads(r) {
		p.Labelled("time lag", timeLag(r))
	}
	for _, c := range l.Changes {
		printRecovery(p, r, c)
		if r.Backpressure != nil {
			printSettling(p, r, c)
		}
	}
	if r.Says("lag.drained") && !reads(r) {
		printDrain(p, r)
	}
	if reads(r) {
		printOffsets(p, l)
	}
	if r.Consumer.Members == 0 {
		return
	}
	p.Labelled("consumers", layout.List(consumers(r.Consumer), polls(r), begun(r.Consumer), unevenly(r.Consumers)))
	printGroupAtEnd(p, r)
	if c := r.Consumer.Confined; c != nil {
		p.Labelled("confined", confined(*c))
	}
}

// If no reading found a waiting record, timeLag prints no age, rather than an age of 0: the age is
// read only at the ends of intervals.
func timeLag(r *result.Run) string {
	if !timeLagSeen(r) {
		return unit.Absent + " (looked at once an interval: no look found an undelivered record)"
	}
	return "the oldest undelivered record was at most " + unit.Nanos(r.Lag.TimeLagPeakNs) + " old"
}

// timeLagSeen reports whether the peak of the time lag is a measurement: a peak of 0 only means
// that no reading saw a waiting record.
func timeLagSeen(r *result.Run) bool { return r.Lag.TimeLagPeakNs > 0 || r.Load.Acked == 0 }

// printRecovery also says if only a part of the load was admitted. This explains how a backlog
// could shrink although more was offered than delivered.
func printRecovery(p *layout.Page, r *result.Run, c result.Change) {
	at := "at " + unit.Seconds(float64(c.AtNs)/1e9) + " " + c.What + ": "
	meanwhile := " came in"
	if r.Load.Shed > 0 || r.Backpressure != nil && r.Backpressure.DeferredPeakRecords > 0 {
		meanwhile = " were offered, and only a part of them admitted"
	}
	switch {
	case c.BacklogRecords <= c.NormalRecords:
		p.Labelled("recovery", at+"nothing to catch up with")
	case c.DrainTimeS != nil:
		p.Labelled("recovery", at+unit.Count(c.BacklogRecords)+" behind, caught up in "+unit.Seconds(*c.DrainTimeS)+
			" at "+unit.PerSecond(c.DeliveredPerS)+" while "+unit.PerSecond(c.OfferedPerS)+meanwhile)
	default:
		p.Styled(layout.Yellow, "recovery",
			at+unit.Count(c.BacklogRecords)+" behind, NOT caught up with before the next change or the end")
	}
}

func printSettling(p *layout.Page, r *result.Run, c result.Change) {
	held := "what is delivered each second within 10 % of its level"
	if r.Backpressure.TargetNs > 0 {
		held += fmt.Sprintf(", and its time within %v × the target", result.HeldWithin)
	}
	if c.SettlingS == nil {
		p.Styled(layout.Yellow, "settling", "NOT settled before the next change or the end: "+held)
		return
	}
	p.Labelled("settling", "settled within "+tenths(figure.Settled(c)*1e9)+": "+held+" from then on")
}

// tenths is for times that are known to a tenth of a second.
func tenths(ns float64) string { return unit.Decimals(ns/1e9, 1) + " s" }

func printDrain(p *layout.Page, r *result.Run) {
	l := r.Lag
	took, rate := unit.Seconds(l.DrainTimeS), unit.PerSecond(l.DrainPerS)
	if l.Drained && r.Delivery.Lost > 0 {
		p.Styled(layout.Yellow, "drain",
			"read to the end of the log "+took+" after the window's end, at "+rate+"; "+unit.Things(r.Delivery.Lost,
				"acked record")+" not in it")
		return
	}
	if l.Drained {
		p.Labelled("drain", "all acked was delivered "+took+" after the window's end, at "+rate)
		return
	}
	if r.Delivery.Checked && r.Delivery.Pending == 0 {
		p.Styled(layout.Yellow, "drain",
			"NOT DRAINED: it was over "+took+" after the window's end, before the log was read to its end; no acked record was known to be missing")
		return
	}
	left := "the backlog"
	if r.Delivery.Checked {
		left = unit.Things(r.Delivery.Pending, "acked record")
	}
	p.Styled(layout.Yellow, "drain", "NOT DRAINED: "+left+" undelivered after "+took+" at "+rate)
}

func confined(c result.Confined) string {
	var limits string
	if c.CPU > 0 {
		limits = unit.Decimals(c.CPU, 2) + " cores"
	}
	if c.MemoryBytes > 0 {
		limits = layout.List(limits, unit.Size(c.MemoryBytes).String())
	}
	text := "each process to " + limits + ", by " + c.By
	if c.CPUCoresUsed != nil {
		text += " · the busiest used " + unit.Decimals(*c.CPUCoresUsed, 2) + " cores"
	}
	if c.ThrottledS != nil {
		text += " · held back for " + unit.Seconds(*c.ThrottledS)
	}
	if c.SchedDelayNs != nil {
		text += " · scheduling delay p99 " + unit.Nanos(c.SchedDelayNs.P99Ns)
	}
	return text
}

// begun is "" if the time is not known.
func begun(c result.Consumer) string {
	var ready, first string
	if c.ReadyNs != nil {
		ready = "ready after " + unit.Nanos(*c.ReadyNs)
	}
	if c.FirstRecordNs != nil {
		first = "first record after " + unit.Nanos(*c.FirstRecordNs)
	}
	return layout.List(ready, first)
}

// polls is "" without a poll timeout in the scenario.
func polls(r *result.Run) string {
	if r.Scenario.Get("consume.poll_timeout") == "" {
		return ""
	}
	return fmt.Sprintf("%s with records, %s empty", unit.Things(r.Consumer.Polls, "poll"), unit.Count(r.Consumer.EmptyPolls))
}

func consumers(c result.Consumer) string {
	text := unit.Things(int64(c.Members), "member")
	if c.Processes > 0 {
		text += " in processes of their own, " + unit.Count(int64(c.Processes)) + " a group"
	}
	if c.Workers > 0 { // another tool may not say it
		text += ", " + unit.Things(int64(c.Workers), "worker")
	}
	if c.Utilisation != nil {
		text += ", " + unit.Percent(*c.Utilisation) + " busy"
	}
	if c.CapacityPerS != nil {
		text += ", can take " + unit.PerSecond(*c.CapacityPerS)
	}
	var trouble string
	if c.Rebalances > 0 {
		trouble = unit.Things(c.Rebalances, "rebalance")
	}
	if c.CommitErrors > 0 {
		trouble = layout.List(trouble, unit.Things(c.CommitErrors, "failed commit"))
	}
	return layout.List(text, trouble)
}
