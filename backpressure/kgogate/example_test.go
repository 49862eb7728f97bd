package kgogate_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kadmlag"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
)

// A producer never lets the group "billing" fall behind by more than 5000 records. The cluster is
// in memory.
func Example() {
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "orders"))
	check(err)
	defer cluster.Close()
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	check(err)
	defer client.Close()

	credit, err := backpressure.NewCredit(5000)
	check(err)
	lag, err := kadmlag.New(kadm.NewClient(client), kadmlag.Config{Group: "billing", Topics: []string{"orders"}})
	check(err)
	gate, err := backpressure.New(backpressure.Config{Controller: credit, Source: lag})
	check(err)
	go func() { check(gate.Watch(ctx)) }()
	producer, err := kgogate.New(client, gate, kgogate.Config{Excess: kgogate.Block})
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
	fmt.Println("acked", producer.Stats().Acked)
	// Output:
	// context deadline exceeded
	// acked 5000
}

// With Shed the promise gets an error, and the producer counts the reason.
func ExampleProducer_Produce_shed() {
	client, gate, done := smallGate(2)
	defer done()
	producer, err := kgogate.New(client, gate, kgogate.Config{Excess: kgogate.Shed})
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
	fmt.Println("acked", s.Acked, "shed", s.Shed[backpressure.ShedByGate])
	// Output:
	// 2: kgogate: the record was shed: the gate has no room
	// acked 2 shed 1
}

// With Degrade the application decides which excess records may wait: here every other one.
func ExampleConfig_degrade() {
	client, gate, done := smallGate(2)
	defer done()
	seen := 0
	producer, err := kgogate.New(client, gate, kgogate.Config{
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
	fmt.Println("produced", s.Produced, "deferred", s.Deferred, "shed", s.Shed[backpressure.ShedByDegrade])
	producer.Close()
	fmt.Println("dropped at the close", producer.Stats().Shed[kgogate.ShedByClose])
	// Output:
	// produced 2 deferred 3 shed 3
	// dropped at the close 3
}

func smallGate(n int64) (*kgo.Client, *backpressure.Gate, func()) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	check(err)
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...))
	check(err)
	credit, err := backpressure.NewCredit(n)
	check(err)
	gate, err := backpressure.New(backpressure.Config{Controller: credit})
	check(err)
	gate.Report(gate.Mark(), backpressure.Reading{})
	return client, gate, func() { client.Close(); cluster.Close() }
}

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
	}
}
