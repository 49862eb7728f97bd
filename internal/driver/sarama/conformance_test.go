package sarama_test

import (
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/cluster/clustertest"
	"kafka-bench/internal/driver/drivertest"
	"kafka-bench/internal/driver/sarama"
)

// TestConformanceFake runs the suite on a fake cluster of three brokers.
func TestConformanceFake(t *testing.T) {
	const session = 3 * time.Second
	cluster := fake(t, kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(session))
	env := drivertest.NewEnv(t, cluster.ListenAddrs())
	env.SessionTimeouts = map[string]time.Duration{"classic": session}
	drivertest.Run(t, sarama.New(), env)
}

// TestConformanceKafka runs the suite on Apache Kafka itself.
func TestConformanceKafka(t *testing.T) {
	cluster := clustertest.Kafka(t, 1)
	drivertest.Run(t, sarama.New(), drivertest.NewEnv(t, cluster.Bootstrap()))
}

// fake starts a fake cluster that ends with the test.
func fake(t testing.TB, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

// TestVersion: the library's version is in the result of every run.
func TestVersion(t *testing.T) {
	d := sarama.New()
	if d.Name() != "sarama" || d.Version() == "" {
		t.Errorf("name %q, version %q", d.Name(), d.Version())
	}
	t.Log(d.Version())
}
