package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/kmq"
)

// kitchen runs a queue until stop is called.
func kitchen(cfg kmq.Config, run func(ctx context.Context, stop func(), q *kmq.Queue) error, orders ...string) kmq.Stats {
	brokers, end := clusterWith(orders...)
	defer end()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cfg.Brokers, cfg.Topic, cfg.Group = brokers, "orders", "kitchen"
	q, err := kmq.Open(ctx, cfg)
	check(err)
	check(run(ctx, stop, q))
	check(q.Close(context.Background()))
	return q.Stats()
}

// A handler of values that the records hold as JSON. What is not JSON is rejected.
func ExampleJSON() {
	type order struct {
		Drink string
		Cups  int
	}
	s := kitchen(kmq.Config{}, func(ctx context.Context, stop func(), q *kmq.Queue) error {
		return q.Run(ctx, kmq.JSON(func(_ context.Context, o order) error {
			fmt.Println(o.Cups, "cups of", o.Drink)
			stop()
			return nil
		}), kmq.RunConfig{Workers: 1})
	}, "tea, please", `{"Drink": "tea", "Cups": 2}`)
	fmt.Println("rejected:", s.Failures.Rejections)
	// Output:
	// 2 cups of tea
	// rejected: 1
}

// A middleware wraps the handler. Here it translates errors: a missing row will not come back.
func ExampleMiddleware() {
	errNoRow := errors.New("no such row")
	giveUp := func(next kmq.Handler) kmq.Handler {
		return func(ctx context.Context, d kmq.Delivery) error {
			err := next(ctx, d)
			if errors.Is(err, errNoRow) {
				return kmq.Reject{Reason: err.Error()}
			}
			return err
		}
	}
	s := kitchen(kmq.Config{}, func(ctx context.Context, stop func(), q *kmq.Queue) error {
		return q.Run(ctx, func(context.Context, kmq.Delivery) error {
			stop()
			return errNoRow
		}, kmq.RunConfig{Middleware: []kmq.Middleware{giveUp}})
	}, "tea")
	fmt.Println("dead letters:", s.DeadLettered)
	// Output: dead letters: 1
}

// A handler of several records. Failed names those that have failed; the others are acknowledged.
func ExampleQueue_RunBatch() {
	s := kitchen(kmq.Config{}, func(ctx context.Context, stop func(), q *kmq.Queue) error {
		return q.RunBatch(ctx, func(_ context.Context, batch []kmq.Delivery) error {
			fmt.Println(len(batch), "orders at once")
			failed := kmq.Failed{}
			for i, d := range batch {
				if string(d.Record.Value) == "unicorn milk" {
					failed[i] = kmq.Reject{Reason: "not on the menu"}
				}
			}
			stop()
			return failed
		}, kmq.BatchConfig{RunConfig: kmq.RunConfig{Workers: 1}, Size: 3, Wait: time.Second})
	}, "tea", "unicorn milk", "espresso")
	fmt.Println(s.Acked, "acknowledged,", s.Rejected, "rejected")
	// Output:
	// 3 orders at once
	// 2 acknowledged, 1 rejected
}

// The handler asks for a record again, which does not count as an attempt.
func ExampleAfter() {
	calls := 0
	kitchen(kmq.Config{}, func(ctx context.Context, stop func(), q *kmq.Queue) error {
		return q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
			if calls++; calls < 3 {
				return kmq.After(20 * time.Millisecond) // the bank is busy
			}
			fmt.Println("call", calls, "is attempt", d.Attempt())
			stop()
			return nil
		}, kmq.RunConfig{})
	}, "tea")
	// Output: call 3 is attempt 1
}

// A policy may look at the error, and leave the rest to another one.
func ExampleRetry() {
	errBusy := errors.New("busy")
	usual := kmq.Exponential(10*time.Millisecond, time.Second)
	policy := func(attempt int, err error) time.Duration {
		if errors.Is(err, errBusy) {
			return 30 * time.Millisecond
		}
		return usual(attempt, err)
	}
	kitchen(kmq.Config{Retry: policy}, func(ctx context.Context, stop func(), q *kmq.Queue) error {
		var failed time.Time
		return q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
			if d.Attempt() == 1 {
				failed = time.Now()
				return errBusy
			}
			fmt.Println("after 30 ms or more:", time.Since(failed) >= 30*time.Millisecond)
			stop()
			return nil
		}, kmq.RunConfig{})
	}, "tea")
	// Output: after 30 ms or more: true
}

// The counters of a queue. Package promkmq exports them.
func ExampleQueue_Stats() {
	s := kitchen(kmq.Config{Retry: kmq.Exponential(0, 0)}, func(ctx context.Context, stop func(), q *kmq.Queue) error {
		return q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
			switch d.Attempt() {
			case 1:
				panic("the machine is on fire")
			case 2:
				return errors.New("the machine is cold")
			}
			stop()
			return nil
		}, kmq.RunConfig{OnPanic: kmq.FailAttempt})
	}, "tea")
	var calls int64
	for _, n := range s.Handlers.Counts {
		calls += n
	}
	fmt.Printf("%d calls, %+v\n", calls, s.Failures)
	// Output: 3 calls, {Errors:1 Panics:1 Timeouts:0 Rejections:0}
}

// An engine by its name, for example from a configuration file.
func ExampleParseEngine() {
	engine, err := kmq.ParseEngine("markers")
	fmt.Println(engine, err)
	_, err = kmq.ParseEngine("rabbit")
	fmt.Println(err)
	// Output:
	// markers <nil>
	// kmq: configuration: there is no engine "rabbit": choose one of offsetmap, markers, plain, share
}

// A producer and a queue: the queue never falls behind by more than 500 orders, and a slow order holds up neither the
// others nor the producer.
func ExampleLag() {
	brokers, end := clusterWith()
	defer end()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	cfg := kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen", CommitEvery: 50 * time.Millisecond}

	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	check(err)
	defer client.Close()
	source, err := kmq.Lag(client, cfg)
	check(err)
	producer, err := kgogate.Open(ctx, client, kgogate.Config{MaxLag: 500, Gate: backpressure.Config{Source: source}})
	check(err)
	defer producer.Close()
	const orders = 1200
	go func() {
		for n := range orders {
			producer.Produce(ctx, &kgo.Record{Topic: "orders", Value: fmt.Append(nil, n)}, nil) // waits for room
		}
	}()

	q, err := kmq.Open(ctx, cfg)
	check(err)
	others := make(chan string, orders)
	check(q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
		if string(d.Record.Value) != "0" {
			others <- string(d.Record.Value)
			return nil
		}
		for range orders - 1 { // takes as long as all other orders
			<-others
		}
		stop()
		return nil
	}, kmq.RunConfig{Workers: 8}))
	check(q.Close(context.Background()))
	fmt.Println(producer.Stats().Acked, "orders produced,", q.Stats().Acked, "handled")
	// Output: 1200 orders produced, 1200 handled
}

// Dead letters are delivered again, once what made them fail is repaired.
func ExampleRedrive() {
	brokers, end := clusterWith("tea")
	defer end()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cfg := kmq.Config{Brokers: brokers, Topic: "orders", Group: "kitchen"}
	q, err := kmq.Open(ctx, cfg)
	check(err)
	ds, err := q.Receive(ctx, 1)
	check(err)
	check(ds[0].Reject(ctx, "no water"))

	n, err := kmq.Redrive(ctx, cfg) // or: kafka-bench kmq redrive kitchen
	check(err)
	ds, err = q.Receive(ctx, 1)
	check(err)
	fmt.Printf("%d redriven: %s, attempt %d\n", n, ds[0].Record.Value, ds[0].Attempt())
	check(ds[0].Ack(ctx))
	check(q.Close(ctx))
	// Output: 1 redriven: tea, attempt 1
}
