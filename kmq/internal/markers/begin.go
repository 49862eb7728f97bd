package markers

import (
	"context"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/marker"
	"kafka-bench/kmq/internal/member"
)

// handler is the queue as its member asks it.
type handler struct{ *queue }

// Assigned reads on where the group has committed. What was started and not committed
// since gets a second start, which does no harm.
func (h handler) Assigned(ctx context.Context, partition int32, committed member.Offset) (int64, error) {
	_ = h.grown(ctx, partition) // else the first start of it tries again, and says why
	h.started.assign(partition, committed.At)
	return committed.At, nil
}

// Pace waits until the starts of the poll before are durable.
func (h handler) Pace(ctx context.Context) { h.starts.pace(ctx) }

// Begin writes the starts of a poll as one batch. It does not wait for them: the leases
// become ready when all are durable. They are lent from before the starts were written:
// never longer than the log has it.
func (h handler) Begin(ctx context.Context, records []*kgo.Record) ([]*lease.Lease, error) {
	s := &start{leases: lease.FromRecords(records), runs: h.runs(records)}
	s.spots = h.started.reading(s.runs)
	return nil, h.starts.begin(ctx, s)
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

// Committable is behind the last record that has a durable start.
func (h handler) Committable(partitions []int32) map[int32]member.Offset {
	if h.cfg.Transactions {
		return nil // the starts' transactions commit it
	}
	return h.started.offsets(partitions)
}

// Flush makes durable what was started and what was settled.
func (h handler) Flush(ctx context.Context, partitions []int32) error {
	if err := h.starts.flush(ctx); err != nil {
		return err
	}
	if err := h.starts.flushAside(ctx, partitions); err != nil {
		return err
	}
	return h.out.flushAside(ctx, partitions)
}

// Forget lets go of the offsets. The leases live on: their ends need no ownership. Only those
// that are aside are lost, once their starts are written: others read their records.
func (h handler) Forget(partitions []int32) { h.started.forget(partitions) }

// started is up to where the records of the partitions have durable starts: what may be
// committed of them.
type started struct {
	mu    sync.Mutex
	parts map[int32]*position
	era   uint64
}

// position is that of a partition. Its era tells one assignment from the next: a start
// that became durable after the partition was taken away says nothing about it when it is
// back.
type position struct {
	next int64 // up to here there are durable starts
	read int64 // up to here records were read
	era  uint64
}

// spot is where a run of records follows on: in which era, and behind which offset. What
// was left out in between is no record. It is durable once its start is; while that is
// written, under the lock of its poll.
type spot struct {
	era     uint64
	from    int64
	durable bool
}

func (s *started) assign(partition int32, next int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.era++
	s.parts[partition] = &position{next: next, read: next, era: s.era}
}

func (s *started) forget(partitions []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range partitions {
		delete(s.parts, p)
	}
}

// reading notes that runs were read, and says where each follows on; the zero spot where a
// partition is not assigned.
func (s *started) reading(runs []marker.Marker) []spot {
	s.mu.Lock()
	defer s.mu.Unlock()
	spots := make([]spot, len(runs))
	for i, m := range runs {
		if p := s.parts[m.Partition]; p != nil {
			spots[i] = spot{era: p.era, from: p.read}
			p.read = m.Offset + int64(m.Count)
		}
	}
	return spots
}

// ours is whether a run's partition is still assigned as it was when the run was read.
func (s *started) ours(m marker.Marker, at spot) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.parts[m.Partition]
	return p != nil && p.era == at.era
}

// advance notes that the runs have durable starts. Nothing moves past what has none: a run
// counts where it follows on what counts.
func (s *started) advance(runs []marker.Marker, spots []spot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range runs {
		if p := s.parts[m.Partition]; p != nil && p.era == spots[i].era && p.next == spots[i].from {
			p.next = m.Offset + int64(m.Count)
		}
	}
}

// offsets are what may be committed of the partitions; nil is all.
func (s *started) offsets(partitions []int32) map[int32]member.Offset {
	s.mu.Lock()
	defer s.mu.Unlock()
	if partitions == nil {
		offsets := make(map[int32]member.Offset, len(s.parts))
		for p, at := range s.parts {
			offsets[p] = member.Offset{At: at.next}
		}
		return offsets
	}
	offsets := make(map[int32]member.Offset, len(partitions))
	for _, p := range partitions {
		if at := s.parts[p]; at != nil {
			offsets[p] = member.Offset{At: at.next}
		}
	}
	return offsets
}
