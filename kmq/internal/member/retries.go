package member

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// DeleteRetries deletes the records of the retry topic below what the group has committed: its owned partitions alone, and
// only below what needed returns, unless needed is nil. Without the permission it does nothing more, and returns
// [ErrMayNotDelete] once.
func (m *Member) DeleteRetries(ctx context.Context, needed func(partition int32) int64) error {
	if m.mayNotDelete.Load() {
		return nil
	}
	var below kadm.Offsets
	for number, at := range m.offsets.committed() {
		if needed != nil {
			at = min(at, needed(number))
		}
		if lease.IsRetry(number) && at > m.deleted[number] {
			below.AddOffset(m.cfg.RetryTopic, lease.NumberInTopic(number), at, -1)
		}
	}
	done, err := kadm.NewClient(m.client).DeleteRecords(ctx, below)
	if err != nil {
		return fmt.Errorf("kmq: delete settled records of topic %s: %w", m.cfg.RetryTopic, err)
	}
	done.Each(func(r kadm.DeleteRecordsResponse) {
		if r.Err == nil {
			m.deleted[lease.Retry(r.Partition)] = r.LowWatermark
		} else if err == nil {
			err = fmt.Errorf("kmq: delete settled records of partition %d of topic %s: %w", r.Partition, r.Topic, r.Err)
		}
	})
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		m.mayNotDelete.Store(true)
		return fmt.Errorf("%w: %w", ErrMayNotDelete, err)
	}
	return err
}

// ErrMayNotDelete: the cluster does not permit to delete the settled records of the retry topic.
var ErrMayNotDelete = errors.New("kmq: the retry topic grows until DELETE on it is permitted, or it gets a limit of retention")
