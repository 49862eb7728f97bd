package conformance

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/internal/project/virtual"
	"kafkabench.example/kafka-bench/kmq"
)

func TestFake(t *testing.T) { onFake(t, nil) }

// TestFakeServerSide runs the suite with the group protocol of KIP-848. A share group has one protocol.
func TestFakeServerSide(t *testing.T) { onFake(t, serverSide()) }

func serverSide() []kgo.Opt {
	return []kgo.Opt{kgo.ServerSideBalancer(), kgo.Balancers(kgo.StickyBalancer())}
}

func onFake(t *testing.T, client []kgo.Opt) {
	on := func(t *testing.T, law func(*testing.T, cluster.Cluster)) {
		virtual.Test(t, virtual.Options{Config: clustertest.Settings()},
			func(t *testing.T, c *virtual.Cluster) { law(t, c) })
	}
	tries := inBubble
	if client != nil {
		tries = func(e kmq.Engine, l law) bool { return inBubble(e, l) && l.by != byModel }
	}
	onAll(t, Subject{On: on, Tries: tries, Client: client})
}

func onAll(t *testing.T, s Subject) {
	for _, e := range []kmq.Engine{kmq.OffsetMap{}, kmq.Markers{}, kmq.Plain{}, kmq.Share{}} {
		if s.Client != nil && e == (kmq.Share{}) {
			continue
		}
		t.Run(e.String(), func(t *testing.T) {
			s := s
			s.Engine = e
			Run(t, s)
		})
	}
}
