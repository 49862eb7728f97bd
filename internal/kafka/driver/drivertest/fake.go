package drivertest

import (
	"context"
	"errors"
	"net"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Topic is the topic of tests with their own fake cluster.
const Topic = "t"

const nobody = "127.0.0.1:1"

func noRoad(context.Context, string, string) (net.Conn, error) { return nil, errors.New("no road") }

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

// Topics returns the options of a fake cluster with one broker and a Topic with these partitions.
func Topics(partitions int32) []kfake.Opt {
	return []kfake.Opt{kfake.NumBrokers(1), kfake.SeedTopics(partitions, Topic)}
}

// RunFake runs the suite on fake clusters of three brokers, one for each test, with this session timeout.
func RunFake(t *testing.T, d driver.Driver, session time.Duration, place Place) {
	run(t, d, func(t *testing.T, c test, run func(*testing.T, Env)) {
		in := place
		if c.zstd { // zstd's coders have finalizers, which run outside a bubble
			in = Loopback
		}
		in(t, func(t *testing.T, cluster Cluster) {
			if c.timed {
				takeTime(cluster)
			}
			env := NewEnv(t, cluster.ListenAddrs(), cluster.Access)
			env.SessionTimeouts = map[string]time.Duration{
				driver.ProtocolClassic: session, driver.ProtocolConsumer: session,
			}
			run(t, env)
		}, kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(session), kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": "200",
			"group.consumer.session.timeout.ms":    strconv.FormatInt(session.Milliseconds(), 10),
		}))
	})
}

// takeTime makes produce and fetch requests take a millisecond, also in virtual time.
func takeTime(c Cluster) {
	for _, key := range []kmsg.Key{kmsg.Produce, kmsg.Fetch} {
		c.ControlKey(int16(key), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			c.SleepControl(func() { time.Sleep(time.Millisecond) })
			return nil, nil, false
		})
	}
}

// RunKafka runs the suite on the Apache Kafka that all packages share.
func RunKafka(t *testing.T, d driver.Driver) {
	c := clustertest.Shared(t)
	env := NewEnv(t, c.Bootstrap(), cluster.AccessTo(c))
	run(t, d, func(t *testing.T, _ test, run func(*testing.T, Env)) { run(t, env) })
}

// CheckName checks the name that selects the driver, and that the driver reports a version.
func CheckName(t *testing.T, d driver.Driver, name string) {
	t.Helper()
	if d.Name() != name || d.Version() == "" {
		t.Errorf("name %q, version %q", d.Name(), d.Version())
	}
	t.Log(d.Version())
}

// Producer opens a producer and closes it when the test ends. Producer sets Topic, OnDone, and
// Brokers (to an address at which no broker answers) if cfg lacks them.
func Producer(t testing.TB, d driver.Driver, cfg driver.ProducerConfig) driver.Producer {
	t.Helper()
	if cfg.Brokers == nil {
		cfg.Brokers, cfg.Access.Dial = []string{nobody}, noRoad
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

// Consumer opens a consumer and closes it when the test ends. Consumer sets Topic, Brokers (to an
// address at which no broker answers) and, without Partitions, Group and Protocol if cfg lacks
// them.
func Consumer(t testing.TB, d driver.Driver, cfg driver.ConsumerConfig) driver.Consumer {
	t.Helper()
	if cfg.Brokers == nil {
		cfg.Brokers, cfg.Access.Dial = []string{nobody}, noRoad
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

// WantSettings checks the values of settings; an empty value means that the setting must be absent.
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
