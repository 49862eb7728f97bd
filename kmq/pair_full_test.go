//go:build full

package kmq_test

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/kgogate"
	"kafkabench.example/kafka-bench/kmq"
)

// N7: a gate of 500 before a queue, in which one order takes as long as all 10,000 others: these are produced, handled and
// acknowledged meanwhile. With the lag of a consumer group, the producer stands still at the 500th uncommitted record.
func TestKafkaASlowOrderKeepsNoGateClosed(t *testing.T) {
	const bound, slow, others = 500, 100, 10_000
	o := newOnKafka(t, nil)
	client, err := kgo.NewClient(kgo.SeedBrokers(o.brokers...))
	o.must(err)
	t.Cleanup(client.Close)
	cfg := kmq.Config{Topic: o.topic, Group: o.topic}
	source, err := kmq.Lag(client, cfg)
	o.must(err)
	gate := kgogate.Config{MaxLag: bound, Gate: backpressure.Config{Source: source}}
	producer, err := kgogate.Open(t.Context(), client, gate)
	o.must(err)
	t.Cleanup(producer.Close)

	var handled atomic.Int64
	finish := make(chan struct{})
	finishSlow := sync.OnceFunc(func() { close(finish) })
	q, stop := o.run(cfg, func(_ context.Context, d kmq.Delivery) error {
		if numberOf(d) == slow {
			<-finish
		}
		handled.Add(1)
		return nil
	}, kmq.RunConfig{Workers: 16})
	t.Cleanup(finishSlow)
	go func() {
		for n := range int64(others + 1) {
			number := []byte(strconv.FormatInt(n, 10))
			producer.Produce(t.Context(), &kgo.Record{Topic: o.topic, Key: number, Value: number}, nil)
			if behind := n + 1 - handled.Load(); behind > bound && t.Context().Err() == nil {
				t.Errorf("%d orders are not handled, the bound is %d", behind, bound)
			}
		}
	}()
	o.within("all others, while the slow order is in its handler", func() bool { return q.Stats().Acked == others })
	if s := producer.Stats(); s.Acked != others+1 || handled.Load() != others {
		t.Errorf("%d orders handled before the slow one, producer: %+v", handled.Load(), s)
	}
	finishSlow()
	o.within("a lag of 0", func() bool {
		r, err := source.Read(t.Context())
		return err == nil && r.Lag == 0 && r.Committed == others+1
	})
	o.must(stop())
	if s := q.Stats(); handled.Load() != others+1 || s.Redelivered != 0 || s.DeadLettered != 0 {
		t.Errorf("%d orders handled in the end, queue: %+v", handled.Load(), s)
	}
}
