package markers

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/member"
	"kafkabench.example/kafka-bench/kmq/internal/step"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// The marks of a lease, in this order, under queue.mu.
const (
	read     uint8 = iota // it is neither lent nor being lent
	starting              // its start is being written
	started               // its start is durable
	handed                // it was handed out
)

// handler is the queue as its member asks it. The open records of its windows have no durable start.
type handler struct{ *queue }

// Assigned continues where the group has committed. A record that was started and not committed gets
// a second start.
func (h handler) Assigned(_ context.Context, id int32, committed member.Offset) (int64, error) {
	h.Forget([]int32{id})
	h.mu.Lock()
	defer h.mu.Unlock()
	h.windows[id] = window.New(committed.At)
	return committed.At, nil
}

func (h handler) Begin(_ context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	leases := lease.FromRecords(records)
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := leases[:0]
	for i, l := range leases {
		if w := h.windows[l.At.Partition]; w != nil && w.Take(l.At.Offset) {
			l.Private, l.Index = w, records[i].LeaderEpoch
			kept = append(kept, l)
		}
	}
	h.set.AddAll(kept, time.Time{})
	return kept, nil
}

// Passed implements [member.Passer].
func (h handler) Passed(partition int32, next int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if w := h.windows[partition]; w != nil {
		w.Pass(next)
	}
}

// Committable is below the first record without a durable start.
func (h handler) Committable(partitions []int32) map[int32]member.Offset {
	h.mu.Lock()
	defer h.mu.Unlock()
	out := make(map[int32]member.Offset)
	for id, w := range h.windows {
		if partitions == nil || slices.Contains(partitions, id) {
			out[id] = member.Offset{At: w.Committable()}
		}
	}
	return out
}

// flushFor bounds how long a revocation waits for markers.
const flushFor = 10 * time.Second

// Flush waits for the markers that are being written; what takes longer causes duplicates.
func (h handler) Flush(ctx context.Context, _ []int32) error {
	short, cancel := context.WithTimeout(ctx, flushFor)
	defer cancel()
	_ = h.starting.wait(short)
	_ = h.out.flush(short)
	return ctx.Err()
}

// Forget loses the records that were not handed out, and releases those that have a start. The others live on: their
// ends need no ownership.
func (h handler) Forget(partitions []int32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lost := h.set.LoseAll(func(l *lease.Lease) bool {
		return (l.Mark == read || l.Mark == started) && slices.Contains(partitions, l.At.Partition)
	})
	for _, l := range lost {
		if l.Mark == started {
			h.out.put(fact{kind: marker.Release, undelivered: true}.about(l), l.At.Offset, true)
		}
	}
	h.lost.Add(int64(len(lost)))
	for _, id := range partitions {
		delete(h.windows, id)
	}
}

// Take is the member's.
func (q *queue) Take(ctx context.Context, most int) ([]*lease.Lease, error) {
	return q.member.Take(ctx, most)
}

// Return is the member's.
func (q *queue) Return(leases []*lease.Lease) { q.member.Return(leases) }

// ForgetHolder implements [engine.Engine].
func (q *queue) ForgetHolder(l *lease.Lease) { q.member.ForgetHolder(l) }

// Lend writes the start markers of the records, commits the offsets, and hands the records out. If ctx ends meanwhile, a
// later Take has them again.
func (q *queue) Lend(ctx context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	ready, others := q.sortOut(q.member.Kept(leases))
	if len(others) > 0 {
		begun := q.start(others)
		select {
		case started := <-begun:
			ready = append(ready, started...)
		case <-ctx.Done():
			q.work.Go(func() { q.member.Push(append(ready, <-begun...)...) })
			return nil, ctx.Err()
		}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	ready, err := q.member.Lend(ctx, ready, to)
	for _, l := range ready {
		l.Mark = handed
	}
	return ready, err
}

// sortOut separates leases that have a start from others, and drops those that have ended.
func (q *queue) sortOut(leases []*lease.Lease) (begun, others []*lease.Lease) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range leases {
		switch {
		case l.Mark == started:
			begun = append(begun, l)
		case l.State() == lease.Open:
			others = append(others, l)
		}
	}
	return begun, others
}

// commitFor is how long a Receive waits for the commit behind its starts. Without it a crash causes
// duplicates.
const commitFor = time.Second

// start begins to write the start markers of leases. The channel gets those that have one, once all have
// one or are lost. Their locks begin before the write, so that they are never longer than in the log.
func (q *queue) start(leases []*lease.Lease) <-chan []*lease.Lease {
	q.mu.Lock()
	for _, l := range leases {
		l.Mark = starting
	}
	q.mu.Unlock()
	ticket, until := q.starting.add(), time.Now().Add(q.cfg.Visibility)
	var writes sync.WaitGroup
	for partition, of := range byPartition(leases) {
		for _, r := range runs(of) {
			writes.Add(1)
			q.write(q.scribe.record(marker.Marker{
				Partition: partition, Offset: r[0].At.Offset, Type: marker.Start, Epoch: r[0].Index,
				Count: int32(len(r)), Duration: q.cfg.Visibility, Holder: q.holder,
			}), r, writes.Done)
		}
	}
	begun := make(chan []*lease.Lease, 1)
	q.work.Go(func() {
		writes.Wait()
		leases = q.set.Lend(leases, until)
		step.At(step.Started)
		q.starting.done(ticket)
		ctx, cancel := context.WithTimeout(q.running, commitFor)
		defer cancel()
		_ = q.member.Commit(ctx) // the next commit repeats it, and says what is wrong
		begun <- leases
	})
	return begun
}

// retryAfter is the time until a marker that the client gave up is written again.
const retryAfter = 500 * time.Millisecond

// write writes the start of a run until it is durable, its partition is another member's, or the queue
// ends.
func (q *queue) write(r *kgo.Record, run []*lease.Lease, done func()) {
	q.writer.Produce(q.running, r, func(_ *kgo.Record, err error) {
		q.mu.Lock()
		defer q.mu.Unlock()
		w := run[0].Private.(*window.Window)
		owned := q.windows[run[0].At.Partition] == w
		switch {
		case err == nil:
			for _, l := range run {
				l.Mark = started
				w.Done(l.At.Offset)
			}
		case q.running.Err() == nil && owned && !engine.Fatal(err):
			q.trouble.About("write start markers", err)
			time.AfterFunc(retryAfter, func() {
				if int(r.Partition) >= q.topics.Partitions { // the topic has grown since the queue was opened
					_ = grow(q.running, q.writer, &q.cfg) // what is refused here, the next write is refused too
					q.writer.ForceMetadataRefresh()
				}
				q.write(r, run, done)
			})
			return
		default:
			for _, l := range run {
				if q.set.Settle(l, lease.Lost) == nil {
					q.lost.Add(1)
				}
			}
			if owned && q.running.Err() == nil {
				q.member.Fail(err)
			}
		}
		done()
	})
}
