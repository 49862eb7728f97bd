package cluster

import (
	"context"
	"fmt"
)

// Owned is how far a group has shared out a topic.
type Owned struct {
	Members    int
	Partitions int // that a member has
	Stable     bool
}

// Owned asks how far a classic group, or a share group, has shared out a topic's
// partitions. A group that nobody knows has none.
func (a *Admin) Owned(ctx context.Context, group, topic string, share bool) (Owned, error) {
	if share {
		return a.ownedByShareGroup(ctx, group, topic)
	}
	described, err := a.kadm.DescribeGroups(ctx, group)
	if err != nil {
		return Owned{}, unanswered(fmt.Sprintf("describe the group %q", group), err)
	}
	d := described[group]
	o := Owned{Members: len(d.Members), Stable: d.State == stable}
	for _, m := range d.Members {
		assigned, ok := m.Assigned.AsConsumer()
		if !ok {
			continue
		}
		for _, t := range assigned.Topics {
			if t.Topic == topic {
				o.Partitions += len(t.Partitions)
			}
		}
	}
	return o, nil
}

// stable is the state of a group that shares nothing out any more.
const stable = "Stable"

// ownedByShareGroup is Owned of a share group, whose members may have the same partition.
func (a *Admin) ownedByShareGroup(ctx context.Context, group, topic string) (Owned, error) {
	described, err := a.kadm.DescribeShareGroups(ctx, group)
	if err != nil {
		return Owned{}, unanswered(fmt.Sprintf("describe the share group %q", group), err)
	}
	d := described[group]
	return Owned{Members: len(d.Members), Partitions: len(d.AssignedPartitions()[topic]),
		Stable: d.GroupState == stable}, nil
}
