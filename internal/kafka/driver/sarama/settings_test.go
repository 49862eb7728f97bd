package sarama_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/sarama"
)

// If this fails after an update of the library, the library's defaults have changed, also for docs/drivers.md.
func TestDefaultsAreShown(t *testing.T) {
	p := drivertest.Producer(t, sarama.New(), driver.ProducerConfig{Acks: driver.AcksAll})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"ApiVersionsRequest":                 "true",
		"ChannelBufferSize":                  "256",
		"ClientID":                           "sarama",
		"Metadata.Retry.Max":                 "3",
		"Net.MaxOpenRequests":                "5",
		"Net.SASL.Mechanism":                 "unset",
		"Producer.Compression":               "none",
		"Producer.CompressionLevel":          "default",
		"Producer.Flush.Frequency":           "0s",
		"Producer.Idempotent":                "false",
		"Producer.MaxMessageBytes":           "1048576",
		"Producer.RequiredAcks":              "all",
		"Producer.Retry.Backoff":             "100ms",
		"Producer.Retry.Max":                 "3",
		"Producer.Timeout":                   "10s",
		"Version":                            "2.8.0",
		"security.protocol":                  "PLAINTEXT",
		"Net.ReadTimeout":                    "30s",
		"Consumer.Group.Session.Timeout":     "",
		"Producer.Transaction.Retry.Backoff": "100ms",
	})
	c := drivertest.Consumer(t, sarama.New(), driver.ConsumerConfig{Group: "g"})
	drivertest.WantSettings(t, c.Settings(), map[string]string{
		"Consumer.Fetch.Default":                   "1048576",
		"Consumer.Fetch.MaxBytes":                  "52428800",
		"Consumer.Fetch.Min":                       "1",
		"Consumer.Group.Heartbeat.Interval":        "3s",
		"Consumer.Group.Rebalance.GroupStrategies": "range",
		"Consumer.Group.Session.Timeout":           "10s",
		"Consumer.MaxProcessingTime":               "100ms",
		"Consumer.MaxWaitTime":                     "500ms",
		"Consumer.Offsets.AutoCommit.Enable":       "false",
		"Consumer.Offsets.Initial":                 "earliest",
		"ConsumerGroup":                            "g",
	})
}

func TestSettingsFollowTheConfiguration(t *testing.T) {
	synctest.Test(t, testSettings)
}

func testSettings(t *testing.T) {
	p := drivertest.Producer(t, sarama.New(), driver.ProducerConfig{
		Acks: driver.AcksAll, Idempotent: true, InFlight: 5, Compression: "zstd", Level: 19,
		DeliveryTimeout: 6 * time.Second,
	})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"Metadata.Retry.Max":        "24",
		"Metadata.Timeout":          "4s",
		"Net.MaxOpenRequests":       "1",
		"Net.ReadTimeout":           "2s",
		"Producer.Compression":      "zstd",
		"Producer.CompressionLevel": "19",
		"Producer.Idempotent":       "true",
		"Producer.Retry.Max":        "60",
		"Producer.Timeout":          "2s",
	})
	one := drivertest.Producer(t, sarama.New(), driver.ProducerConfig{Acks: driver.AcksAll, OneRecord: true, Linger: 5 * time.Millisecond})
	drivertest.WantSettings(t, one.Settings(), map[string]string{"Producer.Flush.Frequency": "0s"})
	c := drivertest.Consumer(t, sarama.New(), driver.ConsumerConfig{SessionTimeout: 6 * time.Second})
	drivertest.WantSettings(t, c.Settings(), map[string]string{"Consumer.Group.Heartbeat.Interval": "2s"})
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]driver.ProducerConfig{
		"a level of lz4":          {Compression: "lz4", Level: 1},
		"no backoff":              {DeliveryTimeout: time.Second, Client: map[string]string{"Producer.Retry.Backoff": "0s"}},
		"a negative backoff":      {DeliveryTimeout: time.Second, Client: map[string]string{"Metadata.Retry.Backoff": "-1s"}},
		"records held back":       {Client: map[string]string{"Producer.Flush.Messages": "100"}},
		"with one record a batch": {Linger: time.Second, OneRecord: true, Client: map[string]string{"Producer.Flush.Bytes": "100"}},
		"bytes are held back":     {Client: map[string]string{"Producer.Flush.Bytes": "100"}},
	} {
		c.Brokers, c.Topic, c.OnDone = []string{"localhost:1"}, "t", func(driver.Done) {}
		if _, err := sarama.New().NewProducer(c); !errors.Is(err, driver.ErrConfig) {
			t.Errorf("%s: error %v, want one of the configuration", name, err)
		}
	}
}
