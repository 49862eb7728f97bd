package franz

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kversion"
	"github.com/twmb/franz-go/pkg/sasl"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// The lists omit the options of share groups, those that only pass code (hooks, pools, logger, context), and
// DialTLS: the driver's dialer does TLS, which securityProtocol reports.
var (
	clientOptions = []string{
		"AllowAutoTopicCreation", "AlwaysRetryEOF", "BrokerMaxReadBytes", "BrokerMaxWriteBytes",
		"ClientID", "ConcurrentTransactionsBackoff", "ConnIdleTimeout", "ConsiderMissingTopicDeletedAfter",
		"DialTimeout", "DisableClientMetrics", "MaxDecompressBatchBytes", "MaxVersions",
		"MetadataMaxAge", "MetadataMinAge", "MinVersions", "RequestRetries", "RequestTimeoutOverhead",
		"RetryTimeout", "SASL", "SeedBrokers", "SoftwareNameAndVersion",
	}
	produceOptions = []string{
		"AllowIdempotentProduceCancellation", "DisableIdempotentWrite", "ManualFlushing",
		"MaxBufferedBytes", "MaxBufferedRecords", "MaxProduceRequestsInflightPerBroker",
		"ProduceRequestTimeout", "ProducerBatchCompression", "ProducerBatchMaxBytes", "ProducerLinger",
		"RackAwarePartitioning", "RecordDeliveryTimeout", "RecordPartitioner", "RecordRetries",
		"RequiredAcks", "StopProducerOnDataLossDetected", "StreamingCompression", "TransactionalID",
		"UnknownTopicRetries",
	}
	consumeOptions = []string{
		"BalanceRacks", "Balancers", "BlockRebalanceOnPoll", "ConsumeResetOffset", "ConsumeStartOffset",
		"ConsumerGroup", "DisableAutoCommit", "DisableFetchCRCValidation", "DisableFetchSessions",
		"FetchIsolationLevel", "FetchMaxBytes", "FetchMaxPartitionBytes", "FetchMaxWait", "FetchMinBytes",
		"HeartbeatInterval", "InstanceID", "KeepControlRecords", "KeepRetryableFetchErrors",
		"MaxConcurrentFetches", "Rack", "RebalanceTimeout", "RecheckPreferredReplicaInterval",
		"RequireStableFetchOffsets", "ServerSideBalancer", "SessionTimeout",
	}
)

func producerSettings(client *kgo.Client, cfg driver.ProducerConfig) []driver.Setting {
	settings := settingsOf(client, clientOptions, produceOptions)
	if cfg.Idempotent {
		// An idempotent client does not apply this option, and would report 1.
		replace(settings, "MaxProduceRequestsInflightPerBroker", fmt.Sprint(idempotentInFlight))
	}
	return append(settings, securityProtocol(cfg.Access))
}

func consumerSettings(client *kgo.Client, cfg driver.ConsumerConfig) []driver.Setting {
	settings := settingsOf(client, clientOptions, consumeOptions)
	if cfg.Protocol == driver.ProtocolConsumer {
		// In KIP-848 the group's broker sets both.
		replace(settings, "SessionTimeout", "set by the broker")
		replace(settings, "HeartbeatInterval", "set by the broker")
	}
	return append(settings, securityProtocol(cfg.Access))
}

func securityProtocol(a access.Access) driver.Setting {
	return driver.Setting{Name: "security.protocol", Value: a.Protocol()}
}

func settingsOf(client *kgo.Client, options ...[]string) []driver.Setting {
	var settings []driver.Setting
	for _, name := range slices.Concat(options...) {
		settings = append(settings, driver.Setting{Name: name, Value: text(client.OptValues(name))})
	}
	slices.SortFunc(settings, func(a, b driver.Setting) int { return strings.Compare(a.Name, b.Name) })
	return settings
}

func replace(settings []driver.Setting, name, value string) {
	for i := range settings {
		if settings[i].Name == name {
			settings[i].Value = value
		}
	}
}

// For some options a second value reports whether the first was set.
func text(values []any) string {
	if len(values) == 2 {
		if set, ok := values[1].(bool); ok && !set {
			return "unset"
		} else if ok {
			values = values[:1]
		}
	}
	words := make([]string, 0, len(values))
	for _, value := range values {
		words = append(words, word(value))
	}
	return strings.Join(words, " ")
}

func word(value any) string {
	switch v := value.(type) {
	case nil:
		return "unset"
	case time.Duration:
		return v.String()
	case []string:
		return strings.Join(v, ",")
	case kgo.Acks:
		return acksWord(v)
	case []kgo.CompressionCodec:
		return join(v, codecWord)
	case kgo.Offset:
		return offsetWord(v)
	case []kgo.GroupBalancer:
		return join(v, kgo.GroupBalancer.ProtocolName)
	case []sasl.Mechanism:
		return join(v, sasl.Mechanism.Name) // only the name, no credentials
	case *kversion.Versions:
		if v == nil {
			return "unset"
		}
		return v.VersionGuess()
	case kgo.Partitioner:
		return fmt.Sprintf("%T", v)
	default:
		return fmt.Sprint(v)
	}
}

func join[T any](values []T, word func(T) string) string {
	if len(values) == 0 {
		return "unset"
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = word(v)
	}
	return strings.Join(words, ",")
}

func acksWord(acks kgo.Acks) string {
	switch acks {
	case kgo.NoAck():
		return "0"
	case kgo.LeaderAck():
		return "1"
	default:
		return "all"
	}
}

func offsetWord(o kgo.Offset) string {
	switch o {
	case kgo.NewOffset().AtStart():
		return "earliest"
	case kgo.NewOffset().AtEnd():
		return "latest"
	default:
		return o.String()
	}
}

var codecNames = [...]string{
	kgo.CodecNone:   "none",
	kgo.CodecGzip:   "gzip",
	kgo.CodecSnappy: "snappy",
	kgo.CodecLz4:    "lz4",
	kgo.CodecZstd:   "zstd",
}

// The level is as the client's compression library counts it.
func codecWord(c kgo.CompressionCodec) string {
	fields := reflect.ValueOf(c)
	name := codecNames[fields.FieldByName("codec").Int()]
	if level := fields.FieldByName("level").Int(); level > 0 {
		return fmt.Sprintf("%s level %d", name, level)
	}
	return name
}
