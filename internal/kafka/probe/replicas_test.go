package probe

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// A reader finds the brokers that answer among those that refuse or say nothing, and
// stays with them.
func TestReplicasOfBrokersThatAnswer(t *testing.T) {
	kafka, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(4, "replicated"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	silent, err := net.Listen("tcp", "127.0.0.1:0") // as a paused broker: it accepts, and no more
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	refusing, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = refusing.Close()

	brokers := append([]string{refusing.Addr().String(), silent.Addr().String()}, kafka.ListenAddrs()...)
	r, err := NewReplicaReader(brokers, access.Access{}, "replicated")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	for range 2 {
		all, err := r.Read(context.Background())
		if err != nil || len(all) != 4 {
			t.Fatalf("%d partitions, %v", len(all), err)
		}
		for i, p := range all {
			if p.Leader < 0 || p.Replicas < 1 || p.InSync != p.Replicas {
				t.Errorf("partition %d: %+v", i, p)
			}
		}
		if r.asked != 2 {
			t.Errorf("it asks broker %d first, where the first that answers is 2", r.asked)
		}
	}

	none, err := NewReplicaReader(brokers[:2], access.Access{}, "replicated")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(none.Close)
	began := time.Now()
	if _, err := none.Read(context.Background()); err == nil || time.Since(began) > 10*answerTimeout {
		t.Errorf("nobody answers: %v, after %v", err, time.Since(began))
	}
	missing, err := NewReplicaReader(kafka.ListenAddrs(), access.Access{}, "not-there")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(missing.Close)
	if _, err := missing.Read(context.Background()); err == nil {
		t.Error("it tells of a topic that is not there")
	}
}
