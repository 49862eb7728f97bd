package crash

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// machines are busy
const within = 30 * time.Second

func soon(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	t.Cleanup(cancel)
	return ctx
}

// change may set fields; or nil.
func (v *world) open(change func(*kmq.Config)) *kmq.Queue {
	v.t.Helper()
	cfg := v.spec.config(nil)
	if change != nil {
		change(&cfg)
	}
	q, err := kmq.Open(soon(v.t), cfg)
	if err != nil {
		v.t.Fatalf("open %s: %v", cfg.Engine, err)
	}
	v.t.Cleanup(func() { v.close(q) })
	return q
}

func (v *world) close(q *kmq.Queue) {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if err := q.Close(ctx); err != nil {
		v.t.Errorf("close: %v", err)
	}
}

func take(t testing.TB, q *kmq.Queue, n int) []kmq.Delivery {
	t.Helper()
	ctx := soon(t)
	var all []kmq.Delivery
	for len(all) < n {
		ds, err := q.Receive(ctx, n-len(all))
		if err != nil {
			t.Fatalf("received %d of %d: %v", len(all), n, err)
		}
		all = append(all, ds...)
	}
	return all
}

func none(t testing.TB, q *kmq.Queue, d time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	if ds, err := q.Receive(ctx, 10); len(ds) > 0 {
		t.Errorf("received record %d attempt %d; nothing should come", numberOf(ds[0].Record.Value), ds[0].Attempt())
	} else if ctx.Err() == nil {
		t.Errorf("receive: %v", err)
	}
}

func number(d kmq.Delivery) int { return numberOf(d.Record.Value) }

func byOffset(ds []kmq.Delivery) []kmq.Delivery {
	slices.SortFunc(ds, func(a, b kmq.Delivery) int { return int(a.Record.Offset - b.Record.Offset) })
	return ds
}

func ackAll(t testing.TB, ds []kmq.Delivery) {
	t.Helper()
	for _, d := range ds {
		if err := d.Ack(soon(t)); err != nil {
			t.Fatalf("ack of record %d: %v", number(d), err)
		}
	}
}

func eventually(t testing.TB, what string, so func() bool) {
	t.Helper()
	for deadline := time.Now().Add(within); !so(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %v: %s", within, what)
		}
	}
}

func (v *world) committedAt(group, topic string, partition int32) int64 {
	v.t.Helper()
	at, err := v.committed(soon(v.t), group, topic)
	if err != nil {
		v.t.Fatal(err)
	}
	if o, ok := at[partition]; ok {
		return o.At
	}
	return -1
}

func (v *world) markersOf(partition int32) []logged {
	v.t.Helper()
	if v.markers == nil {
		v.markers, v.probes.ends = v.follow(v.spec.Topic+"-markers"), make(map[int32]int)
	}
	if err := v.markers.sync(soon(v.t)); err != nil {
		v.t.Fatal(err)
	}
	log, err := readMarkers(v.markers.records[partition])
	if err != nil {
		v.t.Fatal(err)
	}
	return of(partition, log)
}

func ends(log []logged, offset int64) []marker.Reason {
	var why []marker.Reason
	for _, m := range log {
		if m.Type == marker.End && m.Offset <= offset && offset < m.Offset+int64(m.Count) {
			why = append(why, m.Reason)
		}
	}
	return why
}

func single(t testing.TB, w way, change func(*queueSpec)) (*world, *faulty) {
	t.Helper()
	c := fake(t, 1)
	v := newWorldOf(t, c, 1, w, 1, change)
	return v, &faulty{Cluster: c.Fake(), brokers: c, world: v, wire: new(wire)}
}

func (v *world) put(records ...*kgo.Record) {
	v.t.Helper()
	for _, r := range records {
		r.Topic = v.spec.Topic
	}
	if err := v.client.ProduceSync(soon(v.t), records...).FirstErr(); err != nil {
		v.t.Fatal(err)
	}
}
