package share

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// A broker's setting applies if the group has none.
const (
	resetSetting = "share.auto.offset.reset"
	limitSetting = "share.delivery.count.limit" // from Kafka 4.3 on

	isolationSetting, readCommitted = "share.isolation.level", "read_committed"

	defaultLimit = 5
)

type groupDuration struct {
	name               string
	usual, least, most time.Duration
}

var (
	lockOfGroup    = groupDuration{"share.record.lock.duration.ms", 30 * time.Second, 15 * time.Second, 60 * time.Second}
	sessionOfGroup = groupDuration{"share.session.timeout.ms", 45 * time.Second, 45 * time.Second, 60 * time.Second}
	beatOfGroup    = groupDuration{"share.heartbeat.interval.ms", 5 * time.Second, 5 * time.Second, 15 * time.Second}
)

// The broker's lock lasts longer than Visibility, so that the queue releases a record at a known deadline.
const lockSlack = 2 * time.Second

// leastSession is three heartbeats of franz-go, which sends at most one a second. In a shorter session a living member
// is removed repeatedly.
const leastSession = 3 * time.Second

type groupFacts struct {
	brokers              int
	renews               bool // KIP-1222
	limit                int  // deliveries after which the broker archives a record
	deadLetterPartitions int
}

type settings struct {
	value map[string]string
	set   map[string]bool
}

// prepareGroup waits for the coordinators of a cluster that has just started.
func prepareGroup(ctx context.Context, client *kgo.Client, cfg engine.Config) (groupFacts, error) {
	wait, complaint := engine.NewWait(), engine.NewComplaint(cfg.Log)
	for {
		f, err := tryPrepareGroup(ctx, client, cfg)
		if err == nil || engine.Fatal(err) || !kerr.IsRetriable(err) {
			return f, err
		}
		complaint.About("preparing the share group", err)
		if wait.Sleep(ctx) != nil {
			return f, err
		}
	}
}

func tryPrepareGroup(ctx context.Context, client *kgo.Client, cfg engine.Config) (groupFacts, error) {
	var f groupFacts
	var err error
	if f.renews, err = abilities(ctx, client); err != nil {
		return f, err
	}
	if err := nameIsFree(ctx, client, cfg.Group); err != nil {
		return f, err
	}
	topics, err := engine.CheckTopics(ctx, client, cfg)
	if err != nil {
		return f, err
	}
	f.deadLetterPartitions = topics.DeadLetterPartitions
	if f.brokers, err = leaders(ctx, client, cfg.Topic); err != nil {
		return f, err
	}
	var lock time.Duration
	if f.limit, lock, err = prepareSettings(ctx, client, cfg); err != nil {
		return f, err
	}
	if !f.renews && cfg.Visibility > lock {
		return f, fmt.Errorf("%w: Visibility %v is longer than the brokers' lock of %v, and they cannot renew locks "+
			"(Kafka 4.2 can): set a shorter Visibility, or %s of group %s",
			lease.ErrConfig, cfg.Visibility, lock, lockOfGroup.name, cfg.Group)
	}
	return f, nil
}

func abilities(ctx context.Context, client *kgo.Client) (renews bool, err error) {
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err != nil {
		return false, fmt.Errorf("kmq: list the requests that the cluster supports: %w", err)
	}
	fetch, acknowledge := kmsg.NewPtrShareFetchRequest().Key(), kmsg.NewPtrShareAcknowledgeRequest().Key()
	var fetches bool
	for _, k := range resp.ApiKeys {
		switch k.ApiKey {
		case fetch:
			fetches = true
		case acknowledge:
			renews = k.MaxVersion >= 2
		}
	}
	if !fetches {
		return false, fmt.Errorf("%w: the cluster has no share groups, which need Kafka 4.1 "+
			"(4.2 in production); the engines markers and offsetmap work without them", lease.ErrConfig)
	}
	return renews, nil
}

// A share group with the name of a consumer group could never join.
func nameIsFree(ctx context.Context, client *kgo.Client, group string) error {
	adm := kadm.NewClient(client)
	taken := fmt.Errorf("%w: group %s is a consumer group, and a share group needs a name of its own: "+
		"choose another, or delete the group", lease.ErrConfig, group)
	classic, err := adm.DescribeGroups(ctx, group)
	if err == nil {
		err = found(classic[group].Err)
	}
	if err != nil {
		return fmt.Errorf("kmq: describe group %s: %w", group, err)
	}
	current, err := adm.DescribeConsumerGroups(ctx, group)
	if err == nil {
		err = found(current[group].Err)
	}
	if err != nil {
		return fmt.Errorf("kmq: describe group %s: %w", group, err)
	}
	for _, state := range []string{classic[group].State, current[group].State} {
		if state != "" && state != "Dead" {
			return taken
		}
	}
	return nil
}

func found(err error) error {
	if errors.Is(err, kerr.GroupIDNotFound) {
		return nil
	}
	return err
}

func leaders(ctx context.Context, client *kgo.Client, topic string) (int, error) {
	all, err := kadm.NewClient(client).ListTopics(ctx, topic)
	if err != nil {
		return 0, fmt.Errorf("kmq: look up topic %s: %w", topic, err)
	}
	leading := make(map[int32]bool)
	for _, p := range all[topic].Partitions {
		leading[p.Leader] = true
	}
	return len(leading), nil
}

func prepareSettings(ctx context.Context, client *kgo.Client, cfg engine.Config) (limit int, lock time.Duration, err error) {
	group, err := describe(ctx, client, kmsg.ConfigResourceTypeGroupConfig, cfg.Group)
	if err != nil {
		return 0, 0, fmt.Errorf("kmq: read the settings of share group %s (this needs DESCRIBE_CONFIGS on the group): %w", cfg.Group, err)
	}
	broker, err := describeAnyBroker(ctx, client)
	if err != nil {
		// This needs a permission on the cluster. Kafka's defaults suffice: the broker reports each record's real
		// lock time with the record.
		cfg.Log.Info("kmq: the brokers' settings of share groups can't be read; Kafka's defaults are assumed", "error", err)
	}
	if !group.set[resetSetting] {
		if err := alter(ctx, client, cfg.Group, map[string]string{resetSetting: "earliest"}); err != nil {
			return 0, 0, fmt.Errorf("kmq: share group %s would begin at the end of the log; %s could not be set to earliest "+
				"(this needs ALTER_CONFIGS on the group; or set it with kafka-configs.sh --entity-type groups): %w",
				cfg.Group, resetSetting, err)
		}
	}
	if group.value[isolationSetting] != readCommitted {
		if err := alter(ctx, client, cfg.Group, map[string]string{isolationSetting: readCommitted}); err != nil {
			return 0, 0, fmt.Errorf("kmq: share group %s would deliver aborted records; %s could not be set to %s "+
				"(this needs ALTER_CONFIGS on the group; or set it with kafka-configs.sh --entity-type groups): %w",
				cfg.Group, isolationSetting, readCommitted, err)
		}
	}
	if cfg.SessionTimeout > 0 {
		wanted := max(cfg.SessionTimeout, leastSession, 3*beatOfGroup.nearest(broker, 0))
		session := sessionOfGroup.nearest(broker, wanted)
		beat := beatOfGroup.nearest(broker, min(wanted, session)/3)
		setDurations(ctx, client, cfg, group, broker,
			map[groupDuration]time.Duration{sessionOfGroup: session, beatOfGroup: beat})
	}
	lock = lockOfGroup.inForce(group, broker)
	if cfg.Visibility > 0 {
		wanted := lockOfGroup.nearest(broker, cfg.Visibility+lockSlack)
		if setDurations(ctx, client, cfg, group, broker, map[groupDuration]time.Duration{lockOfGroup: wanted}) {
			lock = wanted
		}
	}
	return deliveryLimit(ctx, client, cfg, group, broker), lock, nil
}

// deliveryLimit returns the deliveries after which the broker archives a record. It raises the
// group's setting to the broker's maximum, unless the group has one already.
func deliveryLimit(ctx context.Context, client *kgo.Client, cfg engine.Config, group, broker settings) int {
	limit := broker.number("group."+limitSetting, defaultLimit)
	if _, known := group.value[limitSetting]; !known {
		return limit
	}
	limit = group.number(limitSetting, limit)
	most := broker.number("group.share.max.delivery.count.limit", limit)
	if group.set[limitSetting] || most <= limit {
		return limit
	}
	if !tryAlter(ctx, client, cfg, map[string]string{limitSetting: strconv.Itoa(most)}) {
		return limit
	}
	return most
}

func (d groupDuration) nearest(broker settings, wanted time.Duration) time.Duration {
	name := strings.TrimPrefix(d.name, "share.")
	least, most := broker.duration("group.share.min."+name, d.least), broker.duration("group.share.max."+name, d.most)
	return min(max(wanted.Truncate(time.Millisecond), least), most)
}

func (d groupDuration) inForce(group, broker settings) time.Duration {
	return group.duration(d.name, broker.duration("group."+d.name, d.usual))
}

// setDurations sets durations in one request, because brokers refuse a session that is not longer
// than the heartbeat. It reports whether all settings have these values now.
func setDurations(ctx context.Context, client *kgo.Client, cfg engine.Config, group, broker settings,
	wanted map[groupDuration]time.Duration,
) bool {
	changes := make(map[string]string)
	for d, wants := range wanted {
		if d.inForce(group, broker) != wants {
			changes[d.name] = strconv.FormatInt(wants.Milliseconds(), 10)
		}
	}
	return len(changes) == 0 || tryAlter(ctx, client, cfg, changes)
}

func tryAlter(ctx context.Context, client *kgo.Client, cfg engine.Config, changes map[string]string) bool {
	err := alter(ctx, client, cfg.Group, changes)
	if err != nil {
		cfg.Log.Info("kmq: settings of the share group could not be set", "settings", changes, "error", err)
	}
	return err == nil
}

func (s settings) duration(name string, otherwise time.Duration) time.Duration {
	return time.Duration(s.number(name, int(otherwise.Milliseconds()))) * time.Millisecond
}

func (s settings) number(name string, otherwise int) int {
	if n, err := strconv.Atoi(s.value[name]); err == nil {
		return n
	}
	return otherwise
}

func describe(ctx context.Context, client kmsg.Requestor, of kmsg.ConfigResourceType, name string) (settings, error) {
	s := settings{value: make(map[string]string), set: make(map[string]bool)}
	req := kmsg.NewPtrDescribeConfigsRequest()
	r := kmsg.NewDescribeConfigsRequestResource()
	r.ResourceType, r.ResourceName = of, name
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return s, err
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			return s, err
		}
		for _, c := range r.Configs {
			if c.Value == nil {
				continue
			}
			s.value[c.Name] = *c.Value
			s.set[c.Name] = c.Source == kmsg.ConfigSourceGroupConfig
		}
	}
	return s, nil
}

func describeAnyBroker(ctx context.Context, client *kgo.Client) (settings, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none; nil would mean all
	brokers, err := req.RequestWith(ctx, client)
	if err != nil {
		return settings{}, err
	}
	err = errors.New("no broker is known")
	for _, b := range brokers.Brokers {
		var s settings
		if s, err = describe(ctx, client.Broker(int(b.NodeID)), kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(b.NodeID))); err == nil {
			return s, nil
		}
	}
	return settings{}, err
}

func alter(ctx context.Context, client *kgo.Client, group string, changes map[string]string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for name, value := range changes {
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, &value
		r.Configs = append(r.Configs, c)
	}
	req.Resources = append(req.Resources, r)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	for _, r := range resp.Resources {
		if err := kerr.ErrorForCode(r.ErrorCode); err != nil {
			if r.ErrorMessage != nil {
				return fmt.Errorf("%w (%s)", err, *r.ErrorMessage)
			}
			return err
		}
	}
	return nil
}
