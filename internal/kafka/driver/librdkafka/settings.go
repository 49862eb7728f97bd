//go:build librdkafka && cgo

package librdkafka

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// defaultsOf is the version of librdkafka whose defaults are below, from rd_kafka_conf_dump: the client does not
// report its settings in Go.
const defaultsOf = "2.11.1"

// The tables omit settings that only pass code to the client, and those of Kerberos, OAuth, transactions and
// librdkafka's own tests.
var (
	clientDefaults = properties{
		"broker.address.family":                 "any",
		"broker.address.ttl":                    "1000",
		"client.dns.lookup":                     "use_all_dns_ips",
		"client.id":                             "rdkafka",
		"connections.max.idle.ms":               "0",
		"enable.metrics.push":                   "true",
		"message.copy.max.bytes":                "65535",
		"message.max.bytes":                     "1000000",
		"metadata.max.age.ms":                   "900000",
		"metadata.recovery.strategy":            "rebootstrap",
		"receive.message.max.bytes":             "100000000",
		"reconnect.backoff.max.ms":              "10000",
		"reconnect.backoff.ms":                  "100",
		"retry.backoff.max.ms":                  "1000",
		"retry.backoff.ms":                      "100",
		"sasl.mechanisms":                       "unset",
		"security.protocol":                     "PLAINTEXT",
		"socket.connection.setup.timeout.ms":    "30000",
		"socket.keepalive.enable":               "false",
		"socket.max.fails":                      "1",
		"socket.nagle.disable":                  "true",
		"socket.receive.buffer.bytes":           "0",
		"socket.send.buffer.bytes":              "0",
		"socket.timeout.ms":                     "60000",
		"ssl.endpoint.identification.algorithm": "https",
		"statistics.interval.ms":                "0",
		"topic.metadata.propagation.max.ms":     "30000",
		"topic.metadata.refresh.interval.ms":    "300000",
	}
	producerDefaults = properties{
		"acks":                                   "all",
		"batch.num.messages":                     "10000",
		"batch.size":                             "1000000",
		"compression.level":                      "-1",
		"compression.type":                       "none",
		"delivery.timeout.ms":                    "300000",
		"enable.gapless.guarantee":               "false",
		"enable.idempotence":                     "false",
		"linger.ms":                              "5",
		"max.in.flight.requests.per.connection":  "1000000",
		"queue.buffering.backpressure.threshold": "1",
		"queue.buffering.max.kbytes":             "1048576",
		"queue.buffering.max.messages":           "100000",
		"queuing.strategy":                       "fifo",
		"request.timeout.ms":                     "30000",
		"retries":                                "2147483647",
	}
	consumerDefaults = properties{
		"auto.offset.reset":             "largest",
		"check.crcs":                    "false",
		"client.rack":                   "unset",
		"enable.auto.commit":            "true",
		"enable.auto.offset.store":      "true",
		"enable.partition.eof":          "false",
		"fetch.error.backoff.ms":        "500",
		"fetch.max.bytes":               "52428800",
		"fetch.min.bytes":               "1",
		"fetch.queue.backoff.ms":        "1000",
		"fetch.wait.max.ms":             "500",
		"group.protocol":                "classic",
		"heartbeat.interval.ms":         "3000",
		"isolation.level":               "read_committed",
		"max.partition.fetch.bytes":     "1048576",
		"max.poll.interval.ms":          "300000",
		"partition.assignment.strategy": "range,roundrobin",
		"queued.max.messages.kbytes":    "65536",
		"queued.min.messages":           "100000",
		"session.timeout.ms":            "45000",
	}
)

func settings(set properties, defaults ...properties) []driver.Setting {
	values := make(properties)
	for _, layer := range append(defaults, set) {
		for name, value := range layer {
			values[name] = value
		}
	}
	var all []driver.Setting
	for name, value := range values {
		if !secret(name) && name != "log_level" {
			all = append(all, driver.Setting{Name: name, Value: word(name, value)})
		}
	}
	slices.SortFunc(all, func(a, b driver.Setting) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// In KIP-848 the group's broker sets some of the values.
func consumerSettings(set properties) []driver.Setting {
	all := settings(set, clientDefaults, consumerDefaults)
	if set["group.protocol"] != driver.ProtocolConsumer {
		return all
	}
	for i := range all {
		switch all[i].Name {
		case "heartbeat.interval.ms", "partition.assignment.strategy", "session.timeout.ms":
			all[i].Value = "set by the broker"
		}
	}
	return all
}

func word(name, value string) string {
	if !strings.HasSuffix(name, ".ms") {
		return value
	}
	ms, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return value
	}
	return time.Duration(ms * float64(time.Millisecond)).String()
}

func defaultInt(name string) int64 {
	n, _ := strconv.ParseInt(clientDefaults[name], 10, 64) // the table has a number
	return n
}
