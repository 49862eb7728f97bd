//go:build full

package conformance

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq"
)

func TestKafka(t *testing.T) { onKafka(t, nil, ofKafka) }

func onKafka(t *testing.T, client []kgo.Opt, tries func(kmq.Engine, law) bool) {
	k := clustertest.Shared(t)
	onAll(t, Subject{Tries: tries, Client: client, On: func(t *testing.T, law func(*testing.T, cluster.Cluster)) { law(t, k) }})
}
