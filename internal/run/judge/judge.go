// Package judge makes a run's result from its evidence: every figure, and the verdict.
//
// It is pure: the same evidence always gives the same result.
//
// Files to know: evidence.go, judge.go, load.go, delivery.go, times.go, lag.go, availability.go,
// gaps.go, curves.go, queue.go, verdict.go, agents.go.
package judge

import (
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
	"kafkabench.example/kafka-bench/internal/result/outcome"
)

// Run returns the result of a run. The ID is not set.
func Run(e *Evidence) result.Run {
	books, settled := e.books(), e.settled()
	warmup, measured := e.Sent.Sent[0], e.Sent.Sent[1]
	out := result.Run{
		Scenario: e.Recorded,
		Run:      e.Info,
		Load:     e.load(measured),
		Delivery: e.measuredDeliveries(books, measured.Scheduled),
		Time:     e.times(measured),
		Lag:      e.lag(),
		Consumer: e.consumer(e.Groups, e.Start.Members, e.End.Members),
		Warmup: result.Warmup{
			Load:     e.warmupLoad(warmup),
			Delivery: e.warmupDelivery(books, warmup.Scheduled+e.fillRead().Sent.Scheduled),
		},
		Backpressure: e.backpressure(measured),
		Process:      e.Machine.Process,
		Broker:       e.Machine.Brokers,
		Faults:       e.Faults.Injected,
		Clients:      e.clients(),
		HostUse:      e.Machine.HostUse,
		Storage:      e.Machine.Storage,
		Compression:  e.Machine.Compression,
		PayloadFile:  e.PayloadFile,
	}
	if e.Fill != nil {
		out.Fill = &e.Fill.Outcome
	}
	v := verdict{Evidence: e, out: &out}
	out.Agents = v.agents()
	out.Availability, v.unknownTimes = e.availability()
	out.Groups = e.eachGroup(&out, books)
	out.Queue = e.queue(settled, &out)
	out.Gaps = e.gaps()
	out.Producers, out.Consumers = shares("", e.last().Shares), e.consumerShares()
	out.WindowEnd = e.Seen.WindowEnd
	out.Run.NotMeasured = slices.Concat(out.Run.NotMeasured, unreliable(&out), e.uncertain(&out))
	out.Verdict = v.give(books, settled)
	system := outcome.Of(&out)
	out.System = &system
	out.Bottleneck = bottleneck.Find(&out, e.Limits)
	return out
}

func (e *Evidence) sends() bool { return e.Scenario.Load.Producers > 0 }

// endless reports whether the run reads a topic to which others go on writing. Such a run has
// neither backlog nor drain.
func (e *Evidence) endless() bool { return !e.sends() && e.ReadTo == nil }

func (e *Evidence) closedLoop() bool { return e.sends() && e.Scenario.Load.Rate.IsMax() }

// measuresFill reports whether the run reads only its fill, whose deliveries are then measured.
func (e *Evidence) measuresFill() bool { return !e.sends() && e.Fill != nil }

func (e *Evidence) fillRead() Fill {
	if e.Fill == nil || !e.ReadsFill {
		return Fill{}
	}
	return *e.Fill
}

func (e *Evidence) lengthS() float64 { return time.Duration(max(0, e.EndNs)).Seconds() }

// AckedInWindow returns how many records were acknowledged in the measured window.
func (e *Evidence) AckedInWindow() int64 {
	return e.Sent.Sent[0].AckedInWindow + e.Sent.Sent[1].AckedInWindow
}

// perS returns 0 if an interrupted run has no window.
func (e *Evidence) perS(n int64) float64 {
	if e.EndNs <= 0 {
		return 0
	}
	return float64(n) / e.lengthS()
}

func received(groups []Group) (sum snapshot.Received) {
	for _, g := range groups {
		sum.Add(g.Standing.Received)
	}
	return sum
}

func (e *Evidence) atStop() [][]snapshot.Reached {
	all := make([][]snapshot.Reached, len(e.Groups))
	for i, g := range e.Groups {
		all[i] = g.AtStop
	}
	return all
}

func (e *Evidence) behind() []snapshot.Backlog {
	if e.ReadTo != nil {
		return snapshot.Unread(e.atStop(), e.ReadTo)
	}
	return snapshot.Backlogs(e.atStop(), e.AckedIn)
}

func (e *Evidence) sentBooks() []*ledger.Sender {
	return slices.Concat(e.last().Books, e.fillRead().Books)
}

func (e *Evidence) last() snapshot.Last {
	if e.Sent.Last == nil {
		return snapshot.Last{}
	}
	return *e.Sent.Last
}
