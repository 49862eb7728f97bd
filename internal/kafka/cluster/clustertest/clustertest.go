// Package clustertest starts real Kafka clusters for the tests of other
// packages.
package clustertest

import (
	"context"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

// Kafka starts an Apache Kafka of n brokers for the test, and stops it when the
// test ends, however it ends. It takes about three seconds for one broker and
// ten for three, on two cores.
func Kafka(t testing.TB, n int) *cluster.Kafka {
	t.Helper()
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{Brokers: n, Progress: func(s string) { t.Log(s) }})
	if err != nil {
		t.Fatalf("start Kafka: %v", err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := k.Stop(ctx); err != nil {
			t.Errorf("stop Kafka: %v", err)
		}
	})
	return k
}
