package segmentio

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The reported values are those after the client has set its defaults. Fields that only pass the tool's own code to
// the client (Balancer, Completion, Dial, loggers) are omitted.

// Defaults that the Writer and the Transport do not report are written here.
func producerSettings(w *kafka.Writer, t *kafka.Transport, cfg driver.ProducerConfig) []driver.Setting {
	runs := w.Stats()
	batchBytes := w.BatchBytes
	if batchBytes == 0 {
		batchBytes = 1 << 20
	}
	return sorted([]driver.Setting{
		setting("Transport.ClientID", t.ClientID),
		setting("Transport.DialTimeout", cmp.Or(t.DialTimeout, 5*time.Second)),
		setting("Transport.IdleTimeout", cmp.Or(t.IdleTimeout, 30*time.Second)),
		setting("Transport.MetadataTTL", cmp.Or(t.MetadataTTL, 6*time.Second)),
		setting("Transport.MetadataTopics", strings.Join(t.MetadataTopics, ",")),
		setting("Transport.SASL", mechanismName(t.SASL)),
		setting("Writer.Addr", strings.Join(cfg.Brokers, ",")),
		setting("Writer.AllowAutoTopicCreation", w.AllowAutoTopicCreation),
		setting("Writer.Async", w.Async),
		setting("Writer.BatchBytes", batchBytes),
		setting("Writer.BatchSize", runs.MaxBatchSize),
		setting("Writer.BatchTimeout", runs.BatchTimeout),
		setting("Writer.Compression", codecName(w.Compression)),
		setting("Writer.MaxAttempts", runs.MaxAttempts),
		setting("Writer.ReadTimeout", runs.ReadTimeout),
		setting("Writer.RequiredAcks", w.RequiredAcks),
		setting("Writer.Topic", w.Topic),
		setting("Writer.WriteBackoffMax", runs.WriteBackoffMax),
		setting("Writer.WriteBackoffMin", runs.WriteBackoffMin),
		setting("Writer.WriteTimeout", runs.WriteTimeout),
		setting("driver.delivery.timeout", cfg.DeliveryTimeout),
		setting("driver.max.buffered", orUnset(cfg.MaxBuffered)),
		securityProtocol(cfg.Access),
	})
}

func consumerSettings(common kafka.ReaderConfig, group kafka.ConsumerGroupConfig,
	cfg driver.ConsumerConfig) []driver.Setting {
	r := kafka.NewReader(common) // it fetches only when asked
	defer func() { _ = r.Close() }()
	runs := r.Config()
	settings := []driver.Setting{
		setting("Dialer.ClientID", orDefault(runs.Dialer.ClientID, kafka.DefaultClientID)),
		setting("Dialer.SASLMechanism", mechanismName(runs.Dialer.SASLMechanism)),
		setting("Dialer.Timeout", runs.Dialer.Timeout),
		// The broker's wait is less than the Reader's MaxWait.
		setting("FetchRequest.MaxWait", brokerWait(runs.MaxWait)),
		setting("ReaderConfig.Brokers", strings.Join(runs.Brokers, ",")),
		setting("ReaderConfig.IsolationLevel", isolationName(runs.IsolationLevel)),
		setting("ReaderConfig.MaxAttempts", runs.MaxAttempts),
		setting("ReaderConfig.MaxBytes", runs.MaxBytes),
		setting("ReaderConfig.MaxWait", runs.MaxWait),
		setting("ReaderConfig.MinBytes", runs.MinBytes),
		setting("ReaderConfig.QueueCapacity", runs.QueueCapacity),
		setting("ReaderConfig.ReadBackoffMax", runs.ReadBackoffMax),
		setting("ReaderConfig.ReadBackoffMin", runs.ReadBackoffMin),
		setting("ReaderConfig.ReadBatchTimeout", runs.ReadBatchTimeout),
		setting("ReaderConfig.ReadLagInterval", runs.ReadLagInterval),
		setting("ReaderConfig.Topic", runs.Topic),
		setting("driver.max.poll.records", orUnset(cfg.MaxPollRecords)),
		securityProtocol(cfg.Access),
	}
	if cfg.Group != "" {
		settings = append(settings, groupSettings(group)...)
	}
	return sorted(settings)
}

func groupSettings(g kafka.ConsumerGroupConfig) []driver.Setting {
	balancers := make([]string, len(g.GroupBalancers))
	for i, b := range g.GroupBalancers {
		balancers[i] = b.ProtocolName()
	}
	return []driver.Setting{
		setting("ConsumerGroupConfig.GroupBalancers", strings.Join(balancers, ",")),
		setting("ConsumerGroupConfig.HeartbeatInterval", g.HeartbeatInterval),
		setting("ConsumerGroupConfig.ID", g.ID),
		setting("ConsumerGroupConfig.JoinGroupBackoff", g.JoinGroupBackoff),
		setting("ConsumerGroupConfig.PartitionWatchInterval", g.PartitionWatchInterval),
		setting("ConsumerGroupConfig.RebalanceTimeout", g.RebalanceTimeout),
		setting("ConsumerGroupConfig.SessionTimeout", g.SessionTimeout),
		setting("ConsumerGroupConfig.StartOffset", "earliest"),
		setting("ConsumerGroupConfig.Timeout", g.Timeout),
		setting("ConsumerGroupConfig.WatchPartitionChanges", g.WatchPartitionChanges),
	}
}

func securityProtocol(a access.Access) driver.Setting {
	return driver.Setting{Name: "security.protocol", Value: a.Protocol()}
}

func setting(name string, value any) driver.Setting {
	return driver.Setting{Name: name, Value: fmt.Sprint(value)}
}

func sorted(settings []driver.Setting) []driver.Setting {
	slices.SortFunc(settings, func(a, b driver.Setting) int { return strings.Compare(a.Name, b.Name) })
	return settings
}

func mechanismName(m sasl.Mechanism) string {
	if m == nil {
		return "unset"
	}
	return m.Name()
}

func codecName(c kafka.Compression) string {
	if c == 0 {
		return "none"
	}
	return c.String()
}

func isolationName(level kafka.IsolationLevel) string {
	if level == kafka.ReadCommitted {
		return "read_committed"
	}
	return "read_uncommitted"
}

func orUnset(n int) string { return orDefault(strings.TrimLeft(fmt.Sprint(n), "0"), "unset") }

func orDefault(text, unset string) string {
	if text == "" {
		return unset
	}
	return text
}
