package bench

import (
	"context"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
	"kafkabench.example/kafka-bench/internal/run/remote"
)

// storage is what the run's topic takes on the brokers' disks; nil where they don't
// tell. What one record takes in its leader's log is only known where all that the topic holds is the run's
// own, and the topic still holds all of it.
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

// replicatedTimeout bounds how long followers may take to have what their leaders have:
// with acks 0 and 1 nobody has waited for them.
const (
	replicatedTimeout = 5 * time.Second
	replicatedPoll    = 100 * time.Millisecond
)

// replicated looks at the size of a topic until all replicas have the same, or for as
// long as they may take, and tells how many bytes were still to be copied at first.
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
		if err != nil { // what was seen stays true
			return size, behind, nil //nolint:nilerr // see above
		}
		size = later
	}
	return size, behind, nil
}

// holdsOwnAlone tells that the topic holds what the run has written, all of it and
// nothing else.
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
