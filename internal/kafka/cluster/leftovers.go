package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"kafkabench.example/kafka-bench/internal/kafka/runname"
)

// Leftovers returns the topics and groups that the tool made and that are still on the cluster. It sees only those that
// this user may DESCRIBE.
func (a *Admin) Leftovers(ctx context.Context, now time.Time) ([]runname.Leftover, error) {
	topics, err := a.kadm.ListTopics(ctx)
	if err != nil {
		return nil, unanswered("list its topics", err)
	}
	listed, err := a.kadm.ListGroups(ctx)
	if err != nil {
		return nil, unanswered("list its groups", err)
	}
	c := runname.Cluster{Topics: topics.Names()}
	for _, g := range listed.Sorted() {
		if g.State == "Empty" || g.State == "Dead" {
			c.Groups = append(c.Groups, runname.Group{Name: g.Group})
			delete(listed, g.Group)
		}
	}
	c.Groups = append(c.Groups, a.consumed(ctx, listed)...)
	return runname.Find(c, now), nil
}

// consumed describes groups that may have members.
func (a *Admin) consumed(ctx context.Context, listed kadm.ListedGroups) (groups []runname.Group) {
	if len(listed) == 0 {
		return nil
	}
	names := listed.Groups()
	known := make(map[string]runname.Group)
	keep := func(name string, members int, topics kadm.TopicsSet, err error) {
		if had := known[name]; err == nil && members > had.Members {
			known[name] = runname.Group{Members: members, Topics: topics.Topics()}
		}
	}
	// A broker describes a group only by the request of its protocol, and may not know that of the others.
	if classic, err := a.kadm.DescribeGroups(ctx, names...); err == nil {
		for name, g := range classic {
			keep(name, len(g.Members), g.AssignedPartitions(), g.Err)
		}
	}
	if consumer, err := a.kadm.DescribeConsumerGroups(ctx, names...); err == nil {
		for name, g := range consumer {
			keep(name, len(g.Members), g.AssignedPartitions(), g.Err)
		}
	}
	if share, err := a.kadm.DescribeShareGroups(ctx, names...); err == nil {
		for name, g := range share {
			keep(name, len(g.Members), g.AssignedPartitions(), g.Err)
		}
	}
	for _, name := range names {
		g := known[name]
		g.Name = name
		if listed[name].State != "" { // since Kafka 2.6: it has members, even if nothing describes them
			g.Members = max(1, g.Members)
		}
		groups = append(groups, g)
	}
	return groups
}

// RemoveLeftovers deletes topics by their IDs, and groups, which must have no members. It deletes groups first; if one
// of them stays, so do the topics of the same run. It calls removed for each that is gone. The error names those that
// are left.
func (a *Admin) RemoveLeftovers(ctx context.Context, all []runname.Leftover, removed func(runname.Leftover)) error {
	details, err := a.kadm.ListTopics(ctx)
	if err != nil {
		return unanswered("list its topics", err)
	}
	stays := make(map[string]bool) // by the run's mark
	var failed []error
	for _, l := range slices.Backward(all) { // groups come last
		run, marked := runname.Parse(l.Name)
		detail, there := details[l.Name]
		var err error
		switch {
		case l.Kind == runname.Groups:
			err = a.DeleteGroup(ctx, l.Name)
			stays[run.Mark()] = stays[run.Mark()] || err != nil
		case marked && stays[run.Mark()]:
			err = &Error{Kind: ErrRefused, What: fmt.Sprintf("the topic %q was left, because a group of its run is", l.Name)}
		case there:
			err = a.DeleteTopic(ctx, Topic{Name: l.Name, ID: detail.ID})
		}
		if err != nil {
			failed = append(failed, lackingDelete(err))
			continue
		}
		removed(l)
	}
	return errors.Join(failed...)
}

func lackingDelete(err error) error {
	var e *Error
	if errors.As(err, &e) && slices.ContainsFunc(authorization, func(code *kerr.Error) bool { return errors.Is(err, code) }) {
		e.Remedy = "allow this user DELETE and DESCRIBE on topics and groups that begin with " + runname.Prefix +
			": kafka-acls --add --allow-principal User:NAME --operation Delete --operation Describe" +
			" --topic " + runname.Prefix + " --group " + runname.Prefix + " --resource-pattern-type prefixed"
	}
	return err
}

const leftTimeout = 5 * time.Second

// mentionLeft reports how many topics of ended runs are on a cluster that stays, with one request for metadata. It
// reports no error: the run will.
func (s *Source) mentionLeft(ctx context.Context, c Cluster) {
	if s.Progress == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, leftTimeout)
	defer cancel()
	admin, err := NewAdmin(c.Bootstrap(), AccessTo(c))
	if err != nil {
		return
	}
	defer admin.Close()
	topics, err := admin.kadm.ListTopics(ctx)
	if err != nil {
		return
	}
	n := 0
	for _, l := range runname.Find(runname.Cluster{Topics: topics.Names()}, time.Now()) {
		if l.Removable() {
			n++
		}
	}
	if n == 0 {
		return
	}
	brokers := s.Brokers
	if len(brokers) == 0 {
		brokers = c.Bootstrap()
	}
	command := "kafka-bench clean --brokers " + strings.Join(brokers, ",")
	if s.ClusterID != "" {
		command += " --cluster-id " + s.ClusterID
	}
	tell(s.Progress, "%s here; `%s` lists them", leftOver(n), command)
}

func leftOver(n int) string {
	if n == 1 {
		return "1 topic of an earlier run is left"
	}
	return fmt.Sprintf("%d topics of earlier runs are left", n)
}
