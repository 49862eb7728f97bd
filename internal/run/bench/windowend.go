package bench

import (
	"context"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/probe"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/observe"
)

// readWindowEnd runs during the drain. Values that brokers do not return are nil.
func (r *run) readWindowEnd() *result.WindowEnd {
	ctx, cancel := context.WithTimeout(context.Background(), r.patience(observe.ReadTimeout))
	defer cancel()
	end := &result.WindowEnd{ReadNs: r.axis.Now()}
	missed := func(what string, err error) {
		if err != nil {
			r.journal.Once("warning", what+" could not be read at the window's end", err)
		}
	}
	partitions, err := r.admin.Partitions(ctx, r.topic.Name)
	missed("the topic's partitions", err)
	for _, p := range partitions {
		at := result.TopicPartition{Partition: p.Partition, Replicas: p.Replicas, InSync: p.InSync}
		if p.Leader != probe.NoLeader {
			at.Leader = &p.Leader
		}
		end.Partitions = append(end.Partitions, at)
	}
	if !r.consumed() || r.manual() {
		return end
	}
	lags, err := r.lagReader.Read(ctx)
	missed("the groups' offsets", err)
	ends, err := r.lagReader.Ends(ctx)
	missed("the topic's ends", err)
	for i, id := range r.groupIDs {
		state, members, err := r.admin.Members(ctx, id, r.topic.Name, r.groupKind())
		if err != nil {
			missed("the members of "+id, err)
			continue
		}
		var lag *probe.Lag
		if i < len(lags) {
			lag = &lags[i]
		}
		end.Groups = append(end.Groups, groupAtEnd(id, state, members, lag, ends))
	}
	return end
}

func (b *base) groupKind() cluster.GroupKind {
	c := b.cfg.Scenario.Consume
	switch {
	case c.Queue.Engine == shareEngine:
		return cluster.ShareGroup
	case c.Protocol == "consumer" && !b.hasQueue():
		return cluster.ConsumerGroup
	}
	return cluster.ClassicGroup
}

// A nil lag is unknown.
func groupAtEnd(name, state string, members []cluster.Member, lag *probe.Lag, ends []int64) result.GroupAtEnd {
	g := result.GroupAtEnd{Name: name, State: state, Members: make([]result.Member, len(members))}
	for i, m := range members {
		of := result.Member{ID: m.ID, ClientID: m.ClientID, Host: m.Host}
		if m.Partitions != nil {
			of.Partitions = []result.MemberPartition{}
		}
		for _, id := range m.Partitions {
			p := result.MemberPartition{Partition: id}
			switch {
			case lag != nil && int(id) < len(lag.Ends):
				p.Committed, p.End, p.Lag = &lag.Committed[id], &lag.Ends[id], &lag.Partitions[id]
			case int(id) < len(ends):
				p.End = &ends[id]
			}
			of.Partitions = append(of.Partitions, p)
		}
		g.Members[i] = of
	}
	return g
}
