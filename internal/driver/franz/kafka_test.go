package franz_test

import (
	"testing"

	"kafka-bench/internal/cluster/clustertest"
	"kafka-bench/internal/driver/drivertest"
	"kafka-bench/internal/driver/franz"
)

// TestConformanceKafka runs the suite on Apache Kafka itself.
func TestConformanceKafka(t *testing.T) {
	cluster := clustertest.Kafka(t, 1)
	drivertest.Run(t, franz.New(), env(t, cluster.Bootstrap()))
}
