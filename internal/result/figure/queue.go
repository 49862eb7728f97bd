package figure

import "kafkabench.example/kafka-bench/internal/result"

func queue() []Figure {
	count := func(of func(*result.Queue) int64) func(*result.Queue) *float64 {
		return func(q *result.Queue) *float64 { return pointTo(float64(of(q))) }
	}
	return []Figure{
		ofQueue("queue_acked_per_s", "acknowledged by the application", PerSecond, Higher,
			func(q *result.Queue) *float64 { return &q.AckedPerS }),
		ofQueue("queue_received", "deliveries of the queue", Records, Neither,
			count(func(q *result.Queue) int64 { return q.Received })),
		ofQueue("queue_unique_acked", "records acknowledged by the application", Records, Neither,
			count(func(q *result.Queue) int64 { return q.UniqueAcked })),
		ofQueue("queue_redelivered", "redeliveries of the queue", Records, Lower,
			count(func(q *result.Queue) int64 { return q.Redelivered })),
		ofQueue("queue_dead_lettered", "dead letters", Records, Neither,
			count(func(q *result.Queue) int64 { return q.DeadLettered })),
		ofQueue("queue_pending", "pending in the queue", Records, Lower,
			count(func(q *result.Queue) int64 { return q.Pending })),
		ofQueue("queue_lost", "lost by the queue", Records, Lower,
			count(func(q *result.Queue) int64 { return q.Lost })),
		ofQueue("queue_acked_again", "acknowledged again", Records, Lower,
			count(func(q *result.Queue) int64 { return q.AckedAgain })),
		ofQueue("queue_deliveries_per_record", "deliveries per record", Number, Neither,
			func(q *result.Queue) *float64 { return q.DeliveriesPerRecord }),
		ofQueue("queue_deliveries_to_expected", "deliveries per record, of the arithmetic", Ratio, Neither,
			func(q *result.Queue) *float64 {
				if q.DeliveriesPerRecord == nil || q.ExpectedDeliveriesPerRecord == 0 {
					return nil
				}
				return pointTo(*q.DeliveriesPerRecord / q.ExpectedDeliveriesPerRecord)
			}),
		ofQueue("queue_tail_ratio", "redelivered of each attempt, pooled", Ratio, Neither, pooledTail),
		ofQueue("queue_early_redeliveries", "redeliveries before they were due", Records, Lower,
			func(q *result.Queue) *float64 {
				if q.Lateness == nil {
					return nil
				}
				return pointTo(float64(q.Lateness.Negative))
			}),
		ofQueue("queue_in_flight_peak", "peak in flight of the queue", Records, Lower,
			count(func(q *result.Queue) int64 { return q.InFlightPeakRecords })),
		ofCost("queue_requests_per_record", "requests of the queue's clients per record", Number,
			func(c *result.QueueCost) *float64 { return &c.ClientRequestsPerRecord }),
		ofCost("queue_written_bytes_per_record", "written by the queue's clients per record", Bytes,
			func(c *result.QueueCost) *float64 { return &c.ClientWrittenBytesPerRecord }),
		ofCost("queue_read_bytes_per_record", "read by the queue's clients per record", Bytes,
			func(c *result.QueueCost) *float64 { return &c.ClientReadBytesPerRecord }),
		ofCost("broker_requests_per_record", "broker requests per record of the queue", Number,
			func(c *result.QueueCost) *float64 { return c.BrokerRequestsPerRecord }),
		ofCost("broker_bytes_in_per_record", "broker bytes in per record of the queue", Bytes,
			func(c *result.QueueCost) *float64 { return c.BrokerBytesInPerRecord }),
		ofCost("broker_bytes_out_per_record", "broker bytes out per record of the queue", Bytes,
			func(c *result.QueueCost) *float64 { return c.BrokerBytesOutPerRecord }),
	}
}

func ofQueue(name, title string, kind Kind, better Better, of func(*result.Queue) *float64) Figure {
	return Figure{Name: name, Title: title, Kind: kind, Better: better, value: func(r *result.Run) (float64, string) {
		if r.Queue == nil {
			return 0, "the consumers did not take records from a queue"
		}
		if v := of(r.Queue); v != nil {
			return *v, ""
		}
		return 0, notMeasured
	}}
}

func ofCost(name, title string, kind Kind, of func(*result.QueueCost) *float64) Figure {
	return ofQueue(name, title, kind, Lower, func(q *result.Queue) *float64 {
		if q.Cost == nil {
			return nil
		}
		return of(q.Cost)
	})
}

// tailLeast is how many deliveries of an attempt (first, second, …) pooledTail needs to use them.
const tailLeast = 1000

// pooledTail is the part of deliveries that were followed by another delivery of the record.
func pooledTail(q *result.Queue) *float64 {
	var before, after float64
	for i := 1; i < len(q.DeliveriesByAttempt); i++ {
		if q.DeliveriesByAttempt[i-1] >= tailLeast {
			before += float64(q.DeliveriesByAttempt[i-1])
			after += float64(q.DeliveriesByAttempt[i])
		}
	}
	if before == 0 {
		return nil
	}
	return pointTo(after / before)
}
