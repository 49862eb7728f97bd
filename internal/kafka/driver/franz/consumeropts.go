package franz

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func consumerOptions(cfg driver.ConsumerConfig) ([]kgo.Opt, error) {
	earliest := kgo.NewOffset().AtStart()
	options := []kgo.Opt{
		kgo.SeedBrokers(cfg.Brokers...),
		kgo.DisableClientMetrics(),
		kgo.ConsumeStartOffset(earliest),
		kgo.ConsumeResetOffset(earliest),
		kgo.KeepRetryableFetchErrors(),
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
	given, err := consumerNatives.given(cfg.Client)
	return slices.Concat(options, fetchOptions(cfg), given), err
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
	if cfg.Protocol == driver.ProtocolConsumer {
		options = append(options, kgo.ServerSideBalancer())
	}
	if balancer, chosen := balancers[cfg.Assignor]; chosen {
		options = append(options, kgo.Balancers(balancer()))
	}
	if cfg.SessionTimeout > 0 {
		options = append(options, kgo.SessionTimeout(cfg.SessionTimeout),
			kgo.HeartbeatInterval(cfg.Heartbeat(defaultHeartbeat)))
	}
	return options
}

var balancers = map[string]func() kgo.GroupBalancer{
	driver.Range: kgo.RangeBalancer, driver.RoundRobin: kgo.RoundRobinBalancer,
	driver.Sticky: kgo.StickyBalancer, driver.Cooperative: kgo.CooperativeStickyBalancer,
}

// defaultHeartbeat is the client's own interval (kgo.HeartbeatInterval).
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

type partitionsFunc = func(context.Context, *kgo.Client, map[string][]int32)

// onAssigned passes on an empty assignment too: it shows that a member without partitions has
// joined.
func onAssigned(cfg driver.ConsumerConfig) partitionsFunc {
	return func(_ context.Context, _ *kgo.Client, assigned map[string][]int32) {
		cfg.OnAssigned(assigned[cfg.Topic])
	}
}

// onRevoked ends the pauses of the partitions, which the client would otherwise keep. The client
// also calls it without partitions.
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
