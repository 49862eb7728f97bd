//go:build proof

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// Three consumers in their own processes read a fill with acks all and compressed batches. The
// group's committed offsets are the log's ends.
func TestFillOnKafka(t *testing.T) {
	s := filling(t, "fill-kafka", "topic.partitions=6", "topic.fill=30MB", "load.acks=all", "load.compression=lz4", "load.record.payload=json",
		"consume.consumers=3", "consume.processes=3", "consume.fetch.max_partition_bytes=1MiB")
	r := run(t, config(t, clustertest.Shared(t), s))
	wantValid(t, r)
	const records = 300_000
	wantCount(t, "filled", r.Run.Fill.Records, records)
	wantCount(t, "delivered", r.Run.Delivery.Unique, records)
	wantCount(t, "lost, pending, duplicate and foreign", r.Run.Delivery.Lost+r.Run.Delivery.Pending+r.Run.Delivery.Duplicates+r.Run.Delivery.Foreign, 0)
	var committed int64
	for _, p := range r.Run.Lag.FinalPartitions {
		committed += p.Committed
		wantCount(t, "the lag of a partition at the end", p.Lag, 0)
	}
	wantCount(t, "committed", committed, records)
	var inIntervals int64
	for _, iv := range r.Intervals {
		inIntervals += iv.Delivered
	}
	wantCount(t, "delivered by the intervals", inIntervals, records)
}
