package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// ErrMayNotDelete: the cluster does not permit to delete the settled records of the retry topic.
var ErrMayNotDelete = errors.New("kmq: the retry topic grows until DELETE on it is permitted, or it gets a limit of retention")

// Deletions deletes the settled records of a retry topic. It is not safe for concurrent use.
type Deletions struct {
	client  *kgo.Client
	topic   string
	deleted map[int32]int64 // below this offset
	denied  bool
}

// NewDeletions returns Deletions that ask with a client.
func NewDeletions(client *kgo.Client, topic string) *Deletions {
	return &Deletions{client: client, topic: topic, deleted: make(map[int32]int64)}
}

// DeleteBelow deletes the records below an offset for each partition of the topic. Without the permission it returns
// [ErrMayNotDelete] once, and then does nothing more.
func (d *Deletions) DeleteBelow(ctx context.Context, offsets map[int32]int64) error {
	var below kadm.Offsets
	for partition, at := range offsets {
		if at > d.deleted[partition] {
			below.AddOffset(d.topic, partition, at, -1)
		}
	}
	if d.denied || len(below) == 0 {
		return nil
	}
	done, err := kadm.NewClient(d.client).DeleteRecords(ctx, below)
	if err != nil {
		return fmt.Errorf("kmq: delete settled records of topic %s: %w", d.topic, err)
	}
	done.Each(func(r kadm.DeleteRecordsResponse) {
		if r.Err == nil {
			d.deleted[r.Partition] = r.LowWatermark
		} else if err == nil {
			err = fmt.Errorf("kmq: delete settled records of partition %d of topic %s: %w", r.Partition, r.Topic, r.Err)
		}
	})
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		d.denied = true
		return fmt.Errorf("%w: %w", ErrMayNotDelete, err)
	}
	return err
}
