package showtest

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// TakesFrom makes the consumers of a run use a queue with the given engine, with perS
// acknowledgements per second.
func TakesFrom(r *result.Recorded, engine string, perS float64, settings map[string]any) *result.Queue {
	queue := map[string]any{"engine": engine, "threads": 5, "batch": 10, "order": "none"}
	if engine == "markers" || engine == "offsetmap" {
		queue["visibility"], queue["acks"] = "2s", "all"
	}
	for key, value := range settings {
		queue[key] = value
	}
	resulttest.Set(&r.Run.Scenario, "consume", map[string]any{"consumers": 2, "queue": queue})
	resulttest.Set(&r.Run.Scenario, "backpressure", nil)
	acked := int64(20 * perS)
	q := &result.Queue{
		Engine: engine, Nodes: 2, Threads: 5, Received: acked, UniqueDelivered: acked, UniqueAcked: acked, AckedPerS: perS,
		DeliveriesPerRecord: new(1.0), ExpectedDeliveriesPerRecord: 1, DeliveriesByAttempt: []int64{acked}, InFlightPeakRecords: 1800,
		Cost: &result.QueueCost{
			ClientRequestsPerRecord: 0.02, ClientWrittenBytesPerRecord: 4, ClientReadBytesPerRecord: 121.4, ClientRequests: result.Counts{"Fetch": 8000, "OffsetCommit": 40},
			BrokerRequestsPerRecord: new(0.25), BrokerBytesInPerRecord: new(131.0), BrokerBytesOutPerRecord: new(402.0),
		},
	}
	r.Run.Queue = q
	settle := r.Run.Time["processed_response_time"]
	r.Run.Time["settle_time"] = Scaled(settle, 0.01)
	return q
}

// Drops makes a queue drop a share of its deliveries. The limit of deliveries of a record is most
// (0: no limit). Redeliveries are late by lateMs.
func Drops(r *result.Recorded, q *result.Queue, share float64, most int, lateMs float64) {
	left, records := float64(q.UniqueAcked), q.UniqueAcked
	q.DeliveriesByAttempt, q.Tail, q.Received = nil, nil, 0
	for i := 0; left >= 1 && (most == 0 || i < most); i++ {
		q.DeliveriesByAttempt = append(q.DeliveriesByAttempt, int64(left))
		if i > 0 {
			q.Tail = append(q.Tail, float64(q.DeliveriesByAttempt[i])/float64(q.DeliveriesByAttempt[i-1]))
		}
		q.Received += int64(left)
		left *= share
	}
	q.ExpectedDeliveriesPerRecord = 1 / (1 - share)
	if most > 0 {
		q.ExpectedDeliveriesPerRecord = (1 - math.Pow(share, float64(most))) / (1 - share)
		q.DeadLettered = int64(left)
		q.UniqueAcked -= q.DeadLettered
	}
	q.UniqueDelivered, q.Redelivered = records, q.Received-records
	q.DeliveriesPerRecord = new(float64(q.Received) / float64(records))
	q.Dropped = q.Received - q.UniqueAcked
	ms := func(v float64) int64 { return int64(v * 1e6) }
	late := result.Time{Count: q.Redelivered, MinNs: ms(0.1), MeanNs: lateMs * 0.6e6, StddevNs: 1e6, P50Ns: ms(lateMs * 0.5), P75Ns: ms(lateMs * 0.7),
		P90Ns: ms(lateMs * 0.8), P95Ns: ms(lateMs * 0.9), P99Ns: ms(lateMs), P995Ns: ms(lateMs * 1.1), P999Ns: ms(lateMs * 1.2), P9999Ns: ms(lateMs * 1.3), MaxNs: ms(lateMs * 1.4)}
	r.Run.Time["redelivery_lateness"] = late
	again := Scaled(late, 100)
	r.Run.Time["redelivery_response_time"] = again
	q.Lateness = &late
	resulttest.Set(&r.Run.Scenario, "consume.queue.drop", map[string]any{"share": fmt.Sprintf("%g%%", 100*share), "how": "silent"})
	resulttest.Set(&r.Run.Scenario, "consume.queue.max_deliveries", most)
}
