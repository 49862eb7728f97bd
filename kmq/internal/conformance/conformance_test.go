package conformance

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/cluster"
	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/markers"
)

// TestMain has the starts of markers wait from the first record on: no test is long enough to see
// that of a partition that is not young any more.
func TestMain(m *testing.M) {
	markers.CarefulFor = 0
	os.Exit(m.Run())
}

// TestFake runs the suite against a broker in this process.
func TestFake(t *testing.T) {
	for _, e := range kmq.Engines {
		t.Run(string(e), func(t *testing.T) {
			Run(t, Subject{Engine: e, Brokers: fake(t).ListenAddrs()})
		})
	}
	t.Run("markers, starts first", func(t *testing.T) {
		Run(t, Subject{Engine: kmq.Markers, Brokers: fake(t).ListenAddrs(), StartFirst: true})
	})
}

// TestKafka runs it against Apache Kafka.
func TestKafka(t *testing.T) {
	k := kafka(t)
	for _, e := range kmq.Engines {
		t.Run(string(e), func(t *testing.T) {
			Run(t, Subject{Engine: e, Brokers: k.Bootstrap()})
		})
	}
}

func fake(t *testing.T) *kfake.Cluster {
	c, err := kfake.NewCluster(
		kfake.NumBrokers(1), kfake.BrokerConfigs(Settings), kfake.GroupMinSessionTimeout(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func kafka(t *testing.T) *cluster.Kafka {
	home, err := cluster.UserHome()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	k, err := home.StartKafka(ctx, cluster.KafkaOptions{Config: Settings})
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
