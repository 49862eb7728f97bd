//go:build librdkafka && cgo && full

package librdkafka

import (
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/access/accesstest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
)

// Compare another version's defaults with rd_kafka_conf_dump before you change the constant.
func TestDefaultsAreOfThisVersion(t *testing.T) {
	if _, version := kafka.LibraryVersion(); version != defaultsOf {
		t.Errorf("librdkafka is %s, and its defaults are those of %s", version, defaultsOf)
	}
}

func TestDefaultsAreTaken(t *testing.T) {
	own := make(properties)
	for _, defaults := range []properties{clientDefaults, producerDefaults, consumerDefaults} {
		maps.Copy(own, defaults)
	}
	maps.DeleteFunc(own, func(_, value string) bool { return value == "unset" })
	own["log_level"], own["group.id"] = "0", "g"
	p, err := kafka.NewProducer(own.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	c, err := kafka.NewConsumer(own.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
}

func TestSettingsFollowTheConfiguration(t *testing.T) {
	p := drivertest.Producer(t, New(), driver.ProducerConfig{
		Brokers: []string{"localhost:1", "localhost:2"}, Acks: driver.AcksAll, Idempotent: true,
		Compression: "zstd", Level: 19, MaxBuffered: 77, Linger: 1500 * time.Microsecond, BatchBytes: 2_000_000,
		DeliveryTimeout: 4 * time.Second,
	})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"acks":                                  "all",
		"batch.num.messages":                    "10000",
		"batch.size":                            "2000000",
		"bootstrap.servers":                     "localhost:1,localhost:2",
		"client.id":                             "rdkafka",
		"compression.level":                     "12",
		"compression.type":                      "zstd",
		"delivery.timeout.ms":                   "4s",
		"enable.idempotence":                    "true",
		"enable.metrics.push":                   "false",
		"linger.ms":                             "1.5ms",
		"max.in.flight.requests.per.connection": "5",
		"message.max.bytes":                     "2000000",
		"queue.buffering.max.messages":          "154",
		"request.timeout.ms":                    "30s",
		"security.protocol":                     "PLAINTEXT",
	})
	c := drivertest.Consumer(t, New(), driver.ConsumerConfig{Group: "g", SessionTimeout: 6 * time.Second, FetchMaxBytes: 5000})
	drivertest.WantSettings(t, c.Settings(), map[string]string{
		"auto.offset.reset":             "earliest",
		"fetch.max.bytes":               "1000000", // never below message.max.bytes
		"fetch.queue.backoff.ms":        "1s",
		"group.id":                      "g",
		"heartbeat.interval.ms":         "2s",
		"isolation.level":               "read_uncommitted",
		"max.partition.fetch.bytes":     "1048576",
		"partition.assignment.strategy": "cooperative-sticky",
		"session.timeout.ms":            "6s",
	})
}

func TestSettingsOfTheProtocolConsumer(t *testing.T) {
	c := drivertest.Consumer(t, New(), driver.ConsumerConfig{Group: "g", Protocol: "consumer"})
	drivertest.WantSettings(t, c.Settings(), map[string]string{"group.protocol": "consumer", "session.timeout.ms": "set by the broker"})
}

func TestCredentialsAreNotSettings(t *testing.T) {
	p := drivertest.Producer(t, New(), driver.ProducerConfig{
		Access: access.Access{SASL: &access.SASL{Mechanism: access.MechanismScram512, Username: "a-user", Password: "a-secret"}},
	})
	drivertest.WantSettings(t, p.Settings(), map[string]string{"sasl.mechanisms": "SCRAM-SHA-512", "security.protocol": "SASL_PLAINTEXT"})
	for _, s := range p.Settings() {
		if strings.Contains(s.Value, "a-user") || strings.Contains(s.Value, "a-secret") {
			t.Errorf("%s holds a credential", s.Name)
		}
	}
}

func TestAdmit(t *testing.T) {
	authority := accesstest.NewAuthority(t)
	lines := []string{"security.protocol=SASL_SSL", "ssl.endpoint.identification.algorithm="}
	lines = append(lines, authority.Trust(t)...)
	lines = append(lines, authority.Identity(t, "client")...)
	lines = append(lines, accesstest.Login(access.MechanismPlain, "user", "password")...)
	p := make(properties)
	if err := p.admit(accesstest.Access(t, lines...)); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"security.protocol": "SASL_SSL", "sasl.mechanisms": "PLAIN", "sasl.username": "user", "sasl.password": "password",
		"ssl.ca.pem": authority.PEM, "ssl.endpoint.identification.algorithm": "none",
	} {
		if p[name] != want {
			t.Errorf("%s is %q, want %q", name, p[name], want)
		}
	}
	client, err := kafka.NewProducer(p.config(nil))
	if err != nil {
		t.Fatal(err)
	}
	client.Close()
}
