package conformance

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq"
)

func TestFake(t *testing.T) {
	on := func(t *testing.T, law func(*testing.T, cluster.Cluster)) {
		virtual.Test(t, virtual.Options{Config: clustertest.Settings()},
			func(t *testing.T, c *virtual.Cluster) { law(t, c) })
	}
	onAll(t, Subject{On: on, Tries: inBubble})
}

func onAll(t *testing.T, s Subject) {
	for _, e := range []kmq.Engine{kmq.OffsetMap{}, kmq.Markers{}, kmq.Plain{}, kmq.Share{}} {
		t.Run(e.String(), func(t *testing.T) {
			s := s
			s.Engine = e
			Run(t, s)
		})
	}
}
