package segmentio

import (
	"fmt"

	"github.com/segmentio/kafka-go"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

// The structs whose fields a scenario may set; the names of settings begin with these prefixes.
const (
	ofWriter    = "Writer."
	ofTransport = "Transport."
	ofReader    = "ReaderConfig."
	ofGroup     = "ConsumerGroupConfig."
	ofDialer    = "Dialer."
)

var (
	producerTable = native.Table{
		Client: "kafka-go",
		Passed: []string{
			ofTransport + "DialTimeout", ofTransport + "IdleTimeout", ofTransport + "MetadataTTL",
			ofWriter + "BatchSize", ofWriter + "ReadTimeout", ofWriter + "WriteTimeout",
		},
		Keys: map[string]string{
			ofWriter + "RequiredAcks": "load.acks", ofWriter + "BatchBytes": "load.batch",
			ofWriter + "BatchTimeout": "load.linger", ofWriter + "Compression": "load.compression",
			ofWriter + "MaxAttempts": "load.delivery_timeout", ofWriter + "WriteBackoffMin": "load.delivery_timeout",
			ofWriter + "WriteBackoffMax": "load.delivery_timeout",
		},
		Ours: map[string]string{
			ofTransport + "ClientID":            "it names each client after the run",
			ofTransport + "Dial":                "the driver opens the connections, to count their bytes",
			ofTransport + "MetadataTopics":      "a run has one topic",
			ofWriter + "AllowAutoTopicCreation": "a run makes its topic itself",
			ofWriter + "Async":                  "the driver gets each record's outcome from Completion",
			ofWriter + "Balancer":               "the run chooses each record's partition",
			ofWriter + "Completion":             "the driver gets each record's outcome from it",
			ofWriter + "Topic":                  "a run has one topic",
		},
		OneRecord: ofWriter + "BatchSize",
	}
	consumerTable = native.Table{
		Client: "kafka-go",
		Passed: []string{
			ofGroup + "JoinGroupBackoff", ofGroup + "PartitionWatchInterval", ofGroup + "RebalanceTimeout",
			ofGroup + "Timeout", ofGroup + "WatchPartitionChanges", ofDialer + "Timeout", ofReader + "MaxAttempts",
			ofReader + "QueueCapacity", ofReader + "ReadBackoffMax", ofReader + "ReadBackoffMin",
			ofReader + "ReadBatchTimeout",
		},
		Keys: map[string]string{
			ofReader + "MinBytes": "consume.fetch.min_bytes", ofReader + "MaxBytes": "consume.fetch.max_bytes",
			ofReader + "MaxWait": "consume.fetch.max_wait", ofReader + "StartOffset": "consume.from",
			ofReader + "GroupBalancers": "consume.assignor", ofReader + "SessionTimeout": "consume.session_timeout",
			ofReader + "HeartbeatInterval": "consume.session_timeout", ofReader + "CommitInterval": "consume.commit",
			ofGroup + "GroupBalancers": "consume.assignor", ofGroup + "SessionTimeout": "consume.session_timeout",
			ofGroup + "HeartbeatInterval": "consume.session_timeout", ofGroup + "StartOffset": "consume.from",
		},
		Ours: map[string]string{
			ofDialer + "ClientID":              "it names each client after the run",
			ofDialer + "DialFunc":              "the driver opens the connections, to count their bytes",
			ofGroup + "ID":                     "a run has a group of its own",
			ofGroup + "Topics":                 "a run has one topic",
			ofReader + "GroupID":               "a run has a group of its own",
			ofReader + "IsolationLevel":        "a run counts every record in the log",
			ofReader + "OffsetOutOfRangeError": "a run begins at the first record",
			ofReader + "Partition":             "the driver has a Reader for each partition",
			ofReader + "ReadLagInterval":       "the run measures the lag",
			ofReader + "Topic":                 "a run has one topic",
		},
	}
)

func (s *segmentio) Tables() (producer, consumer native.Table) { return producerTable, consumerTable }

func (s *segmentio) TryProducer(cfg driver.ProducerConfig) error {
	if err := driver.CheckProducer(s, cfg); err != nil {
		return err
	}
	if _, err := writerOptions(cfg); err != nil {
		return err
	}
	_, err := transportOptions(cfg)
	return err
}

func (s *segmentio) TryConsumer(cfg driver.ConsumerConfig) error {
	if err := driver.CheckConsumer(s, cfg); err != nil {
		return err
	}
	reader, err := readerOptions(cfg)
	if err != nil {
		return err
	}
	if reader.Dialer, err = dialerOptions(cfg); err != nil || cfg.Group == "" {
		return err
	}
	_, err = groupOptions(cfg)
	return err
}

func set(of any, prefix, side string, given map[string]string) error {
	if err := native.SetFields(of, prefix, given); err != nil {
		return fmt.Errorf("%w: %s: %w", driver.ErrConfig, side, err)
	}
	return nil
}

var balancers = map[string]kafka.GroupBalancer{
	driver.Range: kafka.RangeGroupBalancer{}, driver.RoundRobin: kafka.RoundRobinGroupBalancer{},
}
