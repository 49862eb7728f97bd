// Package clustertest gives tests a real Kafka: one broker that all packages of a test run share, or a cluster of a
// test's own.
package clustertest

import (
	"context"
	"maps"
	"os"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/project/needs"
)

// Variable is the environment variable that names the test run's cluster, made by `kafka-bench cluster up --name`.
const Variable = "KAFKA_BENCH_TEST_CLUSTER"

const (
	startTimeout = 3 * time.Minute
	stopTimeout  = time.Minute
	topicTimeout = time.Minute
)

// Settings returns the properties of the shared broker, whose sessions and share-group locks expire soon.
func Settings() map[string]string {
	return map[string]string{
		"group.min.session.timeout.ms":                 "1000",
		"group.initial.rebalance.delay.ms":             "0",
		"group.share.record.lock.duration.ms":          "4000",
		"group.share.min.record.lock.duration.ms":      "1000",
		"group.share.delivery.count.limit":             "10",
		"group.share.session.timeout.ms":               "3000",
		"group.share.min.session.timeout.ms":           "1000",
		"group.share.heartbeat.interval.ms":            "500",
		"group.share.min.heartbeat.interval.ms":        "100",
		"offsets.topic.num.partitions":                 "5",
		"share.coordinator.state.topic.num.partitions": "5",
	}
}

var shared = sync.OnceValues(func() (cluster.Cluster, error) {
	home, err := cluster.UserHome()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	if name := os.Getenv(Variable); name != "" {
		return home.Find(ctx, name)
	}
	return home.StartKafka(ctx, cluster.KafkaOptions{Config: Settings()})
})

// Shared returns the broker that all packages of a test run share: the cluster that Variable names, or else one
// that ends with this test binary. A test uses its own topics and groups there. If it stops, pauses or reconfigures
// a broker, it must use Own.
func Shared(t testing.TB) cluster.Cluster {
	t.Helper()
	needs.Kafka.Require(t)
	c, err := shared()
	if err != nil {
		t.Fatalf("the shared Kafka: %v", err)
	}
	return c
}

// Own starts an Apache Kafka of n brokers with Settings, which config overrides, and stops it when
// the test ends.
func Own(t testing.TB, n int, config map[string]string) *cluster.Kafka {
	t.Helper()
	needs.Kafka.Require(t)
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	settings := Settings()
	maps.Copy(settings, config)
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{Brokers: n, Config: settings, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatalf("start Kafka: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		if err := k.Stop(ctx); err != nil {
			t.Errorf("stop Kafka: %v", err)
		}
	})
	return k
}

// Topic makes a topic and returns when every broker knows it.
func Topic(t testing.TB, c cluster.Cluster, name string, partitions, replication int, config map[string]string) {
	t.Helper()
	admin, err := cluster.NewAdmin(c.Bootstrap(), cluster.AccessTo(c))
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	ctx, cancel := context.WithTimeout(context.Background(), topicTimeout)
	defer cancel()
	if _, err := admin.CreateTopic(ctx, name, partitions, replication, config); err != nil {
		t.Fatal(err)
	}
}
