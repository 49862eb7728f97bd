package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

// Receive, process and acknowledge records one at a time.
func Example() {
	brokers, stop := clusterWith("espresso", "tea")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{
		Brokers: brokers, Topic: "orders", Group: "kitchen",
		Engine: kmq.OffsetMap{}, // docs/queue.md helps to choose an engine
	})
	check(err)
	for range 2 {
		deliveries, err := q.Receive(ctx, 1)
		check(err)
		for _, d := range deliveries {
			fmt.Printf("%s, attempt %d\n", d.Record.Value, d.Attempt())
			check(d.Ack(ctx))
		}
	}
	check(q.Close(ctx)) // acknowledgements are durable now
	// Output:
	// espresso, attempt 1
	// tea, attempt 1
}

// Run calls a handler: nil acknowledges the record, an error retries it later, and
// Reject gives it up. Workers may outnumber partitions.
func ExampleQueue_Run() {
	brokers, stop := clusterWith("espresso", "unicorn milk", "tea")
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	q, err := kmq.Open(ctx, kmq.Config{
		Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{},
		DeadLetterTopic: "orders-dead",
		Retry:           kmq.Exponential(10*time.Millisecond, time.Second),
	})
	check(err)
	done := 0
	err = q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
		switch order := string(d.Record.Value); {
		case order == "unicorn milk":
			return kmq.Reject{Reason: "not on the menu"}
		case order == "espresso" && d.Attempt() == 1:
			fmt.Println(order, "failed")
			return errors.New("the machine is cold")
		default:
			fmt.Println(order)
			if done++; done == 2 {
				cancel()
			}
			return nil
		}
	}, kmq.RunConfig{Workers: 1})
	check(err)
	fmt.Println("rejected:", q.Stats().Rejected)
	// Unordered output:
	// espresso failed
	// tea
	// espresso
	// rejected: 1
}

// For a shutdown, for example on SIGTERM, end the context of Run: the handlers may go on for RunConfig.Shutdown, and
// then their contexts end.
func ExampleRunConfig() {
	brokers, stop := clusterWith("stew")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{}})
	check(err)
	term, terminate := context.WithCancel(ctx) // signal.NotifyContext(ctx, syscall.SIGTERM)
	err = q.Run(term, func(ctx context.Context, d kmq.Delivery) error {
		terminate()
		time.Sleep(50 * time.Millisecond)
		fmt.Printf("%s is done: %v\n", d.Record.Value, ctx.Err())
		return nil
	}, kmq.RunConfig{Workers: 50, Timeout: time.Minute, Shutdown: 20 * time.Second})
	fmt.Println("run:", err)
	check(q.Close(ctx))
	// Output:
	// stew is done: <nil>
	// run: <nil>
}

// One record of each partition at a time, in offset order.
func ExampleConfig_order() {
	brokers, stop := clusterWith("1", "2", "3", "4", "5")
	defer stop()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{}, Order: kmq.ByPartition}) // or kmq.ByKey
	check(err)
	err = q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
		fmt.Println(string(d.Record.Value))
		if string(d.Record.Value) == "5" {
			cancel()
		}
		return nil
	}, kmq.RunConfig{Workers: 16})
	check(err)
	check(q.Close(context.Background()))
	// Output:
	// 1
	// 2
	// 3
	// 4
	// 5
}

// A record is released for another attempt, now or later.
func ExampleDelivery_Nack() {
	brokers, stop := clusterWith("espresso")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.Markers{}})
	check(err)
	defer q.Close(ctx)
	for attempt := 1; attempt <= 3; attempt++ {
		ds, err := q.Receive(ctx, 1)
		check(err)
		d := ds[0]
		fmt.Printf("%s, attempt %d of the record at %v\n", d.Record.Value, d.Attempt(), d.ID())
		if attempt < 3 {
			check(d.Nack(ctx, 20*time.Millisecond))
			continue
		}
		check(d.Ack(ctx))
	}
	// Output:
	// espresso, attempt 1 of the record at 0@0
	// espresso, attempt 2 of the record at 0@0
	// espresso, attempt 3 of the record at 0@0
}

// Extend renews the lock of longer work.
func ExampleDelivery_Extend() {
	brokers, stop := clusterWith("stew")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{
		Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{}, Visibility: 30 * time.Second,
	})
	check(err)
	defer q.Close(ctx)
	ds, err := q.Receive(ctx, 1)
	check(err)
	d := ds[0]
	check(d.Extend(ctx, 10*time.Minute)) // until ten minutes from now
	fmt.Println("more than nine minutes:", time.Until(d.Deadline()) > 9*time.Minute)
	check(d.Ack(ctx))
	fmt.Println(d.Ack(ctx))
	// Output:
	// more than nine minutes: true
	// kmq: the delivery is settled already
}

// A record that fails too often or is rejected goes to the dead-letter topic, with the reason.
func ExampleDelivery_Reject() {
	brokers, stop := clusterWith("unicorn milk", "fog")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{
		Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{},
		MaxDeliveries: 2, DeadLetterTopic: "orders-dead", // created if it is missing
	})
	check(err)
	for range 3 {
		ds, err := q.Receive(ctx, 1)
		check(err)
		if d := ds[0]; string(d.Record.Value) == "fog" {
			check(d.Nack(ctx, 0)) // the second Nack gives the record up
		} else {
			check(d.Reject(ctx, "not on the menu"))
		}
	}
	check(q.Flush(ctx))
	for q.Stats().DeadLettered < 2 { // the record is given up in the background, after Nack
		time.Sleep(time.Millisecond)
	}
	check(q.Close(ctx))

	dead, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics("orders-dead"))
	check(err)
	defer dead.Close()
	for seen := 0; seen < 2; {
		dead.PollFetches(ctx).EachRecord(func(r *kgo.Record) {
			for _, h := range r.Headers {
				if h.Key == "kmq-reason" || h.Key == "kmq-deliveries" {
					fmt.Printf("%s %s: %s\n", r.Value, h.Key, h.Value)
				}
			}
			seen++
		})
	}
	// Unordered output:
	// unicorn milk kmq-deliveries: 1
	// unicorn milk kmq-reason: not on the menu
	// fog kmq-deliveries: 2
	// fog kmq-reason: delivered 2 times
}

// The tracker of the engine Markers runs in each queue's process, or separately: with OpenTracker
// or as "kafka-bench kmq tracker --group kitchen --topic orders".
func ExampleOpenTracker() {
	brokers, stop := clusterWith("espresso")
	defer stop()
	ctx := context.Background()
	cfg := kmq.Config{
		Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.Markers{ExternalTracker: true}, Visibility: 200 * time.Millisecond,
	}

	tracker, err := kmq.OpenTracker(ctx, cfg)
	check(err)
	q, err := kmq.Open(ctx, cfg)
	check(err)
	ds, err := q.Receive(ctx, 1) // received and never settled
	check(err)
	fmt.Printf("%s, attempt %d\n", ds[0].Record.Value, ds[0].Attempt())
	ds, err = q.Receive(ctx, 1)
	check(err)
	fmt.Printf("%s, attempt %d\n", ds[0].Record.Value, ds[0].Attempt())
	check(ds[0].Ack(ctx))
	check(q.Close(ctx))
	check(tracker.Close(ctx)) // ends the redelivery, whose end is written after the copy
	fmt.Println("redelivered:", tracker.Stats().Moved)
	// Output:
	// espresso, attempt 1
	// espresso, attempt 2
	// redelivered: 1
}

// A queue begins where a consumer group stopped: stop its consumers, then open queues with the
// group's name. (A share group needs another name: see docs/queue.md.)
func ExampleOpen_migration() {
	brokers, stop := clusterWith("espresso", "tea", "stew")
	defer stop()
	ctx := context.Background()

	// The consumers of the group "kitchen" had processed the first record.
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	check(err)
	defer client.Close()
	check(kadm.NewClient(client).CommitAllOffsets(ctx, "kitchen",
		kadm.Offsets{"orders": {0: {Topic: "orders", Partition: 0, At: 1, LeaderEpoch: -1}}}))

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{}})
	check(err)
	for range 2 {
		ds, err := q.Receive(ctx, 1)
		check(err)
		fmt.Println(string(ds[0].Record.Value))
		check(ds[0].Ack(ctx))
	}
	check(q.Close(ctx))
	// Output:
	// tea
	// stew
}

// Inspect shows from outside what a group has in flight.
func ExampleInspect() {
	brokers, stop := clusterWith("espresso", "tea", "stew")
	defer stop()
	ctx := context.Background()

	q, err := kmq.Open(ctx, kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", Engine: kmq.OffsetMap{}})
	check(err)
	var all []kmq.Delivery
	for len(all) < 3 {
		ds, err := q.Receive(ctx, 3)
		check(err)
		all = append(all, ds...)
	}
	check(all[2].Ack(ctx)) // the last, before the two others
	check(q.Flush(ctx))

	i, err := kmq.Inspect(ctx, kmq.Config{Brokers: brokers, Group: "kitchen"})
	check(err)
	fmt.Println(i.Engine, i.Partitions[0].Committed, i.Partitions[0].InFlight)
	check(q.Close(ctx))
	// Output: offsetmap 0 2
}
