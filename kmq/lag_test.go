package kmq_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/kmq"
)

// A gate of 500 before a queue, in which one order takes 8 s: the producer never stands still, because the gate knows what
// was acknowledged beyond the slow order.
func TestASlowRecordKeepsNoGateClosed(t *testing.T) {
	const records, bound = 12_000, 500
	for _, engine := range []kmq.Engine{nil, kmq.Markers{}, kmq.Share{}} {
		t.Run(fmt.Sprint(engine), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				i.on.Topic(t, "loans", 6) // a share group locks 2,000 records of each
				cfg := i.config(engine)
				cfg.Topic, cfg.MaxInFlight, cfg.CommitEvery = "loans", 5000, 100*time.Millisecond
				client := i.on.NewClient(i, kgo.RecordPartitioner(kgo.RoundRobinPartitioner()))
				source, err := kmq.Lag(client, cfg)
				i.do(err)
				producer, err := kgogate.Open(t.Context(), client, kgogate.Config{MaxLag: bound, Gate: backpressure.Config{Source: source}})
				i.do(err)
				defer producer.Close()
				q := i.open(cfg)
				ctx, stop := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() {
					ended <- q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
						if string(d.Record.Value) == "100" {
							time.Sleep(8 * time.Second)
						}
						return nil
					}, kmq.RunConfig{Workers: 100})
				}()
				time.Sleep(10 * time.Second) // a share group begins after 5.4 s
				var longest time.Duration
				for n := range records {
					begun := time.Now()
					producer.Produce(t.Context(), &kgo.Record{Topic: "loans", Value: fmt.Append(nil, n)}, nil)
					longest = max(longest, time.Since(begun))
					time.Sleep(time.Millisecond)
				}
				if longest > 0 {
					t.Errorf("the producer stood still for %v", longest)
				}
				time.Sleep(10 * time.Second)
				if s := q.Stats(); s.Acked != records {
					t.Errorf("%d of %d records are acknowledged", s.Acked, records)
				}
				if r, err := source.Read(t.Context()); err != nil || r.Lag != 0 || r.Committed != records {
					t.Errorf("in the end: %+v, %v", r, err)
				}
				stop()
				i.do(<-ended)
			})
		})
	}
}

// The lag counts what is not settled, wherever it is.
func TestLagOfAQueue(t *testing.T) {
	for _, c := range []struct {
		engine kmq.Engine
		acked  int64 // the lag after records 1 and 3 of 10 were acknowledged
	}{
		{kmq.OffsetMap{}, 8},
		{kmq.Plain{}, 10},
		{kmq.Markers{}, 6}, // handed out: 4
		{kmq.Share{}, 8},
	} {
		t.Run(c.engine.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				cfg := i.config(c.engine)
				source, err := kmq.Lag(i.on.NewClient(i), cfg)
				i.do(err)
				check := func(when string, want int64) {
					t.Helper()
					if r, err := source.Read(t.Context()); err != nil || r.Lag != want || r.Committed != 10-want {
						t.Errorf("%s: %+v, %v; want a lag of %d", when, r, err, want)
					}
				}
				check("without a group", 10)
				q := i.open(cfg)
				ds := i.receive(q, 4)
				i.do(ds[1].Ack(t.Context()))
				i.do(ds[3].Ack(t.Context()))
				i.do(q.Flush(t.Context()))
				time.Sleep(time.Second)
				check("after two", c.acked)
			})
		})
	}
}

func TestLagRefuses(t *testing.T) {
	if _, err := kmq.Lag(nil, kmq.Config{}); !errors.Is(err, kmq.ErrConfig) || err.Error() != "kmq: configuration: Lag has no client; Topic is empty; Group is empty" {
		t.Error(err)
	}
}
