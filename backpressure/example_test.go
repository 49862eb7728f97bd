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
// consumer group, use package kadmlag.
func Example() {
	var written, committed atomic.Int64
	credit, err := backpressure.NewCredit(100)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := backpressure.New(backpressure.Config{
		Controller: credit,
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
	ctx, stop := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _ = gate.Watch(ctx) })
	all.Go(func() { // the consumers: 20 records at a time
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
	all.Wait()
	fmt.Println("sent", written.Load(), "records, the lag stayed within the bound:", peak <= 100)
	// Output: sent 1000 records, the lag stayed within the bound: true
}

// TryAcquire does not wait: the application decides about a refused record.
func ExampleGate_TryAcquire() {
	credit, err := backpressure.NewCredit(3)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := backpressure.New(backpressure.Config{Controller: credit})
	if err != nil {
		fmt.Println(err)
		return
	}
	readLag := func() backpressure.Reading { return backpressure.Reading{Lag: 1} }
	mark := gate.Mark()
	gate.Report(mark, readLag())

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

// A gate logs its changes with the reason, and calls OnChange for counters and alerts.
func ExampleConfig_logger() {
	withoutTime := func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "age" {
			return slog.Attr{}
		}
		return a
	}
	hysteresis, err := backpressure.NewHysteresis(5000, 1000)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := backpressure.New(backpressure.Config{
		Controller: hysteresis,
		Logger:     slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: withoutTime})),
		OnChange:   func(c backpressure.Change) { fmt.Println("alert:", c.Kind) },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, lag := range []int64{300, 6000, 4000, 900} {
		gate.Report(gate.Mark(), backpressure.Reading{Lag: lag})
	}
	// Output:
	// alert: closed
	// level=INFO msg="backpressure closed" open=false lag_records=6000 reason="lag 6000 is above 5000"
	// alert: opened
	// level=INFO msg="backpressure opened" open=true lag_records=900 reason="lag 900 is below 1000"
}

// Four equal processes keep a bound of 8000 together without communication: each keeps the lag of
// its own records at or below a quarter of the bound.
func ExampleFixed() {
	credit, err := backpressure.NewCredit(8000)
	if err != nil {
		fmt.Println(err)
		return
	}
	gate, err := backpressure.New(backpressure.Config{
		Controller: credit, Share: backpressure.Fixed(1.0 / 4),
		Inherit: backpressure.NoInherit, // the topic is new: leave this out if a process is restarted
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	read := func(committed, end int64) {
		gate.Report(gate.Mark(), backpressure.Reading{Partitions: []backpressure.Partition{
			{Topic: "orders", ID: 0, Committed: committed, End: end},
		}})
	}
	read(0, 0)
	sent := gate.Admit(5000)
	for offset := range sent {
		gate.Acked("orders", 0, 3*offset) // every third record of the log is ours
		gate.Done(1)
	}
	fmt.Println("admitted of 5000:", sent)
	read(1500, 3*sent) // the group has committed 500 of ours, and 1000 of others
	fmt.Println("own lag:", gate.Stats().Lag, "admitted then:", gate.Admit(5000))
	// Output:
	// admitted of 5000: 2000
	// own lag: 1500 admitted then: 500
}

// A latency controller keeps the time from admission to consumer near a target. Its bound is what
// the consumers can take in that time, so the bound follows their capacity.
func ExampleNewLatency() {
	latency, err := backpressure.NewLatency(backpressure.LatencyConfig{Target: 250 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	var now time.Duration
	gate, err := backpressure.New(backpressure.Config{Controller: latency, Now: func() time.Duration { return now }})
	if err != nil {
		fmt.Println(err)
		return
	}
	var written, committed int64
	run := func(perSecond int64, d time.Duration) {
		for end := now + d; now < end; now += 10 * time.Millisecond {
			if now%(100*time.Millisecond) == 0 {
				committed = min(written, committed+perSecond/10)
				gate.Report(gate.Mark(), backpressure.Reading{Partitions: []backpressure.Partition{{Committed: committed, End: written}}})
			}
			gate.Advance()
			n := gate.Admit(1000)
			written += n
			gate.Done(n)
		}
		bound := gate.Stats().Bound
		fmt.Printf("%d/s: a bound for 250 ms, %v\n", perSecond, bound > perSecond/5 && bound < perSecond*3/10)
	}
	run(2000, 20*time.Second)
	run(8000, 20*time.Second)
	// Output:
	// 2000/s: a bound for 250 ms, true
	// 8000/s: a bound for 250 ms, true
}
