package report

import (
	"kafka-bench/internal/result"
	"kafka-bench/internal/unit"
)

// lag is how far the consumers were behind, and how they came back.
func (p *page) lag(r *result.Run) {
	if r.Consumer.Members == 0 {
		return
	}
	p.heading("Lag", "")
	l := r.Lag
	consumer := "not measured"
	if l.PeakRecords != nil {
		consumer = "peak " + count(*l.PeakRecords, "record")
		if l.FinalRecords != nil {
			consumer += ", " + unit.Count(*l.FinalRecords) + " at the end"
		}
		consumer += " (high watermark − committed)"
	}
	p.labelled("consumer lag", consumer)
	switch {
	case reads(r): // what there was to read is in what was read
	case r.Says("lag.backlog_peak_records"):
		p.labelled("backlog", "peak "+count(l.BacklogPeakRecords, "record")+" (acked − delivered)")
	}
	if r.Says("lag.time_lag_peak_ns") && !reads(r) {
		p.labelled("time lag", timeLag(r))
	}
	for _, c := range l.Changes {
		p.recovery(c)
		if r.Backpressure != nil {
			p.settling(c)
		}
	}
	if r.Says("lag.drained") && !reads(r) {
		p.drain(r)
	}
	p.labelled("consumers", consumers(r.Consumer))
}

// timeLag says how old the oldest undelivered record was. It is looked at where
// intervals end, and not in between: that no look found a record waiting, though
// records waited, is no age of zero.
func timeLag(r *result.Run) string {
	if !timeLagSeen(r) {
		return absent + " (looked at once an interval: no look found an undelivered record)"
	}
	return "the oldest undelivered record was at most " + unit.Nanos(r.Lag.TimeLagPeakNs) + " old"
}

// timeLagSeen tells whether the peak of the time lag is a measurement. Every record
// waits a moment before it is delivered, so that a peak of 0 is only that nobody
// looked then.
func timeLagSeen(r *result.Run) bool { return r.Lag.TimeLagPeakNs > 0 || r.Load.Acked == 0 }

// recovery tells what became of the backlog that the consumers had when they
// began to work otherwise.
func (p *page) recovery(c result.Change) {
	at := "at " + fromSeconds(float64(c.AtNs)/1e9) + " " + c.What + ": "
	switch {
	case c.BacklogRecords <= c.NormalRecords:
		p.labelled("recovery", at+"nothing to catch up with")
	case c.DrainTimeS != nil:
		p.labelled("recovery", at+unit.Count(c.BacklogRecords)+" behind, caught up in "+fromSeconds(*c.DrainTimeS)+
			" at "+unit.PerSecond(c.DeliveredPerS)+" while "+unit.PerSecond(c.OfferedPerS)+" came in")
	default:
		p.styled(yellow, "recovery", at+unit.Count(c.BacklogRecords)+" behind, NOT caught up with before the next change or the end")
	}
}

// settling tells how long a controller took to follow the consumers.
func (p *page) settling(c result.Change) {
	if c.SettlingS == nil {
		p.styled(yellow, "settling", "what is delivered was NOT steady before the next change or the end")
		return
	}
	p.labelled("settling", "what is delivered was steady from "+fromSeconds(*c.SettlingS)+" after it on")
}

// drain tells whether the consumers caught up when the load had ended.
func (p *page) drain(r *result.Run) {
	l := r.Lag
	took, rate := fromSeconds(l.DrainTimeS), unit.PerSecond(l.DrainPerS)
	if l.Drained {
		p.labelled("drain", "all acked was delivered "+took+" after the window's end, at "+rate)
		return
	}
	left := "the backlog"
	if r.Delivery.Checked {
		left = count(r.Delivery.Pending, "acked record")
	}
	p.styled(yellow, "drain", "NOT DRAINED: "+left+" undelivered after "+took+" at "+rate)
}

func consumers(c result.Consumer) string {
	text := count(int64(c.Members), "member") + ", " + count(int64(c.Workers), "worker")
	if c.Utilisation != nil {
		text += ", " + unit.Percent(*c.Utilisation) + " busy"
	}
	if c.CapacityPerS != nil {
		text += ", can take " + unit.PerSecond(*c.CapacityPerS)
	}
	var trouble string
	if c.Rebalances > 0 {
		trouble = count(c.Rebalances, "rebalance")
	}
	if c.CommitErrors > 0 {
		trouble = list(trouble, count(c.CommitErrors, "failed commit"))
	}
	return list(text, trouble)
}
