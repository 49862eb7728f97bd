package drivertest

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var handTests = []test{
	{name: "by hand", run: testByHand, needs: []driver.Capability{driver.ManualPartitions}},
	{name: "by hand paused", run: testByHandPaused,
		needs: []driver.Capability{driver.ManualPartitions, driver.PausePartitions}},
	{name: "by hand nothing", run: testByHandNothing, needs: []driver.Capability{driver.ManualPartitions}},
	{name: "control records", run: testControlRecords,
		needs: []driver.Capability{driver.ManualPartitions, driver.ReadControl}},
}

// testByHand: a client without a group reads exactly its partitions, each from its offset, and can't commit.
func testByHand(t *testing.T, s suite) {
	const partitions, n = 3, 300
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, "", func(m *member) { m.byHand = map[int32]int64{0: 0, 2: 40} })
	m.awaitOwned(t, 2)
	m.awaitReceived(t, n/partitions+n/partitions-40)
	all := m.all()
	if len(all[0]) != 100 || len(all[1]) != 0 || len(all[2]) != 60 || all[2][0].Offset != 40 {
		t.Fatalf("received %d, %d and %d records, want 100 from offset 0, none, and 60 from offset 40", len(all[0]),
			len(all[1]), len(all[2]))
	}
	for i, r := range all[0] {
		if want := value(partitions * i); !bytes.Equal(r.Value, want) {
			t.Fatalf("offset %d is %q, want %q", i, r.Value, want)
		}
	}
	if err := m.consumer.Commit(context.Background(), map[int32]int64{0: 1}); !errors.Is(err, driver.ErrNoGroup) {
		t.Errorf("a commit without a group: %v, want driver.ErrNoGroup", err)
	}
}

func testByHandPaused(t *testing.T, s suite) {
	const partitions, n = 2, 200
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, "", func(m *member) { m.byHand, m.holds = map[int32]int64{0: 0, 1: 0}, true })
	s.letGo(t, m, partitions, n)
}

func testByHandNothing(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, 10)
	m := s.join(t, topic, "", func(m *member) { m.byHand = map[int32]int64{} })
	m.await(t, "the assignment", func() bool { return m.joined })
	time.Sleep(200 * time.Millisecond)
	m.close()
	if got := m.total(); got > 0 {
		t.Errorf("received %d records without a partition", got)
	}
}

func testControlRecords(t *testing.T, s suite) {
	topic := s.topic(t, 2)
	const transactions, n = 3, 5
	end := int64(transactions * (n + 1))
	s.transact(t, topic, transactions, n)
	m := s.join(t, topic, "", func(m *member) { m.byHand, m.control = map[int32]int64{0: 0, 1: 0}, true })
	m.await(t, "the end of the partition", func() bool { return m.next[0] == end })
	if got := m.all()[0]; len(got) != transactions*n {
		t.Errorf("received %d records of %d transactions with %d each", len(got), transactions, n)
	}
	plain := s.join(t, topic, "", func(m *member) { m.byHand = map[int32]int64{0: 0} })
	plain.awaitReceived(t, transactions*n)
	if plain.next[0] != 0 {
		t.Errorf("the next offset is %d though nobody asked", plain.next[0])
	}
}

func (s suite) transact(t *testing.T, topic string, transactions, n int) {
	t.Helper()
	client, err := kgo.NewClient(append(s.env.Access.Options(),
		kgo.SeedBrokers(s.env.Brokers...), kgo.DisableClientMetrics(),
		kgo.TransactionalID(topic), kgo.RecordPartitioner(kgo.ManualPartitioner()))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	for range transactions {
		if err := client.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			client.Produce(context.Background(), &kgo.Record{Topic: topic, Value: value(i)}, nil)
		}
		if err := client.Flush(context.Background()); err != nil {
			t.Fatal(err)
		}
		if err := client.EndTransaction(context.Background(), kgo.TryCommit); err != nil {
			t.Fatal(err)
		}
	}
}
