package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/kmq"
)

// An ordinary consumer group: a record is committed once all before it are acknowledged.
func ExamplePlain() {
	brokers, stop := clusterWith("espresso", "tea")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.Plain{}})
	check(err)
	ds, err := q.Receive(ctx, 1)
	check(err)
	fmt.Println(string(ds[0].Record.Value))
	fmt.Println("released:", !errors.Is(ds[0].Nack(ctx, time.Second), kmq.ErrUnsupported))
	check(ds[0].Ack(ctx))
	check(q.Close(ctx))
	// Output:
	// espresso
	// released: false
}

// Kafka's own share group: brokers count the deliveries and hold the locks.
func ExampleShare() {
	brokers, stop := clusterWith("espresso")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.Share{}})
	check(err)
	for attempt := 1; attempt <= 2; attempt++ {
		ds, err := q.Receive(ctx, 1)
		check(err)
		fmt.Printf("%s, attempt %d\n", ds[0].Record.Value, ds[0].Attempt())
		if attempt == 1 {
			check(ds[0].Nack(ctx, 0))
		} else {
			check(ds[0].Ack(ctx))
		}
	}
	check(q.Close(ctx))
	// Output:
	// espresso, attempt 1
	// espresso, attempt 2
}

// With one replica of the markers, a marker may be lost with its broker, and a record is delivered again.
func ExampleAcks() {
	brokers, stop := clusterWith("espresso")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.Markers{}, Acks: kmq.AcksLeader})
	check(err)
	ds, err := q.Receive(ctx, 1)
	check(err)
	fmt.Println(string(ds[0].Record.Value))
	check(ds[0].Ack(ctx))
	check(q.Close(ctx))
	// Output:
	// espresso
}

// With Crash, a panic of a handler ends the process, as it would without a queue.
func ExampleHandlerPanic() {
	brokers, stop := clusterWith("espresso")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{}})
	check(err)
	defer func() {
		if p, ok := recover().(*kmq.HandlerPanic); ok {
			fmt.Println("the handler panicked:", p.Value)
		}
		check(q.Close(ctx))
	}()
	err = q.Run(ctx, func(context.Context, kmq.Delivery) error {
		panic("the machine is cold")
	}, kmq.RunConfig{OnPanic: kmq.Crash})
	check(err)
	// Output:
	// the handler panicked: the machine is cold
}
