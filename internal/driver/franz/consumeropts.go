package franz

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/driver"
)

// The two group protocols, as Kafka names them (consumer setting
// "group.protocol").
const (
	protocolClassic  = "classic"
	protocolConsumer = "consumer" // KIP-848
)

// consumerOptions translates cfg into options of the client.
func consumerOptions(cfg driver.ConsumerConfig) ([]kgo.Opt, error) {
	if err := checkConsumer(cfg); err != nil {
		return nil, err
	}
	earliest := kgo.NewOffset().AtStart()
	options := []kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.DisableClientMetrics(),
		kgo.ConsumeStartOffset(earliest),
		kgo.ConsumeResetOffset(earliest),
		kgo.KeepRetryableFetchErrors(), // for OnError
	}
	options = append(options, cfg.Access.Login()...)
	if cfg.ClientID != "" {
		options = append(options, kgo.ClientID(cfg.ClientID))
	}
	if cfg.Group != "" {
		options = append(options, groupOptions(cfg)...)
	}
	if cfg.ControlRecords {
		options = append(options, kgo.KeepControlRecords())
	}
	return append(options, fetchOptions(cfg)...), nil
}

func groupOptions(cfg driver.ConsumerConfig) []kgo.Opt {
	options := []kgo.Opt{
		kgo.ConsumerGroup(cfg.Group),
		kgo.ConsumeTopics(cfg.Topic),
		kgo.DisableAutoCommit(),
		kgo.BlockRebalanceOnPoll(),
		kgo.OnPartitionsAssigned(onAssigned(cfg)),
		kgo.OnPartitionsRevoked(onRevoked(cfg, false)),
		kgo.OnPartitionsLost(onRevoked(cfg, true)),
	}
	if cfg.Protocol == protocolConsumer {
		options = append(options, kgo.ServerSideBalancer())
	}
	if cfg.SessionTimeout > 0 {
		options = append(options, kgo.SessionTimeout(cfg.SessionTimeout),
			kgo.HeartbeatInterval(min(defaultHeartbeat, cfg.SessionTimeout/3)))
	}
	return options
}

// defaultHeartbeat is the client's own interval (kgo.HeartbeatInterval). Kafka's
// advice is a third of the session timeout at most, so that no single heartbeat
// that is lost or late puts a member out of its group.
const defaultHeartbeat = 3 * time.Second

func fetchOptions(cfg driver.ConsumerConfig) []kgo.Opt {
	var options []kgo.Opt
	if cfg.FetchMinBytes > 0 {
		options = append(options, kgo.FetchMinBytes(cfg.FetchMinBytes))
	}
	if cfg.FetchMaxBytes > 0 {
		options = append(options, kgo.FetchMaxBytes(cfg.FetchMaxBytes))
	}
	if cfg.FetchMaxPartitionBytes > 0 {
		options = append(options, kgo.FetchMaxPartitionBytes(cfg.FetchMaxPartitionBytes))
	}
	if cfg.FetchMaxWait > 0 {
		options = append(options, kgo.FetchMaxWait(cfg.FetchMaxWait))
	}
	return options
}

func checkConsumer(cfg driver.ConsumerConfig) error {
	switch {
	case len(cfg.Brokers) == 0:
		return fmt.Errorf("%w: consumer: no brokers", driver.ErrConfig)
	case cfg.Topic == "":
		return fmt.Errorf("%w: consumer: no topic", driver.ErrConfig)
	case cfg.Group == "" && cfg.Partitions == nil:
		return fmt.Errorf("%w: consumer: no group, and no partitions", driver.ErrConfig)
	case cfg.Group != "" && cfg.Partitions != nil:
		return fmt.Errorf("%w: consumer: a group and partitions by hand; it is one or the other", driver.ErrConfig)
	case cfg.Group != "" && cfg.Protocol != protocolClassic && cfg.Protocol != protocolConsumer:
		return fmt.Errorf("%w: consumer: group protocol %q is not known; it is %s or %s",
			driver.ErrConfig, cfg.Protocol, protocolClassic, protocolConsumer)
	case cfg.Protocol == protocolConsumer && cfg.SessionTimeout != 0:
		return fmt.Errorf("%w: consumer: with group protocol consumer the broker sets the session timeout (group.consumer.session.timeout.ms), got %v",
			driver.ErrConfig, cfg.SessionTimeout)
	case cfg.SessionTimeout < 0 || cfg.FetchMaxWait < 0:
		return fmt.Errorf("%w: consumer: a negative session timeout or fetch wait", driver.ErrConfig)
	case cfg.MaxPollRecords < 0:
		return fmt.Errorf("%w: consumer: at most %d records in a poll", driver.ErrConfig, cfg.MaxPollRecords)
	case cfg.FetchMinBytes < 0 || cfg.FetchMaxBytes < 0 || cfg.FetchMaxPartitionBytes < 0:
		return fmt.Errorf("%w: consumer: a negative fetch size", driver.ErrConfig)
	}
	return nil
}

// partitionsFunc is how the client tells of a rebalance.
type partitionsFunc = func(context.Context, *kgo.Client, map[string][]int32)

// onAssigned passes on every assignment, an empty one too: that is how a member
// of a group with more members than partitions learns that it has joined.
func onAssigned(cfg driver.ConsumerConfig) partitionsFunc {
	return func(_ context.Context, _ *kgo.Client, assigned map[string][]int32) {
		cfg.OnAssigned(assigned[cfg.Topic])
	}
}

// onRevoked passes on what is revoked or lost, if anything: the client calls at
// the end of every session. It also ends their pauses, which the client would
// keep for the day when the partition comes back.
func onRevoked(cfg driver.ConsumerConfig, lost bool) partitionsFunc {
	return func(_ context.Context, client *kgo.Client, revoked map[string][]int32) {
		partitions := revoked[cfg.Topic]
		if len(partitions) == 0 {
			return
		}
		client.ResumeFetchPartitions(revoked)
		cfg.OnRevoked(partitions, lost)
	}
}
