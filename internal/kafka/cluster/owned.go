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

// GroupKind is one of the kinds of groups that Kafka has.
type GroupKind int

// The kinds.
const (
	ClassicGroup  GroupKind = iota
	ConsumerGroup           // KIP-848
	ShareGroup              // KIP-932
)

// Member is a member of a group, with the partitions of a topic that it has, in order; nil
// if the brokers do not tell.
type Member struct {
	ID, ClientID, Host string
	Partitions         []int32
}

// Members asks who is in a group, and how Kafka calls its state. A group that nobody knows
// has nobody.
func (a *Admin) Members(ctx context.Context, group, topic string, kind GroupKind) (state string, all []Member,
	err error) {
	var failed error // of the group, where err is of the question
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

// assignedOf returns the partitions of a topic that a member of a classic group has.
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

// partitionsIn returns the partitions of a topic in an assignment. The embedded broker
// leaves the names of topics out, which would seem to be none.
func partitionsIn(assignment kadm.TopicsSet, topic string) []int32 {
	if _, unnamed := assignment[""]; unnamed {
		return nil
	}
	return append([]int32{}, slices.Sorted(maps.Keys(assignment[topic]))...)
}

// Owned is how far a group has shared out a topic.
type Owned struct {
	Members    int
	Partitions int // that a member has; what several have counts once
	Stable     bool
}

// Owned asks how far a group has shared out a topic's partitions.
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

// stable is the state of a group that shares nothing out any more.
const stable = "Stable"
