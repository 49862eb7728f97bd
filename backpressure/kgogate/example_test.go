package kgogate_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure/kgogate"
)

// A producer never lets the group "billing" fall behind by more than 5000 records. The cluster is
// in memory.
func ExampleOpen() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	client, closeAll := newClient()
	defer closeAll()
	producer, err := kgogate.Open(ctx, client, kgogate.Config{Group: "billing", Topics: []string{"orders"}, MaxLag: 5000})
	check(err)
	defer producer.Close()

	for i := range 5000 {
		producer.Produce(ctx, &kgo.Record{Topic: "orders", Value: fmt.Append(nil, i)}, nil)
	}
	// There is no consumer, so this record would wait for ever.
	short, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	producer.Produce(short, &kgo.Record{Topic: "orders"}, func(_ *kgo.Record, err error) { fmt.Println(err) })
	check(producer.Flush(ctx))
	fmt.Println("acked", producer.Stats().Acked, "outstanding", producer.Gate().Stats().Outstanding)
	// Output:
	// context deadline exceeded
	// acked 5000 outstanding 5000
}

// With Shed the promise gets an error, and the producer counts the reason.
func ExampleProducer() {
	client, closeAll := newClient()
	defer closeAll()
	producer, err := kgogate.Open(context.Background(), client, kgogate.Config{
		Group: "billing", Topics: []string{"orders"}, MaxLag: 2, Excess: kgogate.Shed,
	})
	check(err)
	defer producer.Close()
	for i := range 3 {
		producer.Produce(context.Background(), &kgo.Record{Topic: "orders", Value: fmt.Append(nil, i)}, func(r *kgo.Record, err error) {
			if errors.Is(err, kgogate.ErrShed) {
				fmt.Printf("%s: %v\n", r.Value, err)
			}
		})
	}
	check(producer.Flush(context.Background()))
	s := producer.Stats()
	fmt.Println("acked", s.Acked, "shed", s.Shed["gate"])
	// Output:
	// 2: kgogate: the record was shed: the gate has no room
	// acked 2 shed 1
}

// With Degrade the application decides which excess records may wait: here every other one.
func ExampleConfig() {
	client, closeAll := newClient()
	defer closeAll()
	seen := 0
	producer, err := kgogate.Open(context.Background(), client, kgogate.Config{
		Group: "billing", Topics: []string{"orders"}, MaxLag: 2,
		Excess:      kgogate.Degrade,
		MaxDeferred: 100,
		Degrade: func(r *kgo.Record) *kgo.Record {
			if seen++; seen%2 == 0 {
				return nil
			}
			return r
		},
	})
	check(err)
	for i := range 8 {
		producer.Produce(context.Background(), &kgo.Record{Topic: "orders", Timestamp: time.Now(), Value: fmt.Append(nil, i)}, nil)
	}
	s := producer.Stats()
	fmt.Println("produced", s.Produced, "deferred", s.Deferred, "shed", s.Shed["degrade"])
	producer.Close()
	fmt.Println("dropped at the close", producer.Stats().Shed["close"])
	// Output:
	// produced 2 deferred 3 shed 3
	// dropped at the close 3
}

// Lag is a source for a gate before another client. It reads the lag on all topics that match a
// pattern; a gate reads its source by itself, and this example reads it once.
func ExampleLag() {
	ctx := context.Background()
	client, closeAll := newClient("orders-eu", "orders-us", "refunds")
	defer closeAll()
	for _, topic := range []string{"orders-eu", "orders-eu", "orders-us", "refunds"} {
		check(client.ProduceSync(ctx, &kgo.Record{Topic: topic}).FirstErr())
	}
	source, err := kgogate.Lag(client, kgogate.Config{Group: "billing", TopicRegex: "^orders-"})
	check(err)
	reading, err := source.Read(ctx)
	check(err)
	for _, p := range reading.Partitions {
		fmt.Printf("%s/%d: committed %d of %d\n", p.Topic, p.ID, p.Committed, p.End)
	}
	fmt.Println("lag", reading.Lag)
	// Output:
	// orders-eu/0: committed 0 of 2
	// orders-us/0: committed 0 of 1
	// lag 3
}

// newClient returns a client of a cluster in memory.
func newClient(topics ...string) (*kgo.Client, func()) {
	if len(topics) == 0 {
		topics = []string{"orders"}
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, topics...))
	check(err)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	check(err)
	return client, func() { client.Close(); cluster.Close() }
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
	}
}
