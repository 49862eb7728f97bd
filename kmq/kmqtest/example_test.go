package kmqtest_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/kmqtest"
)

// A handler that is tried again until it succeeds, or gives up. A test has a *testing.T; in a bubble of testing/synctest,
// the backoff takes no time.
func ExampleOpen() {
	t := new(exampleT)
	defer t.end()

	q := kmqtest.Open(t, kmqtest.Config{Topic: "orders", Group: "billing", Retry: kmq.Exponential(0, time.Millisecond)})
	q.Produce(&kgo.Record{Value: []byte("order 1")}, &kgo.Record{Value: []byte("order 2")})
	err := q.RunUntilIdle(func(_ context.Context, d kmq.Delivery) error {
		switch {
		case string(d.Record.Value) == "order 2":
			return kmq.Reject{Reason: "no such customer"}
		case d.Attempt() < 3:
			return errors.New("the bank does not answer")
		}
		return nil
	}, kmq.RunConfig{})
	fmt.Println(err)
	for _, r := range q.Acked() {
		fmt.Printf("acknowledged: %s\n", r.Value)
	}
	for _, r := range q.DeadLetters() {
		fmt.Printf("dead: %s\n", r.Value)
		for _, h := range r.Headers {
			if h.Key == "kmq-reason" || h.Key == "kmq-group" {
				fmt.Printf("  %s: %s\n", h.Key, h.Value)
			}
		}
	}
	// Output:
	// <nil>
	// acknowledged: order 1
	// dead: order 2
	//   kmq-reason: no such customer
	//   kmq-group: billing
}

// A handler by itself.
func ExampleDelivery() {
	handle := func(ctx context.Context, d kmq.Delivery) error {
		if len(d.Record.Value) == 0 {
			return kmq.Reject{Reason: "an empty order"}
		}
		return d.Extend(ctx, time.Minute) // a long order
	}
	fmt.Println(handle(context.Background(), kmqtest.Delivery(&kgo.Record{})))
	d := kmqtest.Delivery(&kgo.Record{Value: []byte("order 1")})
	fmt.Println(handle(context.Background(), d), kmqtest.Settled(d).Extended)
	// Output:
	// rejected: an empty order
	// <nil> 1m0s
}

// A handler that settles the delivery itself.
func ExampleSettled() {
	d := kmqtest.Delivery(&kgo.Record{Value: []byte("order 1")})
	if err := d.Nack(context.Background(), time.Hour); err != nil {
		fmt.Println(err)
	}
	o := kmqtest.Settled(d)
	fmt.Println(o.Nacked, o.Delay)
	fmt.Println(d.Ack(context.Background()))
	// Output:
	// true 1h0m0s
	// kmq: the delivery is settled already
}
