package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
)

// GroupKind is a kind of Kafka group.
type GroupKind int

// The kinds of groups.
const (
	ClassicGroup  GroupKind = iota
	ConsumerGroup           // KIP-848
	ShareGroup              // KIP-932
)

// Member is a group member with its sorted partitions of a topic. Partitions is nil if the brokers
// do not report them.
type Member struct {
	ID, ClientID, Host string
	Partitions         []int32
}

// Members returns a group's members and its state, as Kafka names it. A missing group has no members.
func (a *Admin) Members(ctx context.Context, group, topic string, kind GroupKind) (state string, all []Member,
	err error) {
	var failed error // the group's error; err is the request's
	switch kind {
	case ShareGroup:
		var described kadm.DescribedShareGroups
		described, err = a.kadm.DescribeShareGroups(ctx, group)
		d := described[group]
		state, failed = d.GroupState, d.Err
		for _, m := range d.Members {
			all = append(all, Member{m.MemberID, m.ClientID, m.ClientHost, partitionsIn(m.Assignment, topic)})
		}
	case ConsumerGroup:
		var described kadm.DescribedConsumerGroups
		described, err = a.kadm.DescribeConsumerGroups(ctx, group)
		d := described[group]
		state, failed = d.State, d.Err
		for _, m := range d.Members {
			all = append(all, Member{m.MemberID, m.ClientID, m.ClientHost, partitionsIn(m.Assignment, topic)})
		}
	default:
		var described kadm.DescribedGroups
		described, err = a.kadm.DescribeGroups(ctx, group)
		d := described[group]
		state, failed = d.State, d.Err
		for _, m := range d.Members {
			all = append(all, Member{m.MemberID, m.ClientID, m.ClientHost, assignedOf(m, topic)})
		}
	}
	if err == nil && !errors.Is(failed, kerr.GroupIDNotFound) {
		err = failed
	}
	if err != nil {
		return "", nil, unanswered(fmt.Sprintf("describe the group %q", group), err)
	}
	return state, all, nil
}

func assignedOf(m kadm.DescribedGroupMember, topic string) (all []int32) {
	assigned, ok := m.Assigned.AsConsumer()
	if !ok {
		return nil
	}
	for _, t := range assigned.Topics {
		if t.Topic == topic {
			all = append(all, t.Partitions...)
		}
	}
	slices.Sort(all)
	return append([]int32{}, all...)
}

// partitionsIn returns nil if the assignment omits topic names, as the embedded broker's does.
func partitionsIn(assignment kadm.TopicsSet, topic string) []int32 {
	if _, unnamed := assignment[""]; unnamed {
		return nil
	}
	return append([]int32{}, slices.Sorted(maps.Keys(assignment[topic]))...)
}

// Owned summarises the assignment of a topic's partitions in a group.
type Owned struct {
	Members    int
	Partitions int // that some member has, each counted once
	Stable     bool
}

// Owned returns how many of a topic's partitions a group has assigned.
func (a *Admin) Owned(ctx context.Context, group, topic string, kind GroupKind) (Owned, error) {
	state, members, err := a.Members(ctx, group, topic, kind)
	if err != nil {
		return Owned{}, err
	}
	owned := make(map[int32]bool)
	for _, m := range members {
		for _, p := range m.Partitions {
			owned[p] = true
		}
	}
	return Owned{Members: len(members), Partitions: len(owned), Stable: state == stable}, nil
}

const stable = "Stable"
