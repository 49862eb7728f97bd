//go:build full

package conformance

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq"
)

func TestKafka(t *testing.T) { onKafka(t, ofKafka) }

func onKafka(t *testing.T, tries func(kmq.Engine, law) bool) {
	k := clustertest.Shared(t)
	onAll(t, Subject{Tries: tries, On: func(t *testing.T, law func(*testing.T, cluster.Cluster)) { law(t, k) }})
}
