//go:build proof

package truth

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
)

// The test is TestSuites on three brokers of Kafka, with child processes, one of them confined.
func TestSuitesOnKafka(t *testing.T) {
	k := clustertest.Own(t, 3, nil)
	for _, suite := range []struct {
		name      string
		overrides []string
	}{
		{"throughput-producer", []string{"load.volume=5MB", "variants=[one-rf1, one-rf3-all, three-rf3-leader]"}},
		{"throughput-consumer", []string{"variants=[{name: one, topic: {fill: 5MB}, load: {producers: 0}}," +
			"{name: three, topic: {fill: 5MB}, load: {producers: 0}, consume: {consumers: 3, processes: 3}}," +
			"{name: together, load: {rate: max, volume: 5MB, producers: 1}, topic: {replication: 3}}]"}},
		{"throughput-record-size", []string{"load.volume=5MB", "phases.warmup=500ms"}},
		{"consumer-limit", []string{"topic.fill=5MB", "variants=[1-1, 4-4, 4-4-half-core]"}},
	} {
		t.Run(suite.name, func(t *testing.T) {
			wantSuite(t, k, suite.name, suite.overrides...)
			wantNoTopics(t, k)
		})
	}
}
