package franz

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"kafka-bench/internal/driver"
)

// TestOptionsAreTheClients: the client knows every name, so that none is
// reported as unset for being misspelt.
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

// TestDefaultsAreShown: what was not configured is reported as the client has
// it. A failure here after an update of the library is news for its users.
func TestDefaultsAreShown(t *testing.T) {
	p, err := New().NewProducer(driver.ProducerConfig{
		Brokers: []string{"localhost:1"}, Topic: "t", Acks: driver.AcksAll, Idempotent: true,
		OnDone: func(driver.Done) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	check(t, p.Settings(), map[string]string{
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
	c, err := New().NewConsumer(driver.ConsumerConfig{
		Brokers: []string{"localhost:1"}, Topic: "t", Group: "g", Protocol: "consumer",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	check(t, c.Settings(), map[string]string{
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
	p, err := New().NewProducer(driver.ProducerConfig{
		Brokers: []string{"b1:1", "b2:2"}, Topic: "t", Acks: driver.AcksLeader, InFlight: 3,
		Compression: "zstd", Level: 19, MaxBuffered: 77, DeliveryTimeout: 4 * time.Second,
		OnDone: func(driver.Done) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	check(t, p.Settings(), map[string]string{
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

func check(t *testing.T, settings []driver.Setting, want map[string]string) {
	t.Helper()
	got := make(map[string]string)
	for _, s := range settings {
		got[s.Name] = s.Value
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
}

// TestCredentialsAreNotSettings: settings go into a result, which is shared.
func TestCredentialsAreNotSettings(t *testing.T) {
	client, err := kgo.NewClient(kgo.SASL(plain.Auth{User: "user", Pass: "secret"}.AsMechanism()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	check(t, settingsOf(client, clientOptions), map[string]string{"SASL": "PLAIN"})
}
