package franz

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

// options are functions of package kgo, with one parameter, or none if they only enable something.
type options map[string]any

var (
	clientNatives = options{
		"AlwaysRetryEOF":                   kgo.AlwaysRetryEOF,
		"BrokerMaxReadBytes":               kgo.BrokerMaxReadBytes,
		"BrokerMaxWriteBytes":              kgo.BrokerMaxWriteBytes,
		"ConnIdleTimeout":                  kgo.ConnIdleTimeout,
		"ConsiderMissingTopicDeletedAfter": kgo.ConsiderMissingTopicDeletedAfter,
		"MaxDecompressBatchBytes":          kgo.MaxDecompressBatchBytes,
		"MetadataMaxAge":                   kgo.MetadataMaxAge,
		"MetadataMinAge":                   kgo.MetadataMinAge,
		"RequestRetries":                   kgo.RequestRetries,
		"RetryTimeout":                     kgo.RetryTimeout,
	}
	producerNatives = merged(clientNatives, options{
		"RecordRetries":                  kgo.RecordRetries,
		"StopProducerOnDataLossDetected": kgo.StopProducerOnDataLossDetected,
		"StreamingCompression":           kgo.StreamingCompression,
		"UnknownTopicRetries":            kgo.UnknownTopicRetries,
	})
	consumerNatives = merged(clientNatives, options{
		"BalanceRacks":                    kgo.BalanceRacks,
		"DisableFetchCRCValidation":       kgo.DisableFetchCRCValidation,
		"DisableFetchSessions":            kgo.DisableFetchSessions,
		"MaxConcurrentFetches":            kgo.MaxConcurrentFetches,
		"Rack":                            kgo.Rack,
		"RebalanceTimeout":                kgo.RebalanceTimeout,
		"RecheckPreferredReplicaInterval": kgo.RecheckPreferredReplicaInterval,
		"RequestTimeoutOverhead":          kgo.RequestTimeoutOverhead,
		"RequireStableFetchOffsets":       kgo.RequireStableFetchOffsets, //nolint:staticcheck // no effect since v1.20, but scenarios may name it
	})
)

// clientOurs are options that only the driver may set, each with the reason.
var clientOurs = map[string]string{
	"AllowAutoTopicCreation": "a run makes its topic itself",
	"ClientID":               "it names each client after the run",
	"DialTimeout":            "the driver opens the connections, to count their bytes",
	"Dialer":                 "the driver opens the connections, to count their bytes",
	"DisableClientMetrics":   "client metrics are unwanted load",
	"WithHooks":              "the driver has its own hooks",
}

var (
	producerTable = native.Table{
		Client: "franz-go", Passed: producerNatives.names(),
		Keys: map[string]string{
			"RequiredAcks": "load.acks", "ProducerBatchMaxBytes": "load.batch", "ProducerLinger": "load.linger",
			"MaxProduceRequestsInflightPerBroker": "load.in_flight", "DisableIdempotentWrite": "load.idempotent",
			"ProducerBatchCompression": "load.compression", "RecordDeliveryTimeout": "load.delivery_timeout",
			"ProduceRequestTimeout": "load.delivery_timeout", "RequestTimeoutOverhead": "load.delivery_timeout",
			"AllowIdempotentProduceCancellation": "load.delivery_timeout",
			"MaxBufferedRecords":                 "load.max_buffered", "MaxBufferedBytes": "load.max_buffered",
		},
		Ours: merged(clientOurs, map[string]string{
			"ManualFlushing":        "a run sends each record when it is due",
			"RackAwarePartitioning": "the run chooses each record's partition",
			"RecordPartitioner":     "the run chooses each record's partition",
			"TransactionalID":       "a run has no transactions",
		}),
	}
	consumerTable = native.Table{
		Client: "franz-go", Passed: consumerNatives.names(),
		Keys: map[string]string{
			"FetchMinBytes": "consume.fetch.min_bytes", "FetchMaxBytes": "consume.fetch.max_bytes",
			"FetchMaxPartitionBytes": "consume.fetch.max_partition_bytes", "FetchMaxWait": "consume.fetch.max_wait",
			"ServerSideBalancer": "consume.protocol", "Balancers": "consume.assignor",
			"SessionTimeout": "consume.session_timeout", "HeartbeatInterval": "consume.session_timeout",
			"ConsumeStartOffset": "consume.from",
		},
		Ours: merged(clientOurs, map[string]string{
			"BlockRebalanceOnPoll":     "no record may be in transit when its partition is revoked",
			"ConsumeResetOffset":       "a run begins at the first record",
			"ConsumerGroup":            "a run has a group of its own",
			"DisableAutoCommit":        "what is committed is what was processed, by consume.commit",
			"FetchIsolationLevel":      "a run counts every record in the log",
			"InstanceID":               "every member would have the same ID",
			"KeepControlRecords":       "a run knows where a partition ends",
			"KeepRetryableFetchErrors": "a run records them as events",
		}),
	}
)

func (f *franz) Tables() (producer, consumer native.Table) { return producerTable, consumerTable }

func (f *franz) TryProducer(cfg driver.ProducerConfig) error {
	if err := driver.CheckProducer(f, cfg); err != nil {
		return err
	}
	all, err := producerOptions(cfg)
	if err != nil {
		return err
	}
	if err := kgo.ValidateOpts(all...); err != nil {
		return fmt.Errorf("%w: producer: %w", driver.ErrConfig, err)
	}
	return nil
}

func (f *franz) TryConsumer(cfg driver.ConsumerConfig) error {
	if err := driver.CheckConsumer(f, cfg); err != nil {
		return err
	}
	all, err := consumerOptions(cfg)
	if err != nil {
		return err
	}
	if err := kgo.ValidateOpts(all...); err != nil {
		return fmt.Errorf("%w: consumer: %w", driver.ErrConfig, err)
	}
	return nil
}

func (o options) given(settings map[string]string) (all []kgo.Opt, err error) {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		option, invalid := call(reflect.ValueOf(o[name]), settings[name])
		if invalid != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s: %w", driver.ErrConfig, name, invalid))
		} else if option != nil {
			all = append(all, option)
		}
	}
	return all, err
}

// call returns nil for an option without parameter whose value is false.
func call(option reflect.Value, text string) (kgo.Opt, error) {
	var arguments []reflect.Value
	on := reflect.ValueOf(new(true)).Elem()
	if option.Type().NumIn() == 1 {
		value := reflect.New(option.Type().In(0)).Elem()
		if err := native.Set(value, text); err != nil {
			return nil, err
		}
		arguments = append(arguments, value)
	} else if err := native.Set(on, text); err != nil {
		return nil, err
	}
	if !on.Bool() {
		return nil, nil //nolint:nilnil // left out
	}
	return option.Call(arguments)[0].Interface().(kgo.Opt), nil
}

func (o options) names() []string { return slices.Sorted(maps.Keys(o)) }

func merged[M ~map[string]V, V any](a, b M) M {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
