package report

import (
	"fmt"
	"slices"
	"strconv"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

func printQueue(p *layout.Page, r *result.Run) {
	if r.Queue == nil {
		return
	}
	p.Heading("Queue", " of the measured window, in records")
	printRemarks(p, queued(r))
	p.Painted(layout.Bold, 2, settled(r))
}

func markdownQueue(m *layout.Markdown, r *result.Run) {
	if r.Queue == nil {
		return
	}
	markdownRemarks(m, "Queue, in the measured window", queued(r))
	m.Paragraph(layout.Prose(settled(r)))
}

func queued(r *result.Run) []remark {
	q := r.Queue
	all := []remark{
		{layout.Plain, "engine", ofEngine(r)},
		{layout.Plain, "acknowledged", acknowledged(q)},
		{layout.Plain, "deliveries", deliveries(q)},
		{layout.Plain, "by attempt", byAttempt(q)},
		{layout.Plain, "on purpose", onPurpose(q)},
		{layout.Yellow, "too late", tooLate(q)},
		{layout.Plain, "lateness", lateness(r)},
	}
	if n := early(q); n > 0 {
		all = append(all, remark{layout.Red, "EARLY",
			redeliveries(n) + " came before they were due, by up to " + unit.Nanos(-q.Lateness.MinNs)})
	}
	all = append(all, remark{layout.Plain, "in the queue", inQueue(q)})
	if q.Missing > 0 {
		all = append(all, remark{layout.Yellow, "missing",
			unit.Count(q.Missing) + " were to be delivered again and were not in the log any more"})
	}
	if q.RetentionAlarm != "" {
		all = append(all, remark{layout.Red, "retention", q.RetentionAlarm})
	}
	all = append(all, remark{layout.Plain, "each takes", costOf(q.Cost)})
	if q.Cost != nil {
		all = append(all, remark{layout.Plain, "requests", layout.List(byCount(q.Cost.ClientRequests)...)})
	}
	return slices.DeleteFunc(all, func(r remark) bool { return r.text == "" })
}

func ofEngine(r *result.Run) string {
	q := r.Queue
	said := func(path, format string) string {
		switch v := r.Scenario.Get("consume.queue." + path); v {
		case "", "0", "0s", "0%", "false":
			return ""
		default:
			return fmt.Sprintf(format, v)
		}
	}
	drops := ""
	if share := said("drop.share", "%s"); share != "" {
		drops = share + " of the deliveries " +
			map[string]string{"nack": "given back"}[r.Scenario.Get("consume.queue.drop.how")]
		if r.Scenario.Get("consume.queue.drop.how") != "nack" {
			drops = share + " of the deliveries never answered"
		}
	}
	order := said("order", "in order of each %s")
	if r.Scenario.Get("consume.queue.order") == "none" {
		order = ""
	}
	return layout.List(q.Engine, nodes(q), said("batch", "batches of %s"), order, said("visibility", "lent for %s"),
		said("max_deliveries", "dead after %s deliveries"), drops, said("acks", "acks %s"))
}

func nodes(q *result.Queue) string {
	return fmt.Sprintf("%s × %s", unit.Things(int64(q.Nodes), "node"), unit.Things(int64(q.Threads), "thread"))
}

func acknowledged(q *result.Queue) string {
	text := []string{unit.PerSecond(q.AckedPerS), unit.Things(q.UniqueAcked, "record")}
	for _, part := range []struct {
		n    int64
		what string
	}{
		{q.DeadLettered, "dead letters"}, {q.AckedAndDead, "of these acknowledged as well"}, {q.Pending, "pending"},
		{q.Lost, "LOST"}, {q.AckedAgain, "acknowledged again"},
	} {
		if part.n > 0 {
			text = append(text, unit.Count(part.n)+" "+part.what)
		}
	}
	return layout.List(text...)
}

func deliveries(q *result.Queue) string {
	text := []string{unit.Count(q.Received), unit.Count(q.UniqueDelivered) + " of them first ones",
		unit.Count(q.Redelivered) + " again"}
	if q.DeliveriesPerRecord != nil {
		text = append(text, fmt.Sprintf("%s per record where the arithmetic says %s",
			unit.Decimals(*q.DeliveriesPerRecord, 4), unit.Decimals(q.ExpectedDeliveriesPerRecord, 4)))
	}
	if q.AttemptsDiffer > 0 {
		text = append(text, unit.Count(q.AttemptsDiffer)+" under another number than the queue gives them")
	}
	return layout.List(text...)
}

const attemptsShown = 8

func byAttempt(q *result.Queue) string {
	if len(q.DeliveriesByAttempt) < 2 {
		return ""
	}
	var parts []string
	for i, n := range q.DeliveriesByAttempt {
		if i == attemptsShown {
			parts = append(parts, fmt.Sprintf("and %s more in %s",
				unit.Things(int64(len(q.DeliveriesByAttempt)-i), "attempt"), result.SummaryFile))
			break
		}
		text := fmt.Sprintf("%d: %s", i+1, unit.Count(n))
		if i > 0 && q.DeliveriesByAttempt[i-1] > 0 {
			text += " (" + share(n, q.DeliveriesByAttempt[i-1]) + ")"
		}
		parts = append(parts, text)
	}
	return layout.List(parts...)
}

func onPurpose(q *result.Queue) string {
	var parts []string
	if q.Dropped > 0 {
		parts = append(parts, unit.Count(q.Dropped)+" never answered")
	}
	if q.Nacked > 0 {
		parts = append(parts, unit.Count(q.Nacked)+" given back")
	}
	return layout.List(parts...)
}

func tooLate(q *result.Queue) string {
	var parts []string
	for _, given := range []struct{ key, what string }{
		{"expired", "settled after the end of their lock"}, {"lost", "settled after their partition was another's"},
		{"error", "not settled, for an error"},
	} {
		if n := q.GivenUp[given.key]; n > 0 {
			parts = append(parts, unit.Count(n)+" "+given.what)
		}
	}
	if q.Unsettled > 0 {
		parts = append(parts, unit.Count(q.Unsettled)+" in the hands of a consumer that was killed or stopped")
	}
	return layout.List(parts...)
}

func lateness(r *result.Run) string {
	t := r.Queue.Lateness
	if t == nil || t.Count == 0 {
		return ""
	}
	d := distributionOf(r, "redelivery_lateness", *t)
	var parts []string
	for _, s := range statistics {
		if slices.Contains([]string{"p50", "p99", "max"}, s.name) && s.supported(d.independent) {
			parts = append(parts, s.name+" "+unit.Nanos(int64(s.Ns(*t))))
		}
	}
	return layout.List(append(parts,
		"of "+redeliveries(t.Count)+", from when each was due: the end of its lock, or of the delay it was given back with")...)
}

func redeliveries(n int64) string {
	if n == 1 {
		return "1 redelivery"
	}
	return unit.Count(n) + " redeliveries"
}

func early(q *result.Queue) int64 {
	if q.Lateness == nil {
		return 0
	}
	return q.Lateness.Negative
}

// inQueue covers the whole run.
func inQueue(q *result.Queue) string {
	parts := []string{"at most " + unit.Count(q.InFlightPeakRecords) + " fetched and not settled"}
	if q.Expired > 0 {
		parts = append(parts, unit.Things(q.Expired, "lock")+" ran out")
	}
	if q.Tailed > 0 {
		parts = append(parts, unit.Things(q.Tailed, "record")+" copied for another delivery")
	}
	if len(parts) > 1 {
		parts = append(parts, "all of the whole run")
	}
	return layout.List(parts...)
}

func costOf(c *result.QueueCost) string {
	if c == nil {
		return ""
	}
	clients := fmt.Sprintf("of the queue's clients %s, %s written and %s read",
		requestsEach(c.ClientRequestsPerRecord), bytesEach(c.ClientWrittenBytesPerRecord), bytesEach(c.ClientReadBytesPerRecord))
	if c.BrokerRequestsPerRecord == nil || c.BrokerBytesInPerRecord == nil || c.BrokerBytesOutPerRecord == nil {
		return clients
	}
	return layout.List(clients, fmt.Sprintf("of the brokers, with all that went on, %s, %s in and %s out",
		requestsEach(*c.BrokerRequestsPerRecord), bytesEach(*c.BrokerBytesInPerRecord), bytesEach(*c.BrokerBytesOutPerRecord)))
}

func requestsEach(v float64) string { return unit.Factor(v) + " requests" }

// A number of bytes for each record may be below one.
func bytesEach(v float64) string {
	if v > 0 && v < 10 {
		return unit.Decimals(v, 1) + " B"
	}
	return unit.Bytes(int64(v + 0.5))
}

func settled(r *result.Run) string {
	q := r.Queue
	switch {
	case q.Lost > 0:
		return fmt.Sprintf("%s LOST: the queue has nothing any more, and they were neither acknowledged nor made dead letters.", unit.Things(q.Lost, "record"))
	case q.Pending > 0:
		return fmt.Sprintf("%s are pending: neither acknowledged by the application nor dead letters when the run ended.", unit.Things(q.Pending, "record"))
	case q.DeadLettered > 0:
		return "Every record was acknowledged by the application, or is a dead letter."
	}
	return "Every record was acknowledged by the application."
}

func queueSheet(runs []*result.Recorded) layout.Table {
	s := layout.Table{Rows: [][]string{append(slices.Clone(ofRun), "engine", "nodes", "threads", "attempt",
		"deliveries", "of_attempt_before_ratio")}}
	for _, r := range runs {
		q := r.Run.Queue
		if q == nil {
			continue
		}
		for i, n := range q.DeliveriesByAttempt {
			ratio := ""
			if i > 0 && i <= len(q.Tail) {
				ratio = layout.Raw(q.Tail[i-1])
			}
			s.Add(append(ofRunCells(r), q.Engine, strconv.Itoa(q.Nodes), strconv.Itoa(q.Threads),
				strconv.Itoa(i+1), integer(n), ratio)...)
		}
	}
	return s
}
