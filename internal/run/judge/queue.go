package judge

import (
	"fmt"
	"maps"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

func (e *Evidence) settled() ledger.Books {
	if e.Queue == nil {
		return ledger.Books{}
	}
	return CloseQueue(e.sentBooks(), e.Queue.Settled)
}

// Unsettled returns how many of the records that the brokers acknowledged are neither acknowledged
// by the application nor dead letters.
func (e *Evidence) Unsettled() int64 { return Undelivered(e.settled()) }

// Undelivered returns how many acknowledged records are missing on the receiving side of books.
func Undelivered(b ledger.Books) int64 {
	return b.Measured.Lost + b.Measured.Pending + b.Warmup.Lost + b.Warmup.Pending
}

func (e *Evidence) queue(settled ledger.Books, run *result.Run) *result.Queue {
	if e.Queue == nil {
		return nil
	}
	q := e.Scenario.Consume.Queue
	of := e.Groups[0].Standing.Queue
	t, book := of.Deliveries[1], settled.Measured
	if e.measuresFill() {
		t, book = of.Deliveries[0], settled.Warmup
	}
	counts := of.Counts
	out := &result.Queue{
		Engine: q.Engine, Nodes: e.Scenario.Consume.Consumers, Threads: q.Threads,
		Received: t.Received, UniqueDelivered: t.Unique, Redelivered: t.Received - t.Unique,
		UniqueAcked: t.Acked, AckedAgain: t.AckedAgain, DeadLettered: t.Dead, AckedAndDead: t.DeadAcked,
		Dropped: t.Dropped, Nacked: t.Nacked, GivenUp: t.GivenUp(), Unsettled: t.Unsettled,
		Expired: counts.Expired, Tailed: counts.Tailed, Missing: counts.Missing,
		AckedPerS:                   e.perS(of.Total.AckedInWindow),
		ExpectedDeliveriesPerRecord: q.ExpectedDeliveries(), DeliveriesByAttempt: t.Attempts(), AttemptsDiffer: t.AttemptsDiffer,
		Lateness: timeOf(run.Time, "redelivery_lateness"), SettleTime: timeOf(run.Time, "settle_time"),
		InFlightPeakRecords: e.Queue.InFlightPeak, RetentionAlarm: counts.RetentionAlarm, Cost: e.queueCost(run.Broker),
	}
	if missing := book.Lost + book.Pending; e.Queue.Empty {
		out.Lost = missing
	} else {
		out.Pending = missing
	}
	if t.Unique > 0 {
		each := float64(t.Received) / float64(t.Unique)
		out.DeliveriesPerRecord = &each
	}
	for i := 1; i < len(out.DeliveriesByAttempt); i++ {
		out.Tail = append(out.Tail, float64(out.DeliveriesByAttempt[i])/float64(max(1, out.DeliveriesByAttempt[i-1])))
	}
	return out
}

func timeOf(times map[string]result.Time, metric string) *result.Time {
	if t, known := times[metric]; known {
		return &t
	}
	return nil
}

// queueCost is per record that was acknowledged for the first time in the measured window.
func (e *Evidence) queueCost(brokers []result.Broker) *result.QueueCost {
	acked := float64(e.End.QueueAcked - e.Start.QueueAcked)
	if acked <= 0 {
		return nil
	}
	t := e.End.QueueTraffic.since(e.Start.QueueTraffic)
	requests := int64(0)
	for _, n := range t.Requests {
		requests += n
	}
	c := &result.QueueCost{
		ClientRequestsPerRecord: float64(requests) / acked, ClientRequests: t.Requests,
		ClientWrittenBytesPerRecord: float64(t.Written) / acked, ClientReadBytesPerRecord: float64(t.Read) / acked,
	}
	var served, in, out float64
	for _, b := range brokers {
		m := b.Metrics
		if m == nil || m.BytesInPerS == nil || m.BytesOutPerS == nil {
			return c // without every broker, the sum has no meaning
		}
		for _, kind := range m.Requests {
			served += float64(kind.Count)
		}
		in, out = in+*m.BytesInPerS*e.lengthS(), out+*m.BytesOutPerS*e.lengthS()
	}
	if len(brokers) > 0 {
		served, in, out = served/acked, in/acked, out/acked
		c.BrokerRequestsPerRecord, c.BrokerBytesInPerRecord, c.BrokerBytesOutPerRecord = &served, &in, &out
	}
	return c
}

// A record that did not arrive is pending, or lost if the queue is empty. A queue has no order, so
// a later record does not prove that an earlier one is lost.
func (q *Queue) undelivered(books ledger.Books) ledger.Books {
	for _, b := range []*ledger.Book{&books.Warmup, &books.Measured} {
		if q.Empty {
			b.Lost, b.Pending = b.Lost+b.Pending, 0
			continue
		}
		b.Pending, b.Lost, b.LostRanges = b.Pending+b.Lost, 0, nil
	}
	return books
}

func (v verdict) faultsOfTheQueue(settled ledger.Books) (reasons []string) {
	if v.Queue == nil {
		return nil
	}
	for _, of := range []struct {
		name string
		book ledger.Book
	}{{"", settled.Measured}, {"warm-up: ", settled.Warmup}} {
		for _, fault := range of.book.Imbalance() {
			reasons = append(reasons, "settled records: "+of.name+fault)
		}
	}
	return reasons
}

func (v verdict) warningsOfTheQueue() (warnings []string) {
	q := v.out.Queue
	if q == nil {
		return nil
	}
	when := func(n int64, format string) {
		if n > 0 {
			warnings = append(warnings, fmt.Sprintf(format, unit.Count(n)))
		}
	}
	when(q.Lost, "LOST: %s acknowledged records are neither acknowledged by the application nor dead letters, and the queue is empty")
	if !v.Drained {
		when(q.Pending, "not drained: %s acknowledged records were neither acknowledged by the application nor dead letters by the end")
	}
	if q.Lateness != nil {
		when(q.Lateness.Negative, "EARLY: %s redeliveries came before the deadline of the previous delivery")
	}
	when(q.AckedAgain, "%s records were acknowledged again: the queue delivered them though they had been acknowledged")
	when(q.AckedAndDead, "%s records are both acknowledged and dead letters")
	for _, given := range []struct{ key, why string }{
		{"expired", "their lock had run out"}, {"lost", "their partition had moved to another member"}, {"error", "the queue answered with an error"},
	} {
		when(q.GivenUp[given.key], "%s records were worked on and not settled: "+given.why)
	}
	when(q.Missing, "%s records that were to be delivered again were not in the log any more")
	if q.RetentionAlarm != "" {
		warnings = append(warnings, "the queue's retention: "+q.RetentionAlarm)
	}
	return warnings
}

func (t QueueTraffic) add(o QueueTraffic) QueueTraffic {
	sum := QueueTraffic{Requests: maps.Clone(t.Requests), Written: t.Written + o.Written, Read: t.Read + o.Read}
	if sum.Requests == nil && o.Requests != nil {
		sum.Requests = make(map[string]int64)
	}
	for kind, n := range o.Requests {
		sum.Requests[kind] += n
	}
	return sum
}

func (t QueueTraffic) since(o QueueTraffic) QueueTraffic {
	d := QueueTraffic{Requests: make(map[string]int64), Written: t.Written - o.Written, Read: t.Read - o.Read}
	for kind, n := range t.Requests {
		if n -= o.Requests[kind]; n > 0 {
			d.Requests[kind] = n
		}
	}
	return d
}
