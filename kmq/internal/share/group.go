package share

import (
	"cmp"
	"context"
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
	name        string
	least, most time.Duration // unless the brokers say other bounds
}

var (
	lockOfGroup    = groupDuration{"share.record.lock.duration.ms", 15 * time.Second, 60 * time.Second}
	sessionOfGroup = groupDuration{"share.session.timeout.ms", 45 * time.Second, 60 * time.Second}
	beatOfGroup    = groupDuration{"share.heartbeat.interval.ms", 5 * time.Second, 15 * time.Second}
)

// The broker's lock lasts longer than Visibility, so that the queue releases a record at a known deadline.
const lockSlack = 2 * time.Second

// leastSession is three heartbeats of franz-go, which sends at most one a second. In a shorter session a living member
// is removed repeatedly.
const leastSession = 3 * time.Second

type groupFacts struct {
	limit  int // deliveries after which the broker archives a record
	topics engine.Topics
}

type settings struct {
	value map[string]string
	set   map[string]bool // by the group itself
}

// prepareGroup waits for the coordinators of a cluster that has just started.
func prepareGroup(ctx context.Context, client *kgo.Client, cfg engine.Config) (f groupFacts, err error) {
	var last error
	err = engine.Persist(ctx, cfg.Log, "prepare the share group", func(ctx context.Context) error {
		if f, last = tryPrepareGroup(ctx, client, cfg); kerr.IsRetriable(last) {
			return last
		}
		return nil
	})
	return f, cmp.Or(err, last)
}

func tryPrepareGroup(ctx context.Context, client *kgo.Client, cfg engine.Config) (f groupFacts, err error) {
	if err = checkVersion(ctx, client); err != nil {
		return f, err
	}
	if err = checkName(ctx, client, cfg.Group); err != nil {
		return f, err
	}
	if f.topics, err = engine.CheckTopics(ctx, client, cfg); err != nil {
		return f, err
	}
	f.limit, err = prepareSettings(ctx, client, cfg)
	return f, err
}

func checkVersion(ctx context.Context, client *kgo.Client) error {
	resp, err := kmsg.NewPtrApiVersionsRequest().RequestWith(ctx, client)
	if err != nil {
		return fmt.Errorf("kmq: list the requests that the cluster supports: %w", err)
	}
	acknowledge := kmsg.NewPtrShareAcknowledgeRequest().Key()
	for _, k := range resp.ApiKeys {
		if k.ApiKey == acknowledge && k.MaxVersion >= 2 { // renews locks: KIP-1222
			return nil
		}
	}
	return fmt.Errorf("%w: the cluster has no share groups that renew locks, which need Kafka 4.2; "+
		"the engines markers and offsetmap work without them", lease.ErrConfig)
}

// A share group with the name of a consumer group could never join.
func checkName(ctx context.Context, client *kgo.Client, group string) error {
	others, err := kadm.NewClient(client).ListGroupsByType(ctx, []string{"classic", "consumer"})
	if err != nil {
		return fmt.Errorf("kmq: list the groups: %w", err)
	}
	if of, taken := others[group]; taken && of.State != "Dead" {
		return fmt.Errorf("%w: group %s is a consumer group, and a share group needs a name of its own: "+
			"choose another, or delete the group", lease.ErrConfig, group)
	}
	return nil
}

// prepareSettings returns the deliveries after which the broker archives a record.
func prepareSettings(ctx context.Context, client *kgo.Client, cfg engine.Config) (limit int, err error) {
	group, err := describe(ctx, client, kmsg.ConfigResourceTypeGroupConfig, cfg.Group)
	if err != nil {
		return 0, fmt.Errorf("kmq: read the settings of share group %s (this needs DESCRIBE_CONFIGS on the group): %w", cfg.Group, err)
	}
	broker, err := describeAnyBroker(ctx, client)
	if err != nil {
		// This needs a permission on the cluster. Kafka's defaults suffice: the broker reports each record's real
		// lock time with the record.
		cfg.Log.Info("kmq: the brokers' settings of share groups can't be read; Kafka's defaults are assumed", "error", err)
	}
	needed := map[string]string{isolationSetting: readCommitted}
	if !group.set[resetSetting] {
		needed[resetSetting] = "earliest"
	}
	if err := group.alter(ctx, client, cfg.Group, needed); err != nil {
		return 0, fmt.Errorf("kmq: share group %s would deliver aborted records or begin at the end of the log; %v could not be set "+
			"(this needs ALTER_CONFIGS on the group; or set them with kafka-configs.sh --entity-type groups): %w", cfg.Group, needed, err)
	}
	limit = group.number(limitSetting, broker.number("group."+limitSetting, defaultLimit))
	raised := max(limit, broker.number("group.share.max.delivery.count.limit", limit))
	wanted := wantedDurations(cfg, broker)
	if _, known := group.value[limitSetting]; known && !group.set[limitSetting] {
		wanted[limitSetting] = strconv.Itoa(raised)
	}
	if err := group.alter(ctx, client, cfg.Group, wanted); err != nil {
		cfg.Log.Info("kmq: settings of the share group could not be set", "settings", wanted, "error", err)
	} else if wanted[limitSetting] != "" {
		limit = raised
	}
	return limit, nil
}

func wantedDurations(cfg engine.Config, broker settings) map[string]string {
	wanted := make(map[string]string)
	set := func(d groupDuration, to time.Duration) time.Duration {
		name := strings.TrimPrefix(d.name, "share.")
		least, most := broker.duration("group.share.min."+name, d.least), broker.duration("group.share.max."+name, d.most)
		to = min(max(to.Truncate(time.Millisecond), least), most)
		wanted[d.name] = strconv.FormatInt(to.Milliseconds(), 10)
		return to
	}
	if cfg.SessionTimeout > 0 {
		session := max(cfg.SessionTimeout, leastSession, 3*set(beatOfGroup, 0))
		set(beatOfGroup, min(session, set(sessionOfGroup, session))/3)
	}
	if cfg.Visibility > 0 {
		set(lockOfGroup, cfg.Visibility+lockSlack)
	}
	return wanted
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

func describeAnyBroker(ctx context.Context, client *kgo.Client) (s settings, err error) {
	brokers, err := kadm.NewClient(client).ListBrokers(ctx)
	for _, id := range brokers.NodeIDs() {
		if s, err = describe(ctx, client, kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(id))); err == nil {
			break
		}
	}
	return s, err
}

// alter sets what differs, in one request: brokers refuse a session that is not longer than the heartbeat.
func (s settings) alter(ctx context.Context, client *kgo.Client, group string, to map[string]string) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	r := kmsg.NewIncrementalAlterConfigsRequestResource()
	r.ResourceType, r.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for name, value := range to {
		if s.value[name] == value {
			continue
		}
		c := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		c.Name, c.Value = name, &value
		r.Configs = append(r.Configs, c)
	}
	if len(r.Configs) == 0 {
		return nil
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
