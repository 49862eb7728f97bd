package probe

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

func TestReplicasOfBrokersThatAnswer(t *testing.T) { synctest.Test(t, testReplicasOfBrokersThatAnswer) }

func testReplicasOfBrokersThatAnswer(t *testing.T) {
	t.Cleanup(func() { time.Sleep(time.Minute) })
	network := &kfake.VirtualNetwork{}
	a := access.Access{Dial: network.DialContext}
	kafka, err := kfake.NewCluster(kfake.Ports(9092, 9093, 9094), kfake.ListenFn(network.Listen),
		kfake.SeedTopics(4, "replicated"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(kafka.Close)
	silent, err := network.Listen("tcp", "localhost:9095")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	go func() { // like a paused broker: it accepts connections and does not answer
		for {
			if _, err := silent.Accept(); err != nil {
				return
			}
		}
	}()

	brokers := append([]string{"localhost:1", silent.Addr().String()}, kafka.ListenAddrs()...)
	r, err := NewReplicaReader(brokers, a, "replicated")
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

	none, err := NewReplicaReader(brokers[:2], a, "replicated")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(none.Close)
	began := time.Now()
	if _, err := none.Read(context.Background()); err == nil || time.Since(began) != answerTimeout {
		t.Errorf("nobody answers: %v, after %v, want an error after %v", err, time.Since(began), answerTimeout)
	}
	missing, err := NewReplicaReader(kafka.ListenAddrs(), a, "not-there")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(missing.Close)
	if _, err := missing.Read(context.Background()); err == nil {
		t.Error("it tells of a topic that is not there")
	}
}
