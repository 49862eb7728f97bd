package franz

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
)

// TestOptionsAreTheClients: the client knows every name, so that a misspelt one is not reported as unset.
func TestOptionsAreTheClients(t *testing.T) {
	client, err := kgo.NewClient()
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for _, name := range slices.Concat(clientOptions, produceOptions, consumeOptions) {
		if client.OptValues(name) == nil {
			t.Errorf("the client has no option %q", name)
		}
	}
}

// If this fails after an update of the library, the library's defaults have changed.
func TestDefaultsAreShown(t *testing.T) {
	p := drivertest.Producer(t, New(), driver.ProducerConfig{Acks: driver.AcksAll, Idempotent: true})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"ClientID":                            "kgo",
		"DisableClientMetrics":                "true",
		"DisableIdempotentWrite":              "false",
		"MaxBufferedRecords":                  "50000",
		"MaxProduceRequestsInflightPerBroker": "5",
		"MinVersions":                         "unset",
		"ProduceRequestTimeout":               "10s",
		"ProducerBatchCompression":            "snappy,none",
		"ProducerBatchMaxBytes":               "1000012",
		"ProducerLinger":                      "0s",
		"RecordDeliveryTimeout":               "0s",
		"RequiredAcks":                        "all",
		"SASL":                                "unset",
		"TransactionalID":                     "unset",
	})
	c := drivertest.Consumer(t, New(), driver.ConsumerConfig{Group: "g", Protocol: "consumer"})
	drivertest.WantSettings(t, c.Settings(), map[string]string{
		"Balancers":              "cooperative-sticky",
		"ConsumeStartOffset":     "earliest",
		"FetchMaxBytes":          "52428800",
		"FetchMaxPartitionBytes": "1048576",
		"FetchMaxWait":           "5s",
		"FetchMinBytes":          "1",
		"ServerSideBalancer":     "true",
		"SessionTimeout":         "set by the broker",
	})
}

func TestSettingsFollowTheConfiguration(t *testing.T) {
	p := drivertest.Producer(t, New(), driver.ProducerConfig{
		Brokers: []string{"b1:1", "b2:2"}, Acks: driver.AcksLeader, InFlight: 3,
		Compression: "zstd", Level: 19, MaxBuffered: 77, DeliveryTimeout: 4 * time.Second,
	})
	drivertest.WantSettings(t, p.Settings(), map[string]string{
		"MaxBufferedRecords":                  "77",
		"MaxProduceRequestsInflightPerBroker": "3",
		"ProduceRequestTimeout":               "2s",
		"ProducerBatchCompression":            "zstd level 4",
		"RecordDeliveryTimeout":               "4s",
		"RequestTimeoutOverhead":              "2s",
		"RequiredAcks":                        "1",
		"SeedBrokers":                         "b1:1,b2:2",
	})
}

func TestCredentialsAreNotSettings(t *testing.T) {
	client, err := kgo.NewClient(kgo.SASL(plain.Auth{User: "user", Pass: "secret"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	drivertest.WantSettings(t, settingsOf(client, clientOptions), map[string]string{"SASL": "PLAIN"})
}
