// Package inspect reports what a group of a queue has in flight, as the cluster records it. It
// reads offsets, markers, the state of share groups, and the records that are not settled. It joins
// no group and writes nothing.
//
// Files to know: inspect.go, read.go.
package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
	"kafkabench.example/kafka-bench/kmq/internal/offsetmap"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// Names of the engines, as in package kmq.
const (
	Plain     = "plain"
	Markers   = "markers"
	OffsetMap = "offsetmap"
	Share     = "share"
)

// Unsaid is an engine that cannot be found out; see kmq.Inspection.
const Unsaid = ""

const unknown = -1

// readAtMost bounds the unsettled records of a partition that are read. If there are more, only the
// first is read.
const readAtMost = 100_000

// Partition is the state of one partition and, in a Result, of the partition of the retry topic with its number; -1 means
// unknown.
type Partition struct {
	ID             int32 // see [lease.Retry]
	Committed, End int64 // of the queue's topic
	InFlight       int64
	Waiting        int64
	Redelivered    int64 // unsettled records of the retry topic
	OldestUnacked  time.Time

	start  int64
	stable int64 // later records may still be aborted
	unlent int64 // from here on nothing is known to be delivered
	open   []window.Range
}

// Result is the state of a group.
type Result struct {
	Topic, Engine   string // Engine may be Unsaid
	Partitions      []Partition
	DeadLetterTopic string
	DeadLetters     int64 // -1: no topic is given, and the default is missing
}

// Group inspects a group. If cfg.Topic or kind is empty, it finds out the missing one and refuses
// an unknown group.
func Group(ctx context.Context, cfg engine.Config, kind string) (Result, error) {
	client, err := kgo.NewClient(cfg.ClientOptions()...)
	if err != nil {
		return Result{}, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer client.Close()
	i := inspector{cfg: cfg, client: client, adm: kadm.NewClient(client)}
	if kind, err = i.find(ctx, kind); err != nil {
		return Result{}, err
	}
	if err := i.lay(ctx, kind); err != nil {
		return Result{}, err
	}
	switch kind {
	case Share:
		i.share()
	case Markers:
		err = i.markers(ctx)
	case OffsetMap:
		err = i.offsetMap()
	case Plain: // only the consumers know what is delivered
		i.settled()
	}
	if err != nil {
		return Result{}, err
	}
	if err := i.readUnsettled(ctx); err != nil {
		return Result{}, err
	}
	r := Result{Topic: i.cfg.Topic, Engine: kind}
	r.DeadLetterTopic = cmp.Or(i.cfg.DeadLetterTopic, engine.DeadLetterTopic(i.cfg.Topic, i.cfg.Group))
	r.Partitions = i.combine()
	r.DeadLetters, err = i.size(ctx, r.DeadLetterTopic)
	if i.cfg.DeadLetterTopic == "" && isMissing(err) { // no topic of the default name
		r.DeadLetters, err = unknown, nil
	}
	return r, err
}

type inspector struct {
	cfg       engine.Config
	client    *kgo.Client
	adm       *kadm.Client
	committed kadm.OffsetResponses
	shared    kadm.ShareOffsets
	sharers   []string
	parts     []*Partition // those of the queue's topic, then those of the retry topic
}

func isMissing(err error) bool {
	return errors.Is(err, lease.ErrConfig) || errors.Is(err, kerr.InvalidTopicException)
}

func (i *inspector) find(ctx context.Context, kind string) (string, error) {
	group := i.cfg.Group
	if kind == Share || kind == "" {
		known, err := i.findShare(ctx)
		switch {
		case err != nil && kind == Share:
			return "", err
		case known:
			kind = Share
		}
	}
	if kind == Share {
		topics := slices.Sorted(maps.Keys(i.shared))
		if len(topics) == 0 {
			topics = i.sharers
		}
		return kind, i.chooseTopic(topics)
	}
	var err error
	if i.committed, err = i.offsets(ctx, group); err != nil {
		return "", err
	}
	if err := i.findTopic(ctx); err != nil {
		return "", err
	}
	if kind != "" {
		return kind, nil
	}
	for _, o := range i.committed[i.cfg.Topic] {
		if o.Err == nil && o.Metadata != "" {
			if _, err := offsetmap.Map(o.At, o.Metadata); err == nil {
				return OffsetMap, nil
			}
		}
	}
	switch known, err := i.known(ctx); {
	case err != nil:
		return "", err
	case !known:
		return "", fmt.Errorf("%w: group %s has committed nothing and has no members: check its name, or name its engine", lease.ErrConfig, group)
	}
	tracked, err := i.adm.DescribeGroups(ctx, markers.Group(group))
	if g := tracked[markers.Group(group)]; err == nil && g.Err == nil && g.State != "" && g.State != "Dead" {
		return Markers, nil
	}
	if i.marked(ctx) {
		return Markers, nil
	}
	return Unsaid, nil
}

func (i *inspector) findTopic(ctx context.Context) error {
	if i.cfg.Topic != "" {
		return nil
	}
	topics := slices.Sorted(maps.Keys(i.committed))
	if len(topics) > 0 {
		return i.chooseTopic(topics)
	}
	topics, live, err := i.members(ctx)
	switch {
	case err != nil:
		return err
	case live && len(topics) == 0: // unknown during a rebalance
		return fmt.Errorf("%w: group %s has committed nothing, and the topics of its members are unknown: name its topic", lease.ErrConfig, i.cfg.Group)
	}
	return i.chooseTopic(topics)
}

// Known reports whether a group that is not a share group has commits or members.
func Known(ctx context.Context, cfg engine.Config) (bool, error) {
	client, err := kgo.NewClient(cfg.ClientOptions()...)
	if err != nil {
		return false, fmt.Errorf("%w: %w", lease.ErrConfig, err)
	}
	defer client.Close()
	i := inspector{cfg: cfg, client: client, adm: kadm.NewClient(client)}
	if i.committed, err = i.offsets(ctx, cfg.Group); err != nil {
		return false, err
	}
	return i.known(ctx)
}

func (i *inspector) known(ctx context.Context) (bool, error) {
	if len(i.committed) > 0 {
		return true, nil
	}
	_, live, err := i.members(ctx)
	return live, err
}

func (i *inspector) members(ctx context.Context) (topics []string, live bool, err error) {
	group := i.cfg.Group
	classic, err := i.adm.DescribeGroups(ctx, group)
	if err != nil {
		return nil, false, fmt.Errorf("kmq: describe group %s: %w", group, err)
	}
	if g := classic[group]; g.Err == nil {
		return g.JoinTopics(), len(g.Members) > 0, nil
	} else if !errors.Is(g.Err, kerr.GroupIDNotFound) {
		return nil, false, fmt.Errorf("kmq: describe group %s: %w", group, g.Err)
	}
	newer, err := i.adm.DescribeConsumerGroups(ctx, group) // KIP-848
	if g := newer[group]; err == nil && g.Err == nil {
		return g.SubscribedTopics(), len(g.Members) > 0, nil
	}
	return nil, false, nil
}

func (i *inspector) findShare(ctx context.Context) (bool, error) {
	group := i.cfg.Group
	all, err := i.adm.DescribeShareGroups(ctx, group)
	if err != nil {
		return false, fmt.Errorf("kmq: describe share group %s: %w", group, err)
	}
	switch g := all[group]; {
	case errors.Is(g.Err, kerr.GroupIDNotFound), g.Err == nil && (g.GroupState == "" || g.GroupState == "Dead"):
		return false, fmt.Errorf("%w: there is no share group %s", lease.ErrConfig, group)
	case g.Err != nil:
		return false, fmt.Errorf("kmq: describe share group %s: %w", group, g.Err)
	}
	offsets, err := i.adm.DescribeShareGroupOffsets(ctx, group)
	if err == nil {
		err = offsets[group].Err
	}
	if err != nil {
		return false, fmt.Errorf("kmq: the offsets of share group %s: %w", group, err)
	}
	i.shared, i.sharers = offsets[group].Offsets, all[group].SubscribedTopics()
	return true, nil
}

func (i *inspector) offsets(ctx context.Context, group string) (kadm.OffsetResponses, error) {
	all, err := i.adm.FetchOffsets(ctx, group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) {
		return nil, fmt.Errorf("kmq: the offsets of group %s: %w", group, err)
	}
	return all, nil
}

func (i *inspector) chooseTopic(topics []string) error {
	if i.cfg.Topic != "" {
		return nil
	}
	topics = slices.DeleteFunc(slices.Clone(topics), func(topic string) bool {
		return topic == i.cfg.RetryTopic ||
			slices.ContainsFunc(topics, func(of string) bool { return topic == engine.RetryTopic(of, i.cfg.Group) })
	})
	switch len(topics) {
	case 0:
		return fmt.Errorf("%w: group %s has committed nothing and has no members: check its name, or name its topic", lease.ErrConfig, i.cfg.Group)
	case 1:
		i.cfg.Topic = topics[0]
		return nil
	default:
		return fmt.Errorf("%w: group %s has several topics, %v: name one", lease.ErrConfig, i.cfg.Group, topics)
	}
}

func (i *inspector) retryTopic() string {
	return cmp.Or(i.cfg.RetryTopic, engine.RetryTopic(i.cfg.Topic, i.cfg.Group))
}

func (i *inspector) topicOf(number int32) string {
	if lease.IsRetry(number) {
		return i.retryTopic()
	}
	return i.cfg.Topic
}

// lay finds the partitions. A queue may have no retry topic.
func (i *inspector) lay(ctx context.Context, kind string) error {
	parts, err := i.partitions(ctx, i.cfg.Topic)
	if err != nil || kind == Plain {
		i.parts = parts
		return err
	}
	retries, err := i.partitions(ctx, i.retryTopic())
	if err != nil && !isMissing(err) {
		return err
	}
	for _, p := range retries {
		p.ID = lease.Retry(p.ID)
	}
	i.parts = slices.Concat(parts, retries)
	return nil
}

func (i *inspector) partitions(ctx context.Context, topic string) (parts []*Partition, err error) {
	starts, err := listed(ctx, topic, i.adm.ListStartOffsets)
	if err != nil {
		return nil, err
	}
	ends, err := listed(ctx, topic, i.adm.ListEndOffsets)
	if err != nil {
		return nil, err
	}
	stable, err := listed(ctx, topic, i.adm.ListCommittedOffsets)
	if err != nil {
		return nil, err
	}
	for id, end := range ends {
		p := &Partition{
			ID: id, Committed: unknown, End: end.Offset, InFlight: unknown,
			start: starts[id].Offset, stable: stable[id].Offset,
		}
		if p.start == p.End {
			p.InFlight = 0
		}
		if o, ok := i.committed.Lookup(topic, id); ok && o.Err == nil {
			p.Committed = o.At
		}
		p.unlent = max(p.Committed, p.start)
		p.Waiting = max(p.End-p.unlent, 0)
		parts = append(parts, p)
	}
	slices.SortFunc(parts, func(a, b *Partition) int { return int(a.ID - b.ID) })
	return parts, nil
}

// combine adds what is unsettled of the retry topic to the partitions of the queue's topic.
func (i *inspector) combine() []Partition {
	n := slices.IndexFunc(i.parts, func(p *Partition) bool { return lease.IsRetry(p.ID) })
	if n < 0 {
		n = len(i.parts)
	}
	all := make([]Partition, n)
	for at, p := range i.parts {
		if at < n {
			all[at] = *p
			continue
		}
		to := &all[int(lease.NumberInTopic(p.ID))%n]
		to.Redelivered += p.Waiting + max(p.InFlight, 0)
		to.Waiting += p.Waiting
		if to.InFlight == unknown || p.InFlight == unknown {
			to.Waiting += max(to.InFlight, 0) + max(p.InFlight, 0)
			to.InFlight = unknown
		} else {
			to.InFlight += p.InFlight
		}
		if at := p.OldestUnacked; !at.IsZero() && (to.OldestUnacked.IsZero() || at.Before(to.OldestUnacked)) {
			to.OldestUnacked = at
		}
	}
	return all
}

func listed(ctx context.Context, topic string, list func(context.Context, ...string) (kadm.ListedOffsets, error)) (map[int32]kadm.ListedOffset, error) {
	all, err := list(ctx, topic)
	if err == nil {
		err = all.Error()
	}
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition), err == nil && len(all[topic]) == 0:
		return nil, fmt.Errorf("%w: topic %s does not exist", lease.ErrConfig, topic)
	case err != nil:
		return nil, fmt.Errorf("kmq: the offsets of topic %s: %w", topic, err)
	}
	return all[topic], nil
}

// offsetMap counts gaps in the acknowledged offsets as in flight.
func (i *inspector) offsetMap() error {
	for _, p := range i.parts {
		o, ok := i.committed.Lookup(i.topicOf(p.ID), lease.NumberInTopic(p.ID))
		if !ok || p.Committed < 0 {
			continue
		}
		done, err := offsetmap.Map(p.Committed, o.Metadata)
		if err != nil {
			return fmt.Errorf("kmq: topic %s, partition %d: the metadata of offset %d: %w",
				i.topicOf(p.ID), lease.NumberInTopic(p.ID), p.Committed, err)
		}
		p.InFlight = 0
		for _, d := range done {
			if d.From > p.unlent {
				p.open = append(p.open, window.Range{From: p.unlent, To: d.From})
				p.InFlight += d.From - p.unlent
			}
			p.unlent = max(p.unlent, d.To)
		}
		p.Waiting = max(p.End-p.unlent, 0)
	}
	return nil
}

// settled counts nothing in flight in partitions that are committed up to the end.
func (i *inspector) settled() {
	for _, p := range i.parts {
		if p.Waiting == 0 {
			p.InFlight = 0
		}
	}
}

// share takes the number of open records from the broker. If it is 0, the broker's start offset may still be below the
// end of the log.
func (i *inspector) share() {
	for _, p := range i.parts {
		o, ok := i.shared.Lookup(i.topicOf(p.ID), lease.NumberInTopic(p.ID))
		if !ok || o.Err != nil || o.StartOffset < 0 {
			continue
		}
		p.Committed = o.StartOffset
		p.unlent = max(o.StartOffset, p.start)
		p.Waiting = max(p.End-p.unlent, 0)
		switch {
		case o.Lag == 0:
			p.unlent, p.Waiting, p.InFlight = p.End, 0, 0
		case o.Lag > 0:
			p.Waiting = o.Lag
		}
	}
}

func (i *inspector) size(ctx context.Context, topic string) (int64, error) {
	starts, err := listed(ctx, topic, i.adm.ListStartOffsets)
	if err != nil {
		return unknown, err
	}
	ends, err := listed(ctx, topic, i.adm.ListEndOffsets)
	if err != nil {
		return unknown, err
	}
	var n int64
	for id, end := range ends {
		n += end.Offset - starts[id].Offset
	}
	return n, nil
}
