package backpressure_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/backpressure"
)

// A gate needs a controller and a source of the lag. Here the source is two counters; for a Kafka
// consumer group, use package kgogate.
func Example() {
	var written, committed atomic.Int64
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	gate, err := backpressure.Open(ctx, backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 100},
		Interval:   5 * time.Millisecond,
		Source: backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) {
			done := committed.Load() // first: then the lag is never understated
			return backpressure.Reading{Committed: done, Lag: written.Load() - done}, nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	var consumers sync.WaitGroup
	consumers.Go(func() { // 20 records at a time
		for ctx.Err() == nil {
			committed.Add(min(20, written.Load()-committed.Load()))
			time.Sleep(time.Millisecond)
		}
	})

	var peak int64
	for range 1000 { // the producer, as fast as it can
		if err := gate.Acquire(ctx, 1); err != nil {
			fmt.Println(err)
		}
		written.Add(1)
		gate.Done(1) // a real producer calls Done when the record is acknowledged
		peak = max(peak, written.Load()-committed.Load())
	}
	stop()
	consumers.Wait()
	fmt.Println("sent", written.Load(), "records, the lag stayed within the bound:", peak <= 100)
	// Output: sent 1000 records, the lag stayed within the bound: true
}

// lagOf is a source whose lag does not change.
func lagOf(records int64) backpressure.Source {
	return backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) {
		return backpressure.Reading{Lag: records}, nil
	})
}

// TryAcquire does not wait: the application decides about a refused record.
func ExampleGate() {
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 3}, Source: lagOf(1),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	sent, shed := 0, 0
	for range 5 {
		if gate.TryAcquire(1) {
			sent++
		} else {
			shed++
		}
	}
	fmt.Println("sent", sent, "shed", shed)
	// Output: sent 2 shed 3
}

// With credit the lag never exceeds the bound, so a backlog from before closes the gate.
func ExampleCredit() {
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 5000}, Source: lagOf(6000),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	fmt.Println(gate.TryAcquire(1), "with a bound of", gate.Stats().Bound)
	// Output: false with a bound of 5000
}

// A latency controller keeps the time from admission to consumer near a target. Its bound is what
// the consumers can take in that time; it begins with Start.
func ExampleLatency() {
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Latency{Target: 250 * time.Millisecond, MaxLag: 50_000, Start: 200}, Source: lagOf(0),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	fmt.Println("until the first commit, a bound of", gate.Stats().Bound)
	// Output: until the first commit, a bound of 200
}

// A gate logs its changes with the reason, and calls OnChange for counters and alerts.
func ExampleChange() {
	withoutTimes := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "age" {
			return slog.Attr{}
		}
		return a
	}
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 5000}, Source: lagOf(0),
		Logger:   slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTimes})),
		OnChange: func(c backpressure.Change) { fmt.Println("alert:", c.Kind) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	gate.TryAcquire(2)
	gate.Done(2)
	gate.Done(1)                       // a mistake: this record was reported already
	time.Sleep(500 * time.Millisecond) // the gate reports it with the next reading
	gate.Close()
	// Output:
	// alert: misused
	// level=WARN msg="backpressure misused" open=true lag_records=0 reason="Done and Unsure reported 1 more records than were admitted: report each record once, or the lag may exceed the bound" bound_records=5000
}

// Four equal processes keep a bound of 8000 together without communication: each keeps the lag of
// its own records at or below a quarter of the bound.
func ExampleFixed() {
	var end atomic.Int64
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 8000}, Share: backpressure.Fixed(1.0 / 4),
		Inherit:  backpressure.NoInherit, // the topic is new: leave this out if a process is restarted
		Interval: time.Minute,            // only for this example
		Source: backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) {
			return backpressure.Reading{Partitions: []backpressure.Partition{{Topic: "orders", End: end.Load()}}}, nil
		}),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	sent := int64(0)
	for gate.TryAcquire(1) {
		end.Add(3)                            // every third record of the log is ours
		gate.Acked("orders", 0, end.Load()-1) // with its offset
		gate.Done(1)
		sent++
	}
	fmt.Println("sent", sent, "of a share of", gate.Stats().Share)
	// Output: sent 2000 of a share of 0.25
}

// A reading with partitions lets the gate count the lag, and the progress of each partition.
func ExampleReading() {
	reading := backpressure.Reading{Partitions: []backpressure.Partition{
		{Topic: "orders", ID: 0, Committed: 90, End: 100},
		{Topic: "orders", ID: 1, Committed: 100, End: 130},
	}}
	gate, err := backpressure.Open(context.Background(), backpressure.Config{
		Controller: backpressure.Credit{MaxLag: 100},
		Source:     backpressure.SourceFunc(func(context.Context) (backpressure.Reading, error) { return reading, nil }),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer gate.Close()
	fmt.Println("lag", gate.Stats().Lag, "room for", gate.Stats().Ceiling)
	// Output: lag 40 room for 60
}
