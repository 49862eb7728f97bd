package sarama

import (
	"maps"

	ibm "github.com/IBM/sarama"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

// clientOurs are fields that only the driver may set, each with the reason.
var clientOurs = map[string]string{
	"ApiVersionsRequest":              "the driver parses the protocol, in versions that it knows",
	"ClientID":                        "it names each client after the run",
	"Metadata.AllowAutoTopicCreation": "a run makes its topic itself",
	"Metadata.Full":                   "a client opens without a broker",
	"MetricRegistry":                  "the driver counts by itself",
	"Net.KeepAlive":                   "the driver opens the connections, to count their bytes",
	"Net.LocalAddr":                   "the driver opens the connections, to count their bytes",
	"Net.Proxy.Dialer":                "the driver opens the connections, to count their bytes",
	"Net.Proxy.Enable":                "the driver opens the connections, to count their bytes",
	"Version":                         "the driver parses the protocol, in versions that it knows",
}

var (
	producerTable = native.Table{
		Client: "sarama",
		Passed: []string{
			"ChannelBufferSize", "Metadata.RefreshFrequency", "Metadata.Retry.Backoff", "Metadata.SingleFlight",
			"Producer.Flush.Bytes", "Producer.Flush.MaxMessages", "Producer.Flush.Messages", "Producer.Retry.Backoff",
			"Producer.Retry.MaxBufferBytes", "Producer.Retry.MaxBufferLength", "RackID",
		},
		Keys: map[string]string{
			"Producer.RequiredAcks": "load.acks", "Producer.MaxMessageBytes": "load.batch",
			"Producer.Flush.Frequency": "load.linger", "Net.MaxOpenRequests": "load.in_flight",
			"Producer.Idempotent": "load.idempotent", "Producer.Compression": "load.compression",
			"Producer.CompressionLevel": "load.level", "Producer.Timeout": "load.delivery_timeout",
			"Producer.Retry.Max": "load.delivery_timeout", "Metadata.Retry.Max": "load.delivery_timeout",
			"Metadata.Timeout": "load.delivery_timeout", "Net.DialTimeout": "load.delivery_timeout",
			"Net.ReadTimeout": "load.delivery_timeout", "Net.WriteTimeout": "load.delivery_timeout",
		},
		Ours: ours(map[string]string{
			"Producer.Interceptors":     "records must not change on the way",
			"Producer.Partitioner":      "the run chooses each record's partition",
			"Producer.Return.Errors":    "a run counts every completed record",
			"Producer.Return.Successes": "a run counts every completed record",
			"Producer.Transaction.ID":   "a run has no transactions",
		}),
		OneRecord: "Producer.Flush.MaxMessages",
	}
	consumerTable = native.Table{
		Client: "sarama",
		Passed: []string{
			"ChannelBufferSize", "Consumer.Fetch.Max", "Consumer.Group.Rebalance.Retry.Backoff",
			"Consumer.Group.Rebalance.Retry.Max", "Consumer.Group.Rebalance.Timeout", "Consumer.MaxProcessingTime",
			"Consumer.Retry.Backoff", "Consumer.Retry.Max", "Metadata.RefreshFrequency", "Metadata.Retry.Backoff",
			"Metadata.Retry.Max", "Metadata.SingleFlight", "Metadata.Timeout", "Net.DialTimeout", "Net.MaxOpenRequests",
			"Net.ReadTimeout", "Net.WriteTimeout", "RackID",
		},
		Keys: map[string]string{
			"Consumer.Fetch.Min": "consume.fetch.min_bytes", "Consumer.Fetch.MaxBytes": "consume.fetch.max_bytes",
			"Consumer.Fetch.Default": "consume.fetch.max_partition_bytes", "Consumer.MaxWaitTime": "consume.fetch.max_wait",
			"Consumer.Group.Session.Timeout":           "consume.session_timeout",
			"Consumer.Group.Heartbeat.Interval":        "consume.session_timeout",
			"Consumer.Group.Rebalance.GroupStrategies": "consume.assignor",
			"Consumer.Group.Rebalance.Strategy":        "consume.assignor",
			"Consumer.Offsets.Initial":                 "consume.from",
		},
		Ours: ours(map[string]string{
			"Consumer.Group.InstanceId":            "every member would have the same ID",
			"Consumer.Group.ResetInvalidOffsets":   "a run begins at the first record",
			"Consumer.Interceptors":                "records must come as they are in the log",
			"Consumer.IsolationLevel":              "a run counts every record in the log",
			"Consumer.Offsets.AutoCommit.Enable":   "what is committed is what was processed, by consume.commit",
			"Consumer.Offsets.AutoCommit.Interval": "what is committed is what was processed, by consume.commit",
			"Consumer.Return.Errors":               "a run records them as events",
		}),
	}
)

func ours(more map[string]string) map[string]string {
	maps.Copy(more, clientOurs)
	return more
}

func (sarama) Tables() (producer, consumer native.Table) { return producerTable, consumerTable }

func (sarama) TryProducer(cfg driver.ProducerConfig) error {
	_, err := producerConfig(cfg, &network{})
	return err
}

func (sarama) TryConsumer(cfg driver.ConsumerConfig) error {
	_, err := consumerConfig(cfg, &network{})
	return err
}

var strategies = map[string]func() ibm.BalanceStrategy{
	driver.Range: ibm.NewBalanceStrategyRange, driver.RoundRobin: ibm.NewBalanceStrategyRoundRobin,
	driver.Sticky: ibm.NewBalanceStrategySticky,
}
