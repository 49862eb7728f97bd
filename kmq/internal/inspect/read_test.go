package inspect

import (
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

func TestUnsettled(t *testing.T) {
	p := Partition{unlent: 10, open: []window.Range{{From: 2, To: 4}, {From: 7, To: 8}}}
	var got []int64
	for offset := range int64(12) {
		if p.unsettled(offset) {
			got = append(got, offset)
		}
	}
	if want := []int64{2, 3, 7, 10, 11}; !slices.Equal(got, want) {
		t.Errorf("not settled: %v, want %v", got, want)
	}
}

func TestReadingEndsBeforeAnOpenTransaction(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.TransactionalID("somebody"), kgo.DefaultProduceTopic("orders"))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	write := func() {
		t.Helper()
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		if err := client.ProduceSync(t.Context(), kgo.StringRecord("1"), kgo.StringRecord("2")).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	write()
	if err := client.EndTransaction(t.Context(), kgo.TryCommit); err != nil {
		t.Fatal(err)
	}
	write()
	i := inspector{cfg: engine.Config{Brokers: cluster.ListenAddrs(), Topic: "orders"}, adm: kadm.NewClient(client)}
	if err := i.lay(t.Context(), Markers); err != nil {
		t.Fatal(err)
	}
	spans, err := i.spans(t.Context(), "orders")
	if err != nil {
		t.Fatal(err)
	}
	want := window.Range{From: 0, To: 3}
	if p := i.parts[0]; p.End != 5 || p.readable() != want || spans[0] != want {
		t.Errorf("the end is %d; to be read are %v and %v, want 5, %v", p.End, p.readable(), spans[0], want)
	}
}
