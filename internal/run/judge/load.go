package judge

import (
	"maps"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

func (e *Evidence) load(s snapshot.Sent) result.Load {
	inWindow := e.AckedInWindow()
	l := result.Load{
		ClosedLoop: e.closedLoop(), OfferedPerS: e.perS(s.Scheduled),
		Scheduled: s.Scheduled, Admitted: s.Admitted, Deferred: s.Deferred(), Shed: s.Shed(),
		Acked: s.Acked, Failed: s.Failed, Unknown: s.Unknown,
		AckedPerS: e.perS(inWindow), AckedInWindow: &inWindow, Bytes: s.AckedBytes,
		Errors: e.last().Errors[1], VolumeBoundedBytes: e.VolumeBoundedBytes,
		VolumeBoundedRecords: e.VolumeBoundedRecords,
	}
	if s.Shed() > 0 {
		l.ShedByReason = result.Counts{"gate": s.ShedByGate, "queue_full": s.ShedByQueue}
	}
	if s.ShedByDegrade > 0 {
		l.ShedByReason["degrade"] = s.ShedByDegrade
	}
	if !l.ClosedLoop && e.sends() {
		gap := int64(0)
		if worst := longest(e.ackGaps(anyGap)); worst != nil {
			gap = worst.ToNs - worst.FromNs
		}
		l.AckGapMaxNs = &gap
	}
	if wire := e.End.Sending.Sub(e.Start.Sending); wire.Counted {
		written := wire.Wire.WrittenBytes
		l.WireBytes = &written
	}
	return l
}

func (e *Evidence) warmupLoad(s snapshot.Sent) result.Load {
	offered, acked := s.Scheduled, s.Acked
	s.Add(e.fillRead().Sent)
	l := result.Load{
		ClosedLoop: e.closedLoop(),
		Scheduled:  s.Scheduled, Admitted: s.Admitted, Deferred: s.Deferred(), Shed: s.Shed(),
		Acked: s.Acked, Failed: s.Failed, Unknown: s.Unknown, Bytes: s.AckedBytes,
		Errors: added(e.last().Errors[0], e.fillRead().Errors),
	}
	if warmup := e.warmupS(); warmup > 0 {
		l.OfferedPerS, l.AckedPerS = float64(offered)/warmup, float64(acked)/warmup
	}
	return l
}

func (e *Evidence) warmupS() float64 { return time.Duration(min(0, e.EndNs) - e.StartedNs).Seconds() }

// Both may be nil.
func added(a, b map[string]int64) map[string]int64 {
	sum := make(map[string]int64, len(a)+len(b))
	maps.Copy(sum, a)
	for name, n := range b {
		sum[name] += n
	}
	return sum
}

func (e *Evidence) backpressure(sent snapshot.Sent) *result.Backpressure {
	if !e.Scenario.Backpressure.Gates() {
		return nil
	}
	s := e.Scenario
	b, gate := s.Backpressure, e.End.Gate.Sub(e.Start.Gate)
	out := &result.Backpressure{
		Controller: b.Controller, Excess: b.Excess, MaxLag: b.MaxLag, ResumeLag: b.ResumeLag,
		TargetNs: int64(b.Target), Signal: b.Signal, PollNs: int64(b.Poll),
		Decisions: gate.Changes, ClosedS: gate.Closed.Seconds(), BlindS: gate.Blind.Seconds(), Refused: gate.Refused,
		Shed: &result.ShedCounts{
			ByGate: sent.ShedByGate, ByQueue: sent.ShedByQueue, ByDegrade: sent.ShedByDegrade,
		},
		PeakLagToBound:      e.peakToBound(e.Seen.Lag.Window),
		SignalAgeMaxNs:      max(int64(gate.MaxAge), e.Seen.Lag.OldestSignalNs),
		DeferredPeakRecords: e.Sent.DeferredPeak,
	}
	if e.Seen.Lag.Window != nil {
		out.PeakAtLeastToBound = e.peakToBound(e.Seen.Lag.Window.AtLeast)
	}
	if e.Sent.Gate != nil {
		out.BoundRecords = (*result.Bound)(e.Sent.Gate.InWindow)
	}
	if s.Load.Processes > 1 {
		out.Processes = s.Load.Processes
	}
	return out
}

// peakToBound returns nil if the peak or the bound is unknown.
func (e *Evidence) peakToBound(peak *LagPeak) *float64 {
	b := e.Scenario.Backpressure
	if peak == nil || b.Controller != "credit" && b.Controller != "hysteresis" {
		return nil
	}
	ratio := float64(peak.Records) / float64(b.MaxLag)
	return &ratio
}
