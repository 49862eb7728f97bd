package drivertest

import (
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Topic is the topic of the tests that bring a fake cluster of their own.
const Topic = "t"

// nobody is an address at which nobody listens.
const nobody = "127.0.0.1:1"

// Fake starts a fake cluster that ends with the test.
func Fake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// FakeTopic starts a fake cluster of one broker, with Topic of so many partitions.
func FakeTopic(t testing.TB, partitions int32) *kfake.Cluster {
	t.Helper()
	return Fake(t, kfake.NumBrokers(1), kfake.SeedTopics(partitions, Topic))
}

// RunFake runs the suite on a fake cluster of three brokers, whose groups put out a
// member that was silent for session.
func RunFake(t *testing.T, d driver.Driver, session time.Duration) {
	cluster := Fake(t, kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(session), kfake.BrokerConfigs(map[string]string{
		"group.consumer.heartbeat.interval.ms": "200",
		"group.consumer.session.timeout.ms":    strconv.FormatInt(session.Milliseconds(), 10),
	}))
	env := NewEnv(t, cluster.ListenAddrs())
	env.SessionTimeouts = map[string]time.Duration{driver.ProtocolClassic: session, driver.ProtocolConsumer: session}
	Run(t, d, env)
}

// RunKafka runs the suite on Apache Kafka itself.
func RunKafka(t *testing.T, d driver.Driver) {
	cluster := clustertest.Kafka(t, 1)
	Run(t, d, NewEnv(t, cluster.Bootstrap()))
}

// CheckName: the driver's name is what selects it, and the library's version is in the
// result of every run.
func CheckName(t *testing.T, d driver.Driver, name string) {
	t.Helper()
	if d.Name() != name || d.Version() == "" {
		t.Errorf("name %q, version %q", d.Name(), d.Version())
	}
	t.Log(d.Version())
}

// Producer opens a producer that the test's end closes. Brokers, topic and OnDone that
// cfg leaves out are filled in, so that it opens: there is nobody at that broker.
func Producer(t testing.TB, d driver.Driver, cfg driver.ProducerConfig) driver.Producer {
	t.Helper()
	if cfg.Brokers == nil {
		cfg.Brokers = []string{nobody}
	}
	if cfg.Topic == "" {
		cfg.Topic = Topic
	}
	if cfg.OnDone == nil {
		cfg.OnDone = func(driver.Done) {}
	}
	p, err := d.NewProducer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// Consumer opens a consumer that the test's end closes. Brokers and topic that cfg
// leaves out are filled in, and where it has no partitions, the group and its protocol,
// so that it opens: there is nobody at that broker.
func Consumer(t testing.TB, d driver.Driver, cfg driver.ConsumerConfig) driver.Consumer {
	t.Helper()
	if cfg.Brokers == nil {
		cfg.Brokers = []string{nobody}
	}
	if cfg.Topic == "" {
		cfg.Topic = Topic
	}
	if cfg.Group == "" && cfg.Partitions == nil {
		cfg.Group = "g"
	}
	if cfg.Group != "" && cfg.Protocol == "" {
		cfg.Protocol = driver.ProtocolClassic
	}
	c, err := d.NewConsumer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// WantSettings checks that settings have these values, by their names; an empty value
// is a setting that must not be there.
func WantSettings(t *testing.T, settings []driver.Setting, want map[string]string) {
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
