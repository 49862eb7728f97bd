package bench

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// storage returns nil if unknown. A record's size is known only if the topic holds all records of
// the run and no others.
func (r *run) storage() *result.Storage {
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
	counts := r.producers.Snapshot(remote.Want{}).Sent
	warmup, sent := counts[0], counts[1]
	if inWindow := warmup.AckedInWindow + sent.AckedInWindow; inWindow > 0 && r.atStart.Sending.Counted &&
		r.atEnd.Sending.Counted {
		wire := float64(r.atEnd.Sending.Sub(r.atStart.Sending).Wire.WrittenBytes) / float64(inWindow)
		s.WireBytesPerRecord = &wire
	}
	if !r.holdsOwnAlone(ctx) {
		return s
	}
	sent.Add(warmup)
	if r.fill != nil {
		sent.Add(r.fill.Sent)
	}
	if replica := float64(size.LeadBytes); sent.Acked > 0 && replica > 0 {
		each, ratio := replica/float64(sent.Acked), float64(sent.AckedBytes)/replica
		s.DiskBytesPerRecord, s.DiskRatio = &each, &ratio
	}
	return s
}

// With acks 0 and 1 no producer has waited for the followers.
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
