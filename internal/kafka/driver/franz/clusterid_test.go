package franz_test

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/kafka/driver/drivertest"
	"kafkabench.example/kafka-bench/internal/kafka/driver/franz"
)

// TestClusterID: a client that sees another cluster than the expected one does not open.
func TestClusterID(t *testing.T) {
	for id, want := range map[string]string{"one": "", "": "", "two": "the brokers are of the cluster one, not two"} {
		t.Run(id, func(t *testing.T) {
			drivertest.Virtual(t, func(t *testing.T, cluster drivertest.Cluster) {
				p, err := franz.New().NewProducer(driver.ProducerConfig{
					Brokers: cluster.ListenAddrs(), ClusterID: id, Access: cluster.Access, Topic: topic, Acks: driver.AcksLeader,
					OnDone: func(driver.Done) {},
				})
				if err == nil {
					p.Close()
				}
				wantIDError(t, err, want)
				c, err := franz.New().NewConsumer(driver.ConsumerConfig{
					Brokers: cluster.ListenAddrs(), ClusterID: id, Access: cluster.Access, Topic: topic,
					Partitions: map[int32]int64{0: 0},
					OnAssigned: func([]int32) {}, OnRevoked: func([]int32, bool) {}, OnError: func(error) {},
				})
				if err == nil {
					c.Close()
				}
				wantIDError(t, err, want)
			}, append(drivertest.Topics(1), kfake.ClusterID("one"))...)
		})
	}
}

func wantIDError(t *testing.T, err error, want string) {
	t.Helper()
	if said := err != nil && strings.Contains(err.Error(), want); said != (want != "") || err != nil && want == "" {
		t.Errorf("the error is %v, want %q", err, want)
	}
}
