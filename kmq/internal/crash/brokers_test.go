package crash

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
)

// fake starts the stand-in for Kafka, in this process, so tuned that a member that was
// killed is put out within a second and a record lock does not last.
func fake(t testing.TB, brokers int, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	all := append([]kfake.Opt{kfake.NumBrokers(brokers), kfake.BrokerConfigs(map[string]string{
		"group.min.session.timeout.ms":              "100",
		"group.consumer.session.timeout.ms":         "1000",
		"group.share.session.timeout.ms":            "2500", // a client's heart beats once a second
		"group.share.heartbeat.interval.ms":         "100",
		"group.share.record.lock.duration.ms":       "1500",
		"group.share.delivery.count.limit":          "10",
		"share.record.lock.sweep.interval.ms":       "100",
		"group.consumer.heartbeat.interval.ms":      "100",
		"max.incremental.fetch.session.cache.slots": "1000",
	})}, opts...)
	c, err := kfake.NewCluster(all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// kafka starts a real Kafka of so many brokers, tuned likewise.
func kafka(t testing.TB, brokers int) *cluster.Kafka {
	t.Helper()
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{
		Brokers: brokers, HeapBytes: 384 << 20, NoMetrics: true, Progress: func(s string) { t.Log(s) },
		Config: map[string]string{
			"group.min.session.timeout.ms":            "500",
			"group.share.min.session.timeout.ms":      "1000",
			"group.share.session.timeout.ms":          "1500",
			"group.share.min.heartbeat.interval.ms":   "200",
			"group.share.heartbeat.interval.ms":       "200",
			"group.share.min.record.lock.duration.ms": "1000",
			"group.share.record.lock.duration.ms":     "1500",
			"group.share.delivery.count.limit":        "10",
			"broker.session.timeout.ms":               "3000", // so that the rest takes over soon
			"broker.heartbeat.interval.ms":            "500",
			"replica.lag.time.max.ms":                 "3000",
		},
	})
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
