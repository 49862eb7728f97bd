package snapshot

import (
	"maps"
	"slices"
)

// MaxAttempts bounds the counted attempts; the last count includes all later ones.
const MaxAttempts = 64

// DeliveryCounts are the counts of a queue's consumers.
type DeliveryCounts struct {
	Received int64
	// Unique counts first deliveries, Acked first acknowledgements, AckedAgain later ones.
	Unique, Acked, AckedAgain   int64
	Dead, DeadAcked             int64 // different dead letters; of these, acknowledged
	Dropped, Nacked             int64
	GivenUpExpired, GivenUpLost int64
	GivenUpError, Unsettled     int64
	AttemptsDiffer              int64
	ByAttempt                   [MaxAttempts]int64
}

// Add adds o to t.
func (t *DeliveryCounts) Add(o DeliveryCounts) {
	mine, others := t.counts(), o.counts()
	for i := range mine {
		*mine[i] += *others[i]
	}
	for i := range t.ByAttempt {
		t.ByAttempt[i] += o.ByAttempt[i]
	}
}

func (t *DeliveryCounts) counts() []*int64 {
	return []*int64{
		&t.Received, &t.Unique, &t.Acked, &t.AckedAgain, &t.Dead, &t.DeadAcked, &t.Dropped, &t.Nacked,
		&t.GivenUpExpired, &t.GivenUpLost, &t.GivenUpError, &t.Unsettled, &t.AttemptsDiffer,
	}
}

// Attempts returns the deliveries by attempt, without trailing zeros.
func (t DeliveryCounts) Attempts() []int64 {
	last := MaxAttempts
	for last > 0 && t.ByAttempt[last-1] == 0 {
		last--
	}
	return slices.Clone(t.ByAttempt[:last])
}

// GivenUp counts, for each answer of the queue, the deliveries that could not be settled.
func (t DeliveryCounts) GivenUp() map[string]int64 {
	all := map[string]int64{"expired": t.GivenUpExpired, "lost": t.GivenUpLost, "error": t.GivenUpError}
	maps.DeleteFunc(all, func(_ string, n int64) bool { return n == 0 })
	return all
}

// Dead returns how many different records are dead letters.
func (q *Queue) Dead() int64 { return q.Deliveries[0].Dead + q.Deliveries[1].Dead }

// WithoutBooks returns q without books; nil of nil.
func (q *Queue) WithoutBooks() *Queue {
	q = copied(q)
	if q != nil {
		q.Settled, q.Acked = nil, nil
	}
	return q
}

// QueueTotal holds running totals of a queue's consumers.
type QueueTotal struct {
	Acked         int64 // for the first time
	AckedInWindow int64 // of those, in the measured window
	Redelivered   int64
}

// Add adds o to t.
func (t *QueueTotal) Add(o QueueTotal) {
	t.Acked += o.Acked
	t.AckedInWindow += o.AckedInWindow
	t.Redelivered += o.Redelivered
}

// QueueCounts are the counters of a member of a queue.
type QueueCounts struct {
	Expired, Tailed, Missing, InFlight int64
	RetentionAlarm                     string
}

// Add adds o to c.
func (c *QueueCounts) Add(o QueueCounts) {
	c.Expired += o.Expired
	c.Tailed += o.Tailed
	c.Missing += o.Missing
	c.InFlight += o.InFlight
	c.RetentionAlarm = firstOf(c.RetentionAlarm, o.RetentionAlarm)
}
