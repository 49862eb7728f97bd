//go:build librdkafka && cgo

package librdkafka_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafka-bench/internal/cluster/clustertest"
	"kafka-bench/internal/driver/drivertest"
	"kafka-bench/internal/driver/librdkafka"
)

// TestConformanceFake runs the suite on a fake cluster of three brokers.
func TestConformanceFake(t *testing.T) {
	const session = 3 * time.Second
	cluster := fake(t, kfake.NumBrokers(3), kfake.GroupMinSessionTimeout(session), kfake.BrokerConfigs(map[string]string{
		"group.consumer.heartbeat.interval.ms": "200",
		"group.consumer.session.timeout.ms":    strconv.FormatInt(session.Milliseconds(), 10),
	}))
	env := drivertest.NewEnv(t, cluster.ListenAddrs())
	env.SessionTimeouts = map[string]time.Duration{"classic": session, "consumer": session}
	drivertest.Run(t, librdkafka.New(), env)
}

// TestConformanceKafka runs the suite on Apache Kafka itself.
func TestConformanceKafka(t *testing.T) {
	cluster := clustertest.Kafka(t, 1)
	drivertest.Run(t, librdkafka.New(), drivertest.NewEnv(t, cluster.Bootstrap()))
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
