package bench

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/judge"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// storage returns nil if unknown. A record's size is known only if the topic holds all records of
// the run and no others. sent has the warm-up's and the window's book; start and end are the
// traffic at the window's start and end.
func (r *run) storage(sent [2]snapshot.Sent, start, end snapshot.Traffic, fill *judge.Fill) *result.Storage {
	if r.lagReader == nil || r.interrupted {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), observe.ReadTimeout+replicatedTimeout)
	defer cancel()
	size, behind, err := replicated(ctx, r.lagReader.TopicSize)
	if err != nil {
		r.journal.Once("warning", "the size of the topic is not known", err)
		return nil
	}
	s := &result.Storage{DiskBytes: size.Bytes, BehindBytes: behind, Replicas: size.Replicas}
	all := sent[0]
	all.Add(sent[1])
	if wire := end.Sub(start); all.AckedInWindow > 0 && wire.Counted {
		each := float64(wire.Wire.WrittenBytes) / float64(all.AckedInWindow)
		s.WireBytesPerRecord = &each
	}
	if !r.holdsOwnAlone(ctx) {
		return s
	}
	if fill != nil {
		all.Add(fill.Sent)
	}
	if replica := float64(size.LeadBytes); all.Acked > 0 && replica > 0 {
		each, ratio := replica/float64(all.Acked), float64(all.AckedBytes)/replica
		s.DiskBytesPerRecord, s.DiskRatio = &each, &ratio
	}
	return s
}

// replicated waits, because with acks 0 and 1 no producer has waited for the followers.
const (
	replicatedTimeout = 5 * time.Second
	replicatedPoll    = 100 * time.Millisecond
)

// replicated waits until all replicas are equal, or for the timeout. behind is how many bytes were
// missing at first.
func replicated(ctx context.Context, look func(context.Context) (probe.TopicSize, error)) (size probe.TopicSize,
	behind int64, err error) {
	if size, err = look(ctx); err != nil {
		return size, 0, err
	}
	behind = size.BehindBytes()
	wait, cancel := context.WithTimeout(ctx, replicatedTimeout)
	defer cancel()
	for size.BehindBytes() > 0 {
		select {
		case <-time.After(replicatedPoll):
		case <-wait.Done():
			return size, behind, nil
		}
		later, err := look(wait)
		if err != nil { // the earlier size stays true
			return size, behind, nil //nolint:nilerr // see above
		}
		size = later
	}
	return size, behind, nil
}

func (r *run) holdsOwnAlone(ctx context.Context) bool {
	if r.topic.Existing {
		return false
	}
	starts, err := r.lagReader.Starts(ctx)
	if err != nil {
		return false
	}
	for _, first := range starts {
		if first > 0 { // retention has deleted the beginning
			return false
		}
	}
	return true
}
