package probe

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kadm"
)

// TopicSize is a topic's size on the brokers' disks.
type TopicSize struct {
	Bytes    int64 // of all replicas
	Replicas int   // of each partition
	// LeadBytes is the sum, over the partitions, of the largest replica: the leader's.
	LeadBytes int64
}

// BehindBytes returns what the other replicas have still to copy.
func (s TopicSize) BehindBytes() int64 { return s.LeadBytes*int64(s.Replicas) - s.Bytes }

// TopicSize asks all brokers for the size of the topic's replicas (DescribeLogDirs): their segments, without the
// indexes.
func (r *LagReader) TopicSize(ctx context.Context) (TopicSize, error) {
	topic := make(kadm.TopicsSet)
	for p := range int32(r.partitions) {
		topic.Add(r.topic, p)
	}
	described, err := r.admin.DescribeAllLogDirs(ctx, topic)
	if err != nil {
		return TopicSize{}, fmt.Errorf("asking the brokers for the size of topic %s: %w", r.topic, err)
	}
	var size TopicSize
	replicas, largest := 0, make(map[int32]int64)
	described.Each(func(d kadm.DescribedLogDir) {
		if d.Err != nil {
			err = fmt.Errorf("broker %d did not return the size of topic %s: %w", d.Broker, r.topic, d.Err)
		}
		for id, p := range d.Topics[r.topic] {
			if p.IsFuture { // a replica that moves to another disk
				continue
			}
			size.Bytes += p.Size
			largest[id] = max(largest[id], p.Size)
			replicas++
		}
	})
	if err != nil {
		return TopicSize{}, err
	}
	if r.partitions == 0 || replicas%r.partitions != 0 || replicas == 0 {
		return TopicSize{}, fmt.Errorf("the brokers returned %d replicas of the %d partitions of topic %s", replicas,
			r.partitions, r.topic)
	}
	size.Replicas = replicas / r.partitions
	for _, bytes := range largest {
		size.LeadBytes += bytes
	}
	return size, nil
}
