package franz_test

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/cluster/clustertest"
	"kafka-bench/internal/driver/drivertest"
	"kafka-bench/internal/driver/franz"
)

// TestConformanceFake runs the suite on a fake cluster of three brokers.
func TestConformanceFake(t *testing.T) {
	cluster := fake(t, kfake.NumBrokers(3), kfake.BrokerConfigs(map[string]string{
		"group.consumer.heartbeat.interval.ms": "200",
	}))
	drivertest.Run(t, franz.New(), drivertest.NewEnv(t, cluster.ListenAddrs()))
}

// TestConformanceKafka runs the suite on Apache Kafka itself.
func TestConformanceKafka(t *testing.T) {
	cluster := clustertest.Kafka(t, 1)
	drivertest.Run(t, franz.New(), drivertest.NewEnv(t, cluster.Bootstrap()))
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
	d := franz.New()
	if d.Name() != "franz" || d.Version() == "" {
		t.Errorf("name %q, version %q", d.Name(), d.Version())
	}
	t.Log(d.Version())
}
