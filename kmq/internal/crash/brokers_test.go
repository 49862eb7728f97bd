package crash

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/project/virtual"
)

func fake(t testing.TB, brokers int) *virtual.Cluster {
	t.Helper()
	return virtual.Start(t, virtual.Options{Brokers: brokers, ProduceDelay: time.Millisecond, Config: map[string]string{
		"group.min.session.timeout.ms":              "100",
		"group.consumer.session.timeout.ms":         "1000",
		"group.share.session.timeout.ms":            "2500", // one heartbeat a second
		"group.share.heartbeat.interval.ms":         "100",
		"group.share.record.lock.duration.ms":       "1500",
		"group.share.delivery.count.limit":          "10",
		"share.record.lock.sweep.interval.ms":       "100",
		"group.consumer.heartbeat.interval.ms":      "100",
		"max.incremental.fetch.session.cache.slots": "1000",
	}})
}
