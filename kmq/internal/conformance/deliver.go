package conformance

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

func missingTopic(w *world) {
	_, err := kmq.Open(w.ctx, w.config(func(c *kmq.Config) { c.Topic = w.topic + "-none" }))
	w.is("open", err, kmq.ErrConfig)
}

func asProduced(w *world) {
	at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	headers := []kgo.RecordHeader{{Key: "a", Value: []byte("1")}, {Key: "a", Value: []byte("2")}, {Key: "kmq-other", Value: nil}}
	w.produce(4*partitions, func(i int, r *kgo.Record) {
		r.Timestamp, r.Headers = at.Add(time.Duration(i)*time.Second), headers
		switch i % 4 {
		case 0:
			r.Key = []byte{byte(i)}
		case 1:
			r.Key = []byte{}
		case 2:
			r.Key, r.Value, r.Headers = nil, nil, nil
		}
	})
	q := w.open()
	first := w.receive(q, 4*partitions)
	for _, d := range first {
		w.looksProduced(d, at, headers)
		if d.Attempt() != 1 {
			w.Errorf("the first delivery of %v is attempt %d", d.ID(), d.Attempt())
		}
		if want := (kmq.ID{Partition: d.Record.Partition, Offset: d.Record.Offset}); d.ID() != want {
			w.Errorf("the first delivery has the ID %v, at %v", d.ID(), want)
		}
	}
	if !w.can.release {
		w.ack(first...)
		return
	}
	for _, d := range first {
		if err := d.Nack(w.ctx, 0); err != nil {
			w.Errorf("nack: %v", err)
		}
	}
	w.each(q, 4*partitions, func(d kmq.Delivery) {
		w.looksProduced(d, at, headers)
		if d.Attempt() != 2 {
			w.Errorf("the second delivery of %v is attempt %d", d.ID(), d.Attempt())
		}
		w.ack(d)
	})
}

func (w *world) looksProduced(d kmq.Delivery, at time.Time, headers []kgo.RecordHeader) {
	w.Helper()
	i := int(d.ID().Offset)*partitions + int(d.ID().Partition)
	var key, value []byte
	switch i % 4 {
	case 0:
		key = []byte{byte(i)}
	case 1:
		key = []byte{}
	}
	if i%4 == 2 {
		headers = nil
	} else {
		value = []byte("record ")
	}
	r := d.Record
	sameKey := bytes.Equal(r.Key, key) && (r.Key == nil) == (key == nil)
	sameHeaders := slices.EqualFunc(r.Headers, headers, func(a, b kgo.RecordHeader) bool {
		return a.Key == b.Key && bytes.Equal(a.Value, b.Value)
	})
	if !sameKey || !sameHeaders || !bytes.HasPrefix(r.Value, value) || (r.Value == nil) != (value == nil) {
		w.Errorf("record %v, attempt %d: key %q, value %q, headers %v", d.ID(), d.Attempt(), r.Key, r.Value, r.Headers)
	}
	if want := at.Add(time.Duration(i) * time.Second); !r.Timestamp.Equal(want) {
		w.Errorf("record %v, attempt %d: timestamp %v, want %v", d.ID(), d.Attempt(), r.Timestamp, want)
	}
	if r.Topic != w.topic || r.Partition != d.ID().Partition {
		w.Errorf("record %v came from %s[%d]", d.ID(), r.Topic, r.Partition)
	}
}

func receivingNeverAcknowledges(w *world) {
	all := w.produce(9)
	q := w.open()
	w.same("received", ids(w.receive(q, 9)), all)
	time.Sleep(10 * w.config().CommitEvery)
	w.flush(q)
	w.close(q)

	q = w.open()
	w.same("received again", w.acked(q, 9), all)
	w.nothing(q)
}

func shortReceives(w *world) {
	q := w.open()
	all := w.produce(60)
	var got []kmq.Delivery
	for until := time.Now().Add(patience); len(got) < 60 && time.Now().Before(until); {
		ctx, cancel := context.WithTimeout(w.ctx, 200*time.Microsecond)
		ds, err := q.Receive(ctx, 2)
		cancel()
		if err != nil && (len(ds) > 0 || !errors.Is(err, context.DeadlineExceeded)) {
			w.Fatalf("receive: %d records and %v", len(ds), err)
		}
		w.ack(ds...)
		got = append(got, ds...)
	}
	w.same("received", ids(got), all)
}

func manyGoroutines(w *world) {
	const records, goroutines = 3000, 8
	all := w.produce(records)
	q := w.open(inFlight(200))
	var (
		mu   sync.Mutex
		got  []kmq.ID
		work sync.WaitGroup
	)
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	for range goroutines {
		work.Go(func() {
			for ctx.Err() == nil {
				ds, _ := q.Receive(ctx, 7)
				for _, d := range ds {
					if err := d.Ack(ctx); err != nil {
						w.Errorf("ack: %v", err)
					}
				}
				mu.Lock()
				if got = append(got, ids(ds)...); len(got) >= records {
					cancel()
				}
				mu.Unlock()
				_ = q.Stats()
			}
		})
	}
	work.Wait()
	w.same("received", got, all)
}

func crash(w *world) {
	all := w.produce(12)
	line := wire{under: w.access.Dialer(0)}
	with := []func(*kmq.Config){line.use}
	if w.can.lend {
		with = append(with, lendFor(6*time.Second))
	}
	q := w.open(with...)
	var acked, open []kmq.ID
	for _, d := range w.receive(q, 12) {
		// Offsets are 0 to 3 in each partition; 0 and 2 are acknowledged.
		if d.ID().Offset%2 == 0 {
			w.ack(d)
			acked = append(acked, d.ID())
		} else {
			open = append(open, d.ID())
		}
	}
	w.flush(q)
	line.cut()

	q = w.open(with[1:]...)
	if !w.can.exact { // records beyond an open one are redelivered too
		acked = slices.DeleteFunc(acked, func(id kmq.ID) bool { return id.Offset > 1 })
		open = slices.DeleteFunc(slices.Clone(all), func(id kmq.ID) bool { return slices.Contains(acked, id) })
	}
	w.same("after the crash", w.acked(q, len(open)), open)
	w.nothing(q)
}

func bounded(w *world) {
	const bound = 10
	all := w.produce(60)
	q := w.open(inFlight(bound))
	var got []kmq.ID
	for len(got) < len(all) {
		ds := w.upTo(q, bound)
		if w.can.whole && len(ds) < bound {
			ds = append(ds, w.receive(q, bound-len(ds))...)
		}
		if len(ds) == bound {
			w.nothing(q)
		}
		if n := q.Stats().InFlight; n > bound || n < len(ds) {
			w.Errorf("%d in flight with %d in hand, and a bound of %d", n, len(ds), bound)
		}
		w.ack(ds...)
		got = append(got, ids(ds)...)
	}
	w.same("received", got, all)
}

func counters(w *world) {
	w.produce(12)
	with := []func(*kmq.Config){w.withDead}
	q := w.open(with...)
	ds := w.receive(q, 12)
	s := q.Stats()
	if s.Delivered != 12 || s.InFlight != 12 || s.Redelivered != 0 || s.Acked != 0 {
		w.Errorf("after 12 deliveries: %+v", s)
	}
	if !s.OldestUnacked.Equal(oldest(ds)) {
		w.Errorf("the oldest unacked is of %v, want %v", s.OldestUnacked, oldest(ds))
	}
	w.ack(ds[:6]...)
	if err := ds[6].Reject(w.ctx, "no"); err != nil {
		w.Errorf("reject: %v", err)
	}
	released := 0
	if w.can.release {
		released = 2
		for _, d := range ds[7:9] {
			if err := d.Nack(w.ctx, 0); err != nil {
				w.Errorf("nack: %v", err)
			}
		}
		w.ack(ds[9:]...)
		w.acked(q, released)
	} else {
		w.ack(ds[7:]...)
	}
	w.flush(q)
	s = q.Stats()
	if s.Acked != 11 || s.Rejected != 1 || s.Nacked != int64(released) || s.Redelivered != int64(released) ||
		s.Delivered != int64(12+released) || s.DeadLettered != 1 || s.InFlight != 0 || !s.OldestUnacked.IsZero() || s.Expired != 0 || s.Lost != 0 {
		w.Errorf("when all is settled: %+v", s)
	}
	if s.Delivered != s.Acked+s.Nacked+s.Rejected+s.Expired+s.Lost {
		w.Errorf("deliveries are not what became of them: %+v", s)
	}
}

func oldest(ds []kmq.Delivery) (at time.Time) {
	for _, d := range ds {
		if at.IsZero() || d.Record.Timestamp.Before(at) {
			at = d.Record.Timestamp
		}
	}
	return at
}

func aborted(w *world) {
	tx := w.newClient(kgo.TransactionalID(w.topic))
	var want []kmq.ID
	for i := range 6 {
		if err := tx.BeginTransaction(); err != nil {
			w.Fatal(err)
		}
		r := &kgo.Record{Topic: w.topic, Value: []byte("in a transaction")}
		if err := tx.ProduceSync(w.ctx, r).FirstErr(); err != nil {
			w.Fatal(err)
		}
		end := kgo.TryAbort
		if i%2 == 1 {
			end = kgo.TryCommit
			want = append(want, kmq.ID{Partition: r.Partition, Offset: r.Offset})
		}
		if err := tx.EndTransaction(w.ctx, end); err != nil {
			w.Fatal(err)
		}
	}
	q := w.open()
	w.same("received", w.acked(q, len(want)), want)
	w.nothing(q)
	if s := q.Stats(); s.Missing != 0 {
		w.Errorf("what was aborted is not missing: %+v", s)
	}
	if w.Engine == (kmq.Share{}) {
		return // its brokers keep its position
	}
	w.flush(q)
	lags, err := kadm.NewClient(w.client).Lag(w.ctx, w.group)
	if err != nil {
		w.Fatal(err)
	}
	if lag := lags[w.group].Lag.Total(); lag != 0 {
		w.Errorf("all is acknowledged, and the lag is %d", lag)
	}
}
