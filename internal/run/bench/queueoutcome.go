package bench

import (
	"fmt"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// queueReading is how a queue stood at a moment.
type queueReading struct {
	totals  snapshot.QueueTotal
	counts  snapshot.QueueCounts
	traffic trafficReading
}

// readQueue is how the queue stands, by its only group's standing with books; nothing
// without one.
func (r *run) readQueue(s standings) (q queueReading) {
	if r.queue == nil {
		return q
	}
	return queueReading{s[0].Queue.Total, r.queue.counts(s[0].Queue.Counts), r.queue.traffic.reading()}
}

// counts are the queue's own counters, of its members and of a tracker beside them.
func (q *queue) counts(c snapshot.QueueCounts) snapshot.QueueCounts {
	if q.tracker != nil {
		s := q.tracker.Stats()
		c.Tailed, c.Missing = c.Tailed+s.Tailed, c.Missing+s.Missing
	}
	return c
}

// addQueue fills in what the queue did in an interval.
func (r *run) addQueue(iv *result.Interval, before, after counters) {
	if r.queue == nil {
		return
	}
	acked, again := after.queue.totals.Acked-before.queue.totals.Acked, after.queue.totals.Redelivered-before.queue.totals.Redelivered
	iv.AckedByQueue, iv.Redelivered, iv.QueueInFlight = &acked, &again, &after.queue.counts.InFlight
	r.queue.peak = max(r.queue.peak, after.queue.counts.InFlight)
}

// readsFillAlone tells that the fill is all there is to read: then what is measured is
// what became of its records.
func (r *run) readsFillAlone() bool { return r.readOnly() && r.fill != nil }

// queueOutcome is what the result says of the queue; nil without one.
func (r *run) queueOutcome(settled ledger.Books, brokers []result.Broker, times map[string]result.Time) *result.Queue {
	if r.queue == nil {
		return nil
	}
	q := r.cfg.Scenario.Consume.Queue
	of := r.groups[0].Standing(remote.Want{Books: true}).Queue
	t, book := of.Deliveries[1], settled.Measured
	if r.readsFillAlone() {
		t, book = of.Deliveries[0], settled.Warmup
	}
	counts := r.queue.counts(of.Counts)
	out := &result.Queue{
		Engine: q.Engine, Nodes: r.cfg.Scenario.Consume.Consumers, Threads: q.Threads,
		Received: t.Received, UniqueDelivered: t.Unique, Redelivered: t.Received - t.Unique,
		UniqueAcked: t.Acked, AckedAgain: t.AckedAgain, DeadLettered: t.Dead, AckedAndDead: t.DeadAcked,
		Dropped: t.Dropped, Nacked: t.Nacked, GivenUp: t.GivenUp(), Unsettled: t.Unsettled,
		Expired: counts.Expired, Tailed: counts.Tailed, Missing: counts.Missing,
		AckedPerS:                   r.perS(of.Total.AckedInWindow),
		ExpectedDeliveriesPerRecord: q.ExpectedDeliveries(), DeliveriesByAttempt: t.Attempts(), AttemptsDiffer: t.AttemptsDiffer,
		Lateness: timeOf(times, "redelivery_lateness"), SettleTime: timeOf(times, "settle_time"),
		InFlightPeakRecords: r.queue.peak, RetentionAlarm: counts.RetentionAlarm, Cost: r.queueCost(brokers),
	}
	if missing := book.Lost + book.Pending; r.queue.empty {
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

// queueCost is what a record took that was acknowledged for the first time, in the
// measured window; nil where none was.
func (r *run) queueCost(brokers []result.Broker) *result.QueueCost {
	acked := float64(r.atEnd.queue.totals.Acked - r.atStart.queue.totals.Acked)
	if acked <= 0 {
		return nil
	}
	t := r.atEnd.queue.traffic.since(r.atStart.queue.traffic)
	byType, requests := t.byType()
	c := &result.QueueCost{
		ClientRequestsPerRecord: float64(requests) / acked, ClientRequests: byType,
		ClientWrittenBytesPerRecord: float64(t.written) / acked, ClientReadBytesPerRecord: float64(t.read) / acked,
	}
	var served, in, out float64
	for _, b := range brokers {
		m := b.Metrics
		if m == nil || m.BytesInPerS == nil || m.BytesOutPerS == nil {
			return c // of a part of the brokers it would be no figure
		}
		for _, kind := range m.Requests {
			served += float64(kind.Count)
		}
		in, out = in+*m.BytesInPerS*r.window(), out+*m.BytesOutPerS*r.window()
	}
	if len(brokers) > 0 {
		served, in, out = served/acked, in/acked, out/acked
		c.BrokerRequestsPerRecord, c.BrokerBytesInPerRecord, c.BrokerBytesOutPerRecord = &served, &in, &out
	}
	return c
}

// ofQueue makes of the books of what was handed over those of a queue: what did not
// arrive is in the queue, unless that has nothing any more. Records do not come in the
// order of their lanes there, so that a later one does not say that an earlier is lost.
func (r *run) ofQueue(books ledger.Books) ledger.Books {
	for _, b := range []*ledger.Book{&books.Warmup, &books.Measured} {
		if r.queue.empty {
			b.Lost, b.Pending = b.Lost+b.Pending, 0
			continue
		}
		b.Pending, b.Lost, b.LostRanges = b.Pending+b.Lost, 0, nil
	}
	return books
}

// faultsOfTheQueue: the books of what was settled don't balance.
func (r *run) faultsOfTheQueue(settled ledger.Books) (reasons []string) {
	if r.queue == nil {
		return nil
	}
	for _, of := range []struct {
		name string
		book ledger.Book
	}{{"", settled.Measured}, {"warm-up: ", settled.Warmup}} {
		for _, fault := range of.book.Imbalance() {
			reasons = append(reasons, "what was settled: "+of.name+fault)
		}
	}
	return reasons
}

// warningsOfTheQueue say what became of records in the queue.
func (r *run) warningsOfTheQueue(out *result.Run) (warnings []string) {
	q := out.Queue
	if q == nil {
		return nil
	}
	when := func(n int64, format string) {
		if n > 0 {
			warnings = append(warnings, fmt.Sprintf(format, unit.Count(n)))
		}
	}
	when(q.Lost, "LOST: %s acknowledged records are neither acknowledged by the application nor dead letters, and the queue has nothing any more")
	if !r.drained {
		when(q.Pending, "not drained: %s acknowledged records were neither acknowledged by the application nor dead letters by the end")
	}
	if q.Lateness != nil {
		when(q.Lateness.Negative, "EARLY: %s redeliveries came before the deadline of the delivery before")
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
