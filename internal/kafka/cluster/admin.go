package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

const (
	leadersTimeout = 30 * time.Second
	leadersPoll    = 20 * time.Millisecond
	groupTimeout   = 10 * time.Second
	groupPoll      = 100 * time.Millisecond
)

// Admin makes and removes the topics and groups of runs. Errors are of kind ErrRefused if the cluster rejects a
// request, ErrUnreachable if it does not answer, and ErrInput if an existing topic is missing.
type Admin struct {
	client *kgo.Client
	kadm   *kadm.Client
}

// Topic is the topic of a run.
type Topic struct {
	Name       string
	ID         [16]byte
	Partitions int
	Replicas   int // the most of a partition; only from UseExisting
	// Existing reports whether the topic existed before the run; DeleteTopic then keeps it.
	Existing bool
}

// NewAdmin returns an Admin for the cluster at bootstrap. It connects at the first request.
func NewAdmin(bootstrap []string, a access.Access) (*Admin, error) {
	client, err := newClient(bootstrap, a)
	if err != nil {
		return nil, err
	}
	return &Admin{client: client, kadm: kadm.NewClient(client)}, nil
}

// Close closes the client.
func (a *Admin) Close() { a.client.Close() }

// CreateTopic makes a new topic and waits until every broker knows a leader for each partition.
func (a *Admin) CreateTopic(ctx context.Context, name string, partitions, replication int,
	config map[string]string) (Topic, error) {
	resp, err := a.kadm.CreateTopic(ctx, int32(partitions), int16(replication), entries(config), name)
	if err != nil {
		return Topic{}, creationError(name, replication, resp.ErrMessage, err)
	}
	topic := Topic{Name: name, ID: resp.ID, Partitions: partitions}
	if err := a.awaitLeaders(ctx, topic); err != nil {
		return topic, err
	}
	return topic, nil
}

func entries(config map[string]string) map[string]*string {
	entries := make(map[string]*string, len(config))
	for key, value := range config {
		entries[key] = &value
	}
	return entries
}

// CheckTopic returns why CreateTopic would fail, and makes no topic.
func (a *Admin) CheckTopic(ctx context.Context, name string, partitions, replication int, config map[string]string) error {
	all, err := a.kadm.ValidateCreateTopics(ctx, int32(partitions), int16(replication), entries(config), name)
	resp := all[name]
	if err == nil {
		err = resp.Err
	}
	if err == nil {
		return nil
	}
	return creationError(name, replication, resp.ErrMessage, err)
}

// UseExisting returns a topic that exists.
func (a *Admin) UseExisting(ctx context.Context, name string) (Topic, error) {
	detail, err := describeTopic(ctx, a.client, name)
	if err != nil {
		return Topic{}, unanswered("describe the topic "+name, err)
	}
	err = kerr.ErrorForCode(detail.ErrorCode)
	switch {
	case errors.Is(err, kerr.UnknownTopicOrPartition):
		return Topic{}, &Error{
			Kind: ErrInput, What: fmt.Sprintf("the topic %q does not exist", name),
			Remedy: "create it, or leave topic.existing out to have one made for the run",
		}
	case err != nil:
		return Topic{}, refused(fmt.Sprintf("the topic %q can't be used", name), "", err)
	case detail.IsInternal:
		return Topic{}, &Error{
			Kind: ErrInput, What: fmt.Sprintf("the topic %q is internal: brokers keep their own data in it", name),
			Remedy: "name a topic of records in topic.existing",
		}
	}
	topic := Topic{Name: name, ID: detail.TopicID, Partitions: len(detail.Partitions), Existing: true}
	for _, p := range detail.Partitions {
		topic.Replicas = max(topic.Replicas, len(p.Replicas))
	}
	return topic, nil
}

// GroupsOn returns the groups that have committed offsets of a topic, sorted, as far as this user may DESCRIBE them.
func (a *Admin) GroupsOn(ctx context.Context, topic string) (groups []string, err error) {
	listed, err := a.kadm.ListGroups(ctx)
	if err != nil {
		return nil, unanswered("list its groups", err)
	}
	for group, offsets := range a.kadm.FetchManyOffsets(ctx, listed.Groups()...) {
		if offsets.Err == nil && len(offsets.Fetched[topic]) > 0 {
			groups = append(groups, group)
		}
	}
	slices.Sort(groups)
	return groups, nil
}

// HasGroup reports whether a group has members or committed offsets. It is true too if this user may not know.
func (a *Admin) HasGroup(ctx context.Context, name string) (bool, error) {
	listed, err := a.kadm.ListGroups(ctx)
	if err != nil {
		return false, unanswered("list its groups", err)
	}
	if _, there := listed[name]; there {
		return true, nil
	}
	described, err := a.kadm.DescribeGroups(ctx, name)
	if err != nil {
		return false, unanswered("describe the group "+name, err)
	}
	return errors.Is(described[name].Err, kerr.GroupAuthorizationFailed), nil
}

// Compacts reports whether brokers compact the topic. It is false if they do not say.
func (a *Admin) Compacts(ctx context.Context, topic Topic) bool {
	configs, err := a.kadm.DescribeTopicConfigs(ctx, topic.Name)
	if err != nil {
		return false
	}
	for _, c := range configs {
		for _, setting := range c.Configs {
			if setting.Key == "cleanup.policy" && strings.Contains(setting.MaybeValue(), "compact") {
				return true
			}
		}
	}
	return false
}

func describeTopic(ctx context.Context, to kmsg.Requestor, name string) (kmsg.MetadataResponseTopic, error) {
	entry := kmsg.NewMetadataRequestTopic()
	entry.Topic = &name
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, entry)
	resp, err := req.RequestWith(ctx, to)
	if err != nil {
		return kmsg.MetadataResponseTopic{}, err
	}
	if len(resp.Topics) != 1 {
		return kmsg.MetadataResponseTopic{}, fmt.Errorf("the answer has %d topics instead of one", len(resp.Topics))
	}
	return resp.Topics[0], nil
}

// Brokers returns how many brokers the cluster has.
func (a *Admin) Brokers(ctx context.Context) (int, error) {
	brokers, err := a.kadm.ListBrokers(ctx)
	if err != nil {
		return 0, unanswered("list the brokers", err)
	}
	return len(brokers), nil
}

// Partition is the placement of one partition, by brokers' IDs.
type Partition struct {
	Partition, Leader int32 // a Leader below 0 means none
	Replicas, InSync  []int32
}

// Partitions returns the placement of a topic's partitions, by number.
func (a *Admin) Partitions(ctx context.Context, topic string) ([]Partition, error) {
	detail, err := describeTopic(ctx, a.client, topic)
	if err == nil {
		err = kerr.ErrorForCode(detail.ErrorCode)
	}
	if err != nil {
		return nil, unanswered("describe the topic "+topic, err)
	}
	all := make([]Partition, len(detail.Partitions))
	for i, p := range detail.Partitions {
		all[i] = Partition{Partition: p.Partition, Leader: p.Leader, Replicas: p.Replicas, InSync: p.ISR}
	}
	slices.SortFunc(all, func(a, b Partition) int { return cmp.Compare(a.Partition, b.Partition) })
	return all, nil
}

// DeleteTopic deletes a topic that CreateTopic made, by its ID: another topic with the same name
// stays. It is no error if the topic is Existing or already deleted.
func (a *Admin) DeleteTopic(ctx context.Context, topic Topic) error {
	if topic.Existing {
		return nil
	}
	if topic.ID == [16]byte{} {
		return &Error{
			Kind: ErrRefused, What: fmt.Sprintf("the topic %q can't be deleted, because the cluster gave it no ID",
				topic.Name),
			Remedy: "delete it by hand; Kafka has topic IDs since 2.8",
		}
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 15_000
	entry := kmsg.NewDeleteTopicsRequestTopic()
	entry.TopicID = topic.ID
	req.Topics = append(req.Topics, entry)
	resp, err := req.RequestWith(ctx, a.client)
	if err != nil {
		return unanswered("delete the topic "+topic.Name, err)
	}
	for _, t := range resp.Topics {
		err := kerr.ErrorForCode(t.ErrorCode)
		if err != nil && !errors.Is(err, kerr.UnknownTopicID) && !errors.Is(err, kerr.UnknownTopicOrPartition) {
			message := ""
			if t.ErrorMessage != nil {
				message = *t.ErrorMessage
			}
			return refused(fmt.Sprintf("the topic %q can't be deleted", topic.Name), message, err)
		}
	}
	return nil
}

// DeleteGroup deletes a consumer group. It waits up to 10 s until the last member has left. A missing group is no
// error.
func (a *Admin) DeleteGroup(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, groupTimeout)
	defer cancel()
	for {
		_, err := a.kadm.DeleteGroup(ctx, name)
		switch {
		case err == nil, errors.Is(err, kerr.GroupIDNotFound):
			return nil
		case !errors.Is(err, kerr.NonEmptyGroup):
			return refusedOrUnanswered(fmt.Sprintf("the group %q can't be deleted", name), err)
		}
		select {
		case <-ctx.Done():
			return refused(fmt.Sprintf("the group %q can't be deleted", name), "it still has members", err)
		case <-time.After(groupPoll):
		}
	}
}

// awaitLeaders asks each broker, because brokers learn of a new topic one after the other.
func (a *Admin) awaitLeaders(ctx context.Context, topic Topic) error {
	ctx, cancel := context.WithTimeout(ctx, leadersTimeout)
	defer cancel()
	brokers, err := a.kadm.ListBrokers(ctx)
	if err != nil {
		return unanswered("list the brokers", err)
	}
	for _, broker := range brokers {
		for {
			missing, err := leaderless(ctx, a.client.Broker(int(broker.NodeID)), topic)
			if err == nil && missing == 0 {
				break
			}
			select {
			case <-ctx.Done():
				return &Error{
					Kind: ErrUnreachable, Cause: errors.Join(err, ctx.Err()),
					What: fmt.Sprintf("broker %d knows no leader for %d of %d partitions of the new topic %q",
						broker.NodeID, missing, topic.Partitions, topic.Name),
					Remedy: "check that all brokers of the cluster are healthy",
				}
			case <-time.After(leadersPoll):
			}
		}
	}
	return nil
}

func leaderless(ctx context.Context, broker *kgo.Broker, topic Topic) (int, error) {
	detail, err := describeTopic(ctx, broker, topic.Name)
	if err != nil {
		return topic.Partitions, err
	}
	missing := topic.Partitions
	if detail.TopicID != [16]byte{} && detail.TopicID != topic.ID {
		return missing, nil // it still knows an earlier topic of this name
	}
	for _, p := range detail.Partitions {
		if p.ErrorCode == 0 && p.Leader >= 0 {
			missing--
		}
	}
	return missing, nil
}

func creationError(name string, replication int, message string, err error) error {
	what := fmt.Sprintf("the topic %q was not created", name)
	remedies := map[*kerr.Error]string{
		kerr.InvalidReplicationFactor:   fmt.Sprintf("lower topic.replication from %d to the number of brokers, or use more brokers", replication),
		kerr.InvalidPartitions:          "set topic.partitions to at least 1",
		kerr.InvalidConfig:              "correct topic.config",
		kerr.InvalidTopicException:      "choose another name: letters, digits, dots, dashes and underscores, up to 249",
		kerr.TopicAlreadyExists:         "choose another name; kafka-bench does not touch a topic that it did not make",
		kerr.TopicAuthorizationFailed:   "allow this user CREATE on the topic or on the cluster, or name a topic in topic.existing",
		kerr.ClusterAuthorizationFailed: "allow this user CREATE on the cluster, or name a topic in topic.existing",
		kerr.PolicyViolation:            "the cluster's policy for new topics forbids it; adapt topic, or name a topic in topic.existing",
	}
	for code, remedy := range remedies {
		if errors.Is(err, code) {
			return &Error{Kind: ErrRefused, What: what, Cause: explain(message, err), Remedy: remedy}
		}
	}
	return refusedOrUnanswered(what, err)
}

func refusedOrUnanswered(what string, err error) error {
	var code *kerr.Error
	if errors.As(err, &code) {
		return refused(what, "", err)
	}
	return &Error{Kind: ErrUnreachable, What: what, Cause: err,
		Remedy: "check that the cluster runs and can be reached"}
}

func unanswered(what string, err error) error {
	return refusedOrUnanswered("the cluster did not "+what, err)
}

func refused(what, message string, err error) error {
	remedy := "see the broker's log for the reason"
	if slices.ContainsFunc(authorization, func(code *kerr.Error) bool { return errors.Is(err, code) }) {
		remedy = "give this user the rights on the cluster"
	}
	return &Error{Kind: ErrRefused, What: what, Cause: explain(message, err), Remedy: remedy}
}

func explain(message string, err error) error {
	var code *kerr.Error
	if message == "" || !errors.As(err, &code) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, message)
}
