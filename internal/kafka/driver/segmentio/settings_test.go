package segmentio

import (
	"errors"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
)

// If this fails after an update of the library, the library's defaults have changed.
func TestDefaultsAreShown(t *testing.T) {
	p := drivertest.Producer(t, New(), driver.ProducerConfig{Acks: driver.AcksAll})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"Writer.BatchBytes":      "1048576",
		"Writer.BatchSize":       "100",
		"Writer.BatchTimeout":    "1ns",
		"Writer.Compression":     "none",
		"Writer.MaxAttempts":     "10",
		"Writer.RequiredAcks":    "all",
		"Writer.WriteBackoffMin": "100ms",
		"Writer.WriteBackoffMax": "1s",
		"Writer.WriteTimeout":    "10s",
		"Transport.SASL":         "unset",
		"driver.max.buffered":    "unset",
	})
	c := drivertest.Consumer(t, New(), driver.ConsumerConfig{Group: "g", Protocol: driver.ProtocolClassic})
	drivertest.WantSettings(t, c.Settings(), map[string]string{
		"ConsumerGroupConfig.GroupBalancers":    "range,roundrobin",
		"ConsumerGroupConfig.HeartbeatInterval": "3s",
		"ConsumerGroupConfig.SessionTimeout":    "30s",
		"FetchRequest.MaxWait":                  "9s",
		"ReaderConfig.MaxBytes":                 "1000000",
		"ReaderConfig.MaxWait":                  "10s",
		"ReaderConfig.MinBytes":                 "1",
		"ReaderConfig.QueueCapacity":            "100",
		"security.protocol":                     "PLAINTEXT",
	})
}

func TestSettingsFollowTheConfiguration(t *testing.T) {
	p := drivertest.Producer(t, New(), driver.ProducerConfig{
		Brokers: []string{"b1:1", "b2:2"}, Acks: driver.AcksLeader, Compression: "zstd",
		Linger: 5 * time.Millisecond, BatchBytes: 64 << 10, MaxBuffered: 70, DeliveryTimeout: 30 * time.Second,
	})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"Writer.Addr":             "b1:1,b2:2",
		"Writer.BatchBytes":       "65536",
		"Writer.BatchSize":        "1000",
		"Writer.BatchTimeout":     "5ms",
		"Writer.Compression":      "zstd",
		"Writer.MaxAttempts":      "41",
		"Writer.RequiredAcks":     "one",
		"driver.delivery.timeout": "30s",
		"driver.max.buffered":     "70",
	})
	c := drivertest.Consumer(t, New(), driver.ConsumerConfig{
		Brokers: []string{"b1:1"}, Partitions: map[int32]int64{},
		FetchMaxWait: 500 * time.Millisecond, FetchMaxBytes: 5000, FetchMaxPartitionBytes: 4000,
		SessionTimeout: 6 * time.Second,
	})
	drivertest.WantSettings(t, c.Settings(), map[string]string{
		"FetchRequest.MaxWait":  "500ms",
		"ReaderConfig.MaxBytes": "4000",
		"ReaderConfig.MaxWait":  "1.5s",
	})
}

func TestCredentialsAreNotSettings(t *testing.T) {
	for _, mechanism := range []string{access.MechanismPlain, access.MechanismScram256, access.MechanismScram512} {
		p := drivertest.Producer(t, New(), driver.ProducerConfig{
			Access: access.Access{SASL: &access.SASL{Mechanism: mechanism, Username: "user", Password: "secret"}},
		})
		drivertest.WantSettings(t, p.Settings(), map[string]string{"Transport.SASL": mechanism, "security.protocol": access.ProtocolSASLPlaintext})
	}
}

func TestReaderSettingsRefused(t *testing.T) {
	for setting, value := range map[string]string{"ReaderConfig.ReadBackoffMin": "2s", "ReaderConfig.QueueCapacity": "-1"} {
		_, err := New().NewConsumer(driver.ConsumerConfig{
			Brokers: []string{"localhost:1"}, Topic: "t", Group: "g", Client: map[string]string{setting: value},
		})
		if !errors.Is(err, driver.ErrConfig) {
			t.Errorf("%s of %s: error %v, want one of the configuration", setting, value, err)
		}
	}
}
