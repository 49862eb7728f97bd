//go:build librdkafka && cgo

package librdkafka

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/native"
)

const noLog = "the client's log is off: writing it would be measured too"

// clientOurs are properties that only the driver may set, each with the reason.
var clientOurs = map[string]string{
	"allow.auto.create.topics":  "a run makes its topic itself",
	"client.id":                 "it names each client after the run",
	"default.topic.config":      "the Go API has no text form of it; give the properties themselves",
	"enable.metrics.push":       "client metrics are unwanted load",
	"go.batch.producer":         "it keeps neither the records' times nor their partitions",
	"go.delivery.report.fields": "a run counts every completed record", "go.delivery.reports": "a run counts every completed record",
	"go.events.channel.enable": "the driver polls", "go.events.channel.size": "the driver reads the channel",
	"go.produce.channel.size": "the driver does not use the channel",
	"go.logs.channel":         "the driver does not read the channel", "go.logs.channel.enable": "the driver does not read the channel",
	"go.application.rebalance.enable": "the driver assigns and unassigns partitions",
	"plugin.library.paths":            "it would load other code",
	"test.mock.num.brokers":           "it would replace your brokers with mock brokers",
	"test.mock.broker.rtt":            "it is for mock brokers",
	"internal.termination.signal":     "it would end the run",
	"topic.blacklist":                 "it would hide the run's topic from the client",
	"api.version.request":             "the client must ask for the brokers' API versions",
	"api.version.fallback.ms":         "the client must ask for the brokers' API versions",
	"broker.version.fallback":         "the client must ask for the brokers' API versions",
	"debug":                           noLog, "log_level": noLog, "log.queue": noLog, "log.thread.name": noLog,
	"log.connection.close": noLog,
}

// The client checks the properties that are in neither table.
var (
	producerTable, consumerTable = sides(table(native.Table{
		Keys: map[string]string{
			"request.required.acks": "load.acks", "queue.buffering.max.ms": "load.linger",
			"message.max.bytes": "load.batch", "compression.codec": "load.compression",
			"max.in.flight": "load.in_flight", "message.timeout.ms": "load.delivery_timeout",
			"queue.buffering.max.messages": "load.max_buffered", "queue.buffering.max.kbytes": "load.max_buffered",
		},
		Ours: map[string]string{
			"delivery.report.only.error": "a run counts every completed record",
			"partitioner":                "the run chooses each record's partition",
			"produce.offset.report":      "a run counts every completed record",
			"transaction.timeout.ms":     "a run has no transactions",
			"transactional.id":           "a run has no transactions",
		},
		OneRecord: "batch.num.messages",
	}, producerDefaults), table(native.Table{
		Keys: map[string]string{
			"fetch.message.max.bytes": "consume.fetch.max_partition_bytes", "fetch.wait.max.ms": "consume.fetch.max_wait",
			"auto.commit.interval.ms": "consume.commit", "auto.commit.enable": "consume.commit",
		},
		Ours: map[string]string{
			"enable.auto.commit":       "what is committed is what was processed, by consume.commit",
			"enable.auto.offset.store": "what is committed is what was processed, by consume.commit",
			"enable.partition.eof":     "a run knows where a partition ends",
			"group.id":                 "a run has a group of its own",
			"group.instance.id":        "every member would have the same ID",
			"isolation.level":          "a run counts every record in the log",
			"message.max.bytes":        "the client raises fetch.max.bytes to it, which the report could not show",
			"offset.store.method":      "a run has a group of its own",
			"offset.store.path":        "a run has a group of its own",
		},
	}, consumerDefaults))
)

// sides makes each table also refuse what the other table refuses: the client knows these
// properties on both sides, and would show their values.
func sides(producer, consumer native.Table) (p, c native.Table) {
	return refusing(producer, consumer), refusing(consumer, producer)
}

func refusing(t, other native.Table) native.Table {
	add := func(to, from map[string]string) map[string]string {
		all := maps.Clone(to)
		for name, why := range from {
			if len(t.Check(map[string]string{name: ""})) == 0 && !slices.Contains(t.Passed, name) {
				all[name] = why
			}
		}
		return all
	}
	t.Keys, t.Ours = add(t.Keys, other.Keys), add(t.Ours, other.Ours)
	return t
}

func table(t native.Table, defaults properties) native.Table {
	t.Client, t.Judges = "librdkafka", true
	maps.Copy(t.Ours, clientOurs)
	for _, known := range []properties{clientDefaults, defaults} {
		for name := range known {
			if len(t.Check(map[string]string{name: ""})) == 0 {
				t.Passed = append(t.Passed, name)
			}
		}
	}
	slices.Sort(t.Passed)
	return t
}

func (librdkafka) Tables() (producer, consumer native.Table) { return producerTable, consumerTable }

// The client has a second name for retries.
func (p properties) give(given map[string]string) {
	for name, value := range given {
		if name == "message.send.max.retries" {
			name = "retries"
		}
		p[name] = value
	}
}

// The client checks its properties when it is opened, here without brokers.
func (l librdkafka) TryProducer(cfg driver.ProducerConfig) error {
	if err := driver.CheckProducer(l, cfg); err != nil {
		return err
	}
	set, err := producerProperties(cfg)
	if err != nil {
		return err
	}
	delete(set, "bootstrap.servers")
	p, err := kafka.NewProducer(set.config(nil))
	if err != nil {
		return refused("producer", cfg.Client, producerTable, err)
	}
	p.Close()
	return nil
}

func (l librdkafka) TryConsumer(cfg driver.ConsumerConfig) error {
	if err := driver.CheckConsumer(l, cfg); err != nil {
		return err
	}
	set, err := consumerProperties(cfg)
	if err != nil {
		return err
	}
	delete(set, "bootstrap.servers")
	c, err := kafka.NewConsumer(set.config(nil))
	if err != nil {
		return refused("consumer", cfg.Client, consumerTable, err)
	}
	_ = c.Close()
	return nil
}

// For an unknown property, refused suggests the nearest name.
func refused(side string, given map[string]string, t native.Table, err error) error {
	var known kafka.Error
	if errors.As(err, &known) && strings.HasPrefix(known.Error(), "No such configuration property") {
		for name := range given {
			if strings.Contains(known.Error(), `"`+name+`"`) {
				err = native.Fault{Name: name, Problem: "librdkafka has no such property", Remedy: t.Remedy(name)}
			}
		}
	}
	return fmt.Errorf("%w: %s: %w", driver.ErrConfig, side, err)
}
