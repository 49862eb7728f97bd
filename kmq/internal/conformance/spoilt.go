package conformance

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

// spoil changes everything that an application may change. It replaces the key, the value and a
// header value, because it must not write to their bytes.
func spoil(r *kgo.Record) {
	other := []byte("the application's")
	r.Headers[0].Value = other
	r.Headers = append(r.Headers, kgo.RecordHeader{Key: "more", Value: other})
	r.Topic, r.Partition, r.Offset = "elsewhere", (r.Partition+1)%partitions, 1000
	r.Key, r.Value, r.Timestamp = other, other, r.Timestamp.AddDate(1, 0, 0)
}

func (w *world) produceForSpoil() (was kgo.Record) {
	w.Helper()
	w.produce(1, func(_ int, r *kgo.Record) {
		r.Key, r.Headers = []byte("key"), []kgo.RecordHeader{{Key: "own", Value: []byte("header")}}
		r.Timestamp = time.Now().Add(-time.Hour).Truncate(time.Millisecond)
		was = *r
	})
	return was
}

func (w *world) unspoilt(what string, r *kgo.Record, was kgo.Record) {
	w.Helper()
	own, at := r.Headers, r.Timestamp
	if r.Topic == w.dead {
		at, _ = time.Parse(time.RFC3339Nano, string(header(r, "kmq-timestamp")))
		own = own[:min(1, len(own))]
		if !bytes.Equal(header(r, "kmq-topic"), []byte(w.topic)) {
			w.Errorf("%s: from topic %q", what, header(r, "kmq-topic"))
		}
	}
	if !bytes.Equal(r.Key, was.Key) || !bytes.Equal(r.Value, was.Value) || !at.Equal(was.Timestamp) ||
		len(own) != 1 || own[0].Key != "own" || string(own[0].Value) != "header" {
		w.Errorf("%s: key %q, value %q, headers %q, timestamp %v", what, r.Key, r.Value, r.Headers, r.Timestamp)
	}
	if r.Topic != was.Topic && r.Topic != w.dead || r.Partition != was.Partition || r.Offset >= 1000 {
		w.Errorf("%s: it is at offset %d of %s[%d]", what, r.Offset, r.Topic, r.Partition)
	}
}

func header(r *kgo.Record, key string) []byte {
	for _, h := range r.Headers {
		if h.Key == key {
			return h.Value
		}
	}
	return nil
}

func spoilt(w *world) {
	if !w.can.release {
		return
	}
	const deliveries = 5
	was := w.produceForSpoil()
	q := w.open(w.withDead, func(c *kmq.Config) { c.MaxDeliveries = deliveries })
	for range deliveries {
		d := w.one(q)
		w.unspoilt("a delivery", d.Record, was)
		spoil(d.Record)
		if err := d.Nack(w.ctx, 0); err != nil {
			w.Fatalf("nack: %v", err)
		}
	}
	w.unspoilt("the dead letter", w.deadLetters(1)[0], was)
	w.nothing(q)
}

func spoiltByHandlers(w *world) {
	for i, order := range []kmq.Order{kmq.Unordered, kmq.ByPartition, kmq.ByKey} {
		if order != kmq.Unordered && !w.can.order {
			continue
		}
		was := w.produceForSpoil()
		q := w.open(w.withDead, inOrder(order), func(c *kmq.Config) { c.Retry = kmq.Exponential(time.Millisecond, time.Millisecond) })
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		var mu sync.Mutex
		tries := 0
		err := q.Run(ctx, func(_ context.Context, d kmq.Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			w.unspoilt("a delivery", d.Record, was)
			spoil(d.Record)
			if tries++; tries < 3 {
				return errNotNow
			}
			cancel()
			return kmq.Reject{Reason: "spoilt"}
		}, kmq.RunConfig{Workers: 2})
		w.is("run", err, nil)
		for _, dead := range w.deadLetters(i + 1)[i:] {
			w.unspoilt("the dead letter", dead, was)
		}
		w.close(q)
	}
}
