package judge

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// Part is what one agent reports of a run in addition to its snapshots. It is sent as JSON. Times
// are on the run's axis.
type Part struct {
	Info       result.Info
	Window     Window
	Start, End Reading
	Lag        Lag
	WindowEnd  *result.WindowEnd
	Looks      []Look
	Changes    []result.Change
	// Held is nil if it was not recorded.
	Held                 *Held
	Fill                 *Fill   // the agent's part; nil if the run did not fill its topic
	From                 []int64 // by partition: the offset at which the groups began to read
	ReadTo               []int64 // see Setup.ReadTo
	Workers              []int   // by group
	Producers, Consumers int     // how many the agent had
	BeganNs              int64   // when its load began
	// QueueEmpty reports whether the queue had nothing left to deliver after the drain.
	QueueEmpty bool
	// PacerLatenessP99Ns is of the agent's own producers; nil if no record had a due time.
	PacerLatenessP99Ns *int64
	Machine            Machine
	Clocks             Clocks
	// UsageUnknown says why the usage of processes is unknown; "" if it is known. Failed says what
	// ended before the run did, or could not be written.
	UsageUnknown string
	Failed       []string
	Warnings     []string
}

// Held is the progress of a part's groups and producers when the window began.
type Held struct {
	Reached [][]snapshot.Reached // by group and partition
	AckedIn []int64              // by partition
}

// HeldBy returns the progress of all parts together; reached is nil if one part did not record it.
func HeldBy(parts []Part) (reached [][]snapshot.Reached, ackedIn []int64) {
	for _, p := range parts {
		if p.Held == nil {
			return nil, nil
		}
		for g, of := range p.Held.Reached {
			if g == len(reached) {
				reached = append(reached, slices.Clone(of))
				continue
			}
			for n := range of {
				reached[g][n] = reached[g][n].Furthest(of[n])
			}
		}
		for n, acked := range p.Held.AckedIn {
			if n == len(ackedIn) {
				ackedIn = append(ackedIn, 0)
			}
			ackedIn[n] += acked
		}
	}
	return reached, ackedIn
}

// Clocks says how accurately an agent's clock was known. A field is nil if it is unknown.
type Clocks struct {
	// StartErrorNs is the greatest possible difference between the starts of this agent and agent
	// 0.
	StartErrorNs *int64
	// ErrorNs is the greatest possible error with which this agent converted other agents' times.
	ErrorNs *int64
}

// Cross notes that the agent received records of other agents, whose times it converted with the
// errors in c.
func (e *Evidence) Cross(name string, c Clocks) {
	if c.ErrorNs == nil {
		e.ClocksUnknown = append(e.ClocksUnknown, name)
		e.Warnings = append(e.Warnings, name+
			": its e2e times are not known, because a clock was stepped, or did not answer after the run")
		return
	}
	e.ClockErrorNs = max(e.ClockErrorNs, *c.ErrorNs)
}

// ErrPart wraps a failure that a part of the run reported.
var ErrPart = errors.New("a part of the run failed")

// Join adds the parts, which have these names, to the evidence of their run. Lag, Looks, and the
// state of groups and topic at the window's end come from the first part.
func (e *Evidence) Join(parts []Part, names []string) {
	e.Drained = len(parts) > 0
	for i, p := range parts {
		e.Window.join(p.Window, i == 0)
		e.Start.join(p.Start)
		e.End.join(p.End)
		e.Machine.join(p.Machine)
		e.Seen.Changes = append(e.Seen.Changes, p.Changes...)
		e.Fill = e.Fill.with(p.Fill)
		if p.UsageUnknown != "" {
			e.Machine.UsageUnknown = errors.New(names[i] + ": " + p.UsageUnknown)
		}
		for _, why := range p.Failed {
			e.Warnings = append(e.Warnings, names[i]+": "+why)
			e.Failed.Producers = cmp.Or(e.Failed.Producers, fmt.Errorf("%w: %s: %s", ErrPart, names[i], why))
		}
		for _, w := range p.Warnings {
			e.Warnings = append(e.Warnings, names[i]+": "+w)
		}
		for g := range e.Groups {
			if g < len(p.Workers) {
				e.Groups[g].Workers += p.Workers[g]
			}
		}
	}
	if len(parts) > 0 {
		first := parts[0]
		e.Seen.Lag, e.Seen.WindowEnd, e.Seen.Looks = first.Lag, first.WindowEnd, first.Looks
		e.Machine.HostUse = first.Machine.HostUse
		e.Machine.Process.CPUPerRecord = e.cpuPerRecord(parts)
	}
}

// cpuPerRecord returns nil if the CPU of one part is unknown.
func (e *Evidence) cpuPerRecord(parts []Part) *float64 {
	var cpuS float64
	for _, part := range parts {
		p := part.Machine.Process
		if p.CPUUserS == nil || p.CPUSystemS == nil {
			return nil
		}
		cpuS += *p.CPUUserS + *p.CPUSystemS
	}
	acked := e.AckedInWindow()
	if acked == 0 {
		return nil
	}
	each := cpuS * 1e9 / float64(acked)
	return &each
}

// The joint window is drained if all parts are, and ends when the last part ends.
func (w *Window) join(o Window, first bool) {
	if first {
		*w = o
		return
	}
	w.StartedNs = min(w.StartedNs, o.StartedNs)
	w.EndNs, w.FinishedNs = max(w.EndNs, o.EndNs), max(w.FinishedNs, o.FinishedNs)
	w.ConsumersNs, w.FetchingNs = max(w.ConsumersNs, o.ConsumersNs), max(w.FetchingNs, o.FetchingNs)
	w.ReadyNs = max(w.ReadyNs, o.ReadyNs)
	w.LateAtFinish += o.LateAtFinish
	w.Interrupted = w.Interrupted || o.Interrupted
	w.Drained = w.Drained && o.Drained
	if w.PartitionEnds == nil {
		w.PartitionEnds = o.PartitionEnds
	}
}

func (r *Reading) join(o Reading) {
	r.AtNs = max(r.AtNs, o.AtNs)
	r.Sending, r.Fetching = r.Sending.Add(o.Sending), r.Fetching.Add(o.Fetching)
	for g, m := range o.Members {
		if g == len(r.Members) {
			r.Members = append(r.Members, snapshot.MemberCounts{})
		}
		r.Members[g].Add(m)
	}
	r.Gate = r.Gate.With(o.Gate)
	r.QueueAcked += o.QueueAcked
	r.QueueTraffic = r.QueueTraffic.add(o.QueueTraffic)
}

// For ratios and waiting times, join keeps the greater.
func (m *Machine) join(o Machine) {
	p, q := &m.Process, o.Process
	p.CPUUserS, p.CPUSystemS = sum(p.CPUUserS, q.CPUUserS), sum(p.CPUSystemS, q.CPUSystemS)
	p.CPUCores, p.CPUCoresMax = sum(p.CPUCores, q.CPUCores), sum(p.CPUCoresMax, q.CPUCoresMax)
	p.HostCPUBusy, p.HostCPUStolen = most(p.HostCPUBusy, q.HostCPUBusy), most(p.HostCPUStolen, q.HostCPUStolen)
	p.CPUWaitRatio = most(p.CPUWaitRatio, q.CPUWaitRatio)
	p.RSSPeakBytes, p.GCPauseTotalNs = sum(p.RSSPeakBytes, q.RSSPeakBytes), sum(p.GCPauseTotalNs, q.GCPauseTotalNs)
	p.GCCycles, p.GCCPUS = p.GCCycles+q.GCCycles, p.GCCPUS+q.GCCPUS
	p.AllocBytes, p.AllocObjects = p.AllocBytes+q.AllocBytes, p.AllocObjects+q.AllocObjects
	p.GCPauseNs, p.SchedDelayNs = longer(p.GCPauseNs, q.GCPauseNs), longer(p.SchedDelayNs, q.SchedDelayNs)
	p.CorpusBytes, p.CorpusTimeNs = p.CorpusBytes+q.CorpusBytes, max(p.CorpusTimeNs, q.CorpusTimeNs)
}

// Either may be nil.
func sum[T int64 | float64](a, b *T) *T {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	s := *a + *b
	return &s
}

// Either may be nil.
func most(a, b *float64) *float64 {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

func longer(a, b result.Quantile) result.Quantile {
	if b.P99Ns > a.P99Ns {
		return b
	}
	return a
}
