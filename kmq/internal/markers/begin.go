package markers

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/member"
)

// handler is the queue as its member asks it.
type handler struct{ *queue }

// Assigned reads on where the group has committed. What was started and not committed
// since gets a second start, which does no harm.
func (h handler) Assigned(ctx context.Context, partition int32, committed member.Offset) (int64, error) {
	_ = h.grown(ctx, partition) // else the first start of it tries again, and says why
	h.started.assign(partition, committed)
	return committed.At, nil
}

// Pace waits until the starts of the poll before are durable, where they come first: then the
// next poll is to be large, for they are what takes the time.
func (h handler) Pace(ctx context.Context) (large bool) {
	h.late.pace(ctx)
	h.starts.pace(ctx)
	return h.starts.careful()
}

// Begin hands out a poll whose starts can wait. Where they come first it writes them as one
// batch, and does not wait for them: the leases become ready when all are durable. They are
// lent from before the starts were written: never longer than the log has it.
func (h handler) Begin(ctx context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	p := &start{leases: lease.FromRecords(records), runs: h.runs(records)}
	p.reads = h.started.reading(p.runs)
	if h.starts.first(p.runs, time.Now()) {
		return nil, h.starts.begin(ctx, p)
	}
	return h.late.add(p), nil
}

// runs are start markers for the records of a poll: one for each run of offsets.
func (h handler) runs(records []*kgo.Record) []marker.Marker {
	var runs []marker.Marker
	for _, r := range records {
		if n := len(runs) - 1; n >= 0 {
			last := &runs[n]
			if last.Partition == r.Partition && last.Offset+int64(last.Count) == r.Offset && last.Count < marker.MaxCount {
				last.Count++
				continue
			}
		}
		runs = append(runs, marker.Marker{
			Partition: r.Partition, Offset: r.Offset, Type: marker.Start,
			Count: 1, Duration: h.cfg.Visibility, Holder: h.holder,
		})
	}
	return runs
}

// Committable is behind the last record that has a durable start, or needs none.
func (h handler) Committable(partitions []int32) map[int32]member.Offset {
	if h.cfg.Transactions {
		return nil // the starts' transactions commit it
	}
	return h.started.offsets(partitions)
}

// Flush makes durable what was started and what was settled.
func (h handler) Flush(ctx context.Context, partitions []int32) error {
	if err := h.late.flush(ctx); err != nil {
		return err
	}
	if err := h.starts.flushAside(ctx, partitions); err != nil {
		return err
	}
	return h.out.flushAside(ctx, partitions)
}

// Forget lets go of the offsets. The leases live on: their ends need no ownership. Only those
// that have no start yet are lost, and those that are aside, once their starts are written:
// others read their records.
func (h handler) Forget(partitions []int32) {
	h.started.forget(partitions)
	h.late.forget(partitions)
}
