package truth

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestEachClient(t *testing.T) {
	t.Parallel()
	const late = 30 * time.Millisecond
	o := virtual.Options{ProduceDelay: late}
	virtual.Test(t, o, func(t *testing.T, c *virtual.Cluster) {
		s := smallScenario(t, "each", "load.producers=3", "consume.consumers=2", "phases.warmup=0s")
		r := run(t, withDriver(config(t, c, s), franz.New()))
		wantValid(t, r)
		wantBalance(t, r)
		l, d := r.Run.Load, r.Run.Delivery
		sent, sentBytes := sumOf(t, r.Run.Producers)
		wantCount(t, "records of the producers", sent, l.Acked)
		wantCount(t, "bytes of the producers", sentBytes, l.Bytes)
		got, gotBytes := sumOf(t, r.Run.Consumers)
		wantCount(t, "records of the consumers", got, d.Delivered)
		wantCount(t, "bytes of the consumers", gotBytes, l.Bytes)
		wantCount(t, "producers", int64(len(r.Run.Producers)), 3)
		wantCount(t, "consumers", int64(len(r.Run.Consumers)), 2)
		var acked, delivered int64
		for _, i := range r.Intervals {
			acked, delivered = acked+*i.AckedBytes, delivered+*i.DeliveredBytes
		}
		wantCount(t, "acked bytes of the intervals", acked, l.Bytes)
		wantCount(t, "delivered bytes of the intervals", delivered, l.Bytes)
		if first := r.Run.Consumer.FirstRecordNs; first == nil || *first < int64(late) || *first > int64(2*late) {
			t.Errorf("the first record came after %v, and acknowledgements take %v", first, late)
		}
		if ready := r.Run.Consumer.ReadyNs; ready == nil || *ready <= 0 {
			t.Errorf("the consumers were ready after %v", ready)
		}
		wantWindowEnd(t, r)
	})
}

func sumOf(t *testing.T, all []result.Share) (records, bytes int64) {
	t.Helper()
	for i, s := range all {
		if s.Number != i || s.Records == 0 || s.FirstNs == nil || *s.FirstNs < 0 || *s.LastNs < *s.FirstNs {
			t.Errorf("the share of number %d is %+v", i, s)
		}
		records, bytes = records+s.Records, bytes+s.Bytes
	}
	return records, bytes
}

func wantWindowEnd(t *testing.T, r *result.Recorded) {
	t.Helper()
	w := r.Run.WindowEnd
	if w == nil || len(w.Groups) != 1 || len(w.Groups[0].Members) != 2 || len(w.Partitions) != 2 {
		t.Fatalf("at the window's end there was %+v", w)
	}
	if window := r.Run.Run.Phases[1]; w.ReadNs < window.EndNs {
		t.Errorf("it was read at %d, and the window ended at %d", w.ReadNs, window.EndNs)
	}
	seen, end := map[int32]bool{}, int64(0)
	for _, m := range w.Groups[0].Members {
		if m.ID == "" || m.ClientID == "" || m.Host == "" {
			t.Errorf("a member is %+v", m)
		}
		for _, p := range m.Partitions {
			if seen[p.Partition] || *p.Lag != *p.End-*p.Committed {
				t.Errorf("of partition %d: lag %d, end %d, committed %d", p.Partition, *p.Lag, *p.End, *p.Committed)
			}
			seen[p.Partition], end = true, end+*p.End
		}
	}
	if len(seen) != 2 || end == 0 || end > r.Run.Load.Acked {
		t.Errorf("the members had %v, which held %d of %d records", seen, end, r.Run.Load.Acked)
	}
	for _, p := range w.Partitions {
		if p.Leader == nil || len(p.Replicas) != 1 || len(p.InSync) != 1 {
			t.Errorf("partition %d has %+v", p.Partition, p)
		}
	}
}
