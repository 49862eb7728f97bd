package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
)

func settledOnce(w *world) {
	w.produce(2)
	q := w.open(w.withDead)
	ds := w.receive(q, 2)
	w.ack(ds[0])
	w.is("a second ack", ds[0].Ack(w.ctx), kmq.ErrSettled)
	w.is("reject after ack", ds[0].Reject(w.ctx, "no"), kmq.ErrSettled)
	if w.can.release {
		w.is("nack after ack", ds[0].Nack(w.ctx, 0), kmq.ErrSettled)
		w.is("nack before time", ds[0].Nack(w.ctx, -1), kmq.ErrConfig)
	}
	if w.can.lend {
		w.is("extend after ack", ds[0].Extend(w.ctx, time.Second), kmq.ErrSettled)
		w.is("extend by nothing", ds[0].Extend(w.ctx, 0), kmq.ErrConfig)
	}
	if err := ds[1].Reject(w.ctx, "no"); err != nil {
		w.Errorf("reject: %v", err)
	}
	w.is("ack after reject", ds[1].Ack(w.ctx), kmq.ErrSettled)
	w.deadLetters(1)

	w.produce(1)
	d := w.one(q)
	var mu sync.Mutex
	var did int
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			err := d.Ack(w.ctx)
			if err != nil {
				w.is("one of many acks", err, kmq.ErrSettled)
				return
			}
			mu.Lock()
			did++
			mu.Unlock()
		})
	}
	work.Wait()
	if did != 1 {
		w.Errorf("%d of 8 acks of a delivery were taken", did)
	}
}

func (w *world) unsupported(what string, err error) {
	w.Helper()
	w.is(what, err, kmq.ErrUnsupported)
	if err != nil && !strings.Contains(err.Error(), "choose") {
		w.Errorf("%s: %q does not say what to choose instead", what, err)
	}
}

func releasedAtOnce(w *world) {
	all := w.produce(1)
	q := w.open()
	d := w.one(q)
	if !w.can.release {
		w.unsupported("nack", d.Nack(w.ctx, 0))
		w.ack(d)
		return
	}
	for attempt := 1; attempt <= 6; attempt++ {
		if d.Attempt() != attempt || d.ID() != all[0] {
			w.Errorf("attempt %d of %v, want %d of %v", d.Attempt(), d.ID(), attempt, all[0])
		}
		if err := d.Nack(w.ctx, 0); err != nil {
			w.Fatalf("nack: %v", err)
		}
		w.is("ack after nack", d.Ack(w.ctx), kmq.ErrSettled)
		d = w.one(q)
	}
	w.ack(d)
	w.nothing(q)
}

func releasedLater(w *world) {
	w.produce(2)
	q := w.open()
	ds := w.receive(q, 2)
	if !w.can.release {
		w.unsupported("nack", ds[0].Nack(w.ctx, time.Second))
		return
	}
	const delay = 1500 * time.Millisecond
	released := time.Now()
	if err := ds[0].Nack(w.ctx, delay); err != nil {
		w.Fatalf("nack: %v", err)
	}
	w.ack(ds[1])
	d := w.one(q)
	if waited := time.Since(released); waited < delay {
		w.Errorf("it came again after %v, before its delay of %v", waited, delay)
	}
	if d.ID() != ds[0].ID() || d.Attempt() != 2 {
		w.Errorf("attempt %d of %v came, want 2 of %v", d.Attempt(), d.ID(), ds[0].ID())
	}
	w.ack(d)
	w.nothing(q)
	if s := q.Stats(); s.Expired != 0 {
		w.Errorf("a delay that is over counts as expired: %+v", s)
	}
}

func expires(w *world) {
	const lent = 2 * time.Second
	if !w.can.lend {
		_, err := kmq.Open(w.ctx, w.config(lendFor(lent)))
		w.is("open with a visibility", err, kmq.ErrConfig)
		w.produce(1)
		if d := w.one(w.open()); !d.Deadline().IsZero() {
			w.Errorf("it is lent until %v, by an engine without locks", d.Deadline())
		}
		return
	}
	w.produce(1)
	q := w.open(lendFor(lent), w.withDead)
	first := w.one(q)
	if left := time.Until(first.Deadline()); left > lent || left < -patience {
		w.Errorf("it is lent for another %v of %v", left, lent)
	}
	second := w.one(q)
	if early := time.Until(first.Deadline()); early > 0 {
		w.Errorf("it came again %v before its deadline", early)
	}
	if second.ID() != first.ID() || second.Attempt() != 2 {
		w.Errorf("attempt %d of %v came, want 2 of %v", second.Attempt(), second.ID(), first.ID())
	}
	w.is("a late ack", first.Ack(w.ctx), kmq.ErrExpired)
	w.is("a late nack", first.Nack(w.ctx, 0), kmq.ErrExpired)
	w.is("a late extension", first.Extend(w.ctx, time.Second), kmq.ErrExpired)
	w.is("a late rejection", first.Reject(w.ctx, "no"), kmq.ErrExpired)
	w.ack(second)
	w.nothing(q)
	if s := q.Stats(); s.Expired != 1 || s.Redelivered != 1 {
		w.Errorf("one lock ran out: %+v", s)
	}
}

func extended(w *world) {
	w.produce(1)
	if !w.can.lend {
		w.unsupported("extend", w.one(w.open()).Extend(w.ctx, time.Second))
		return
	}
	const lent, longer = 3 * time.Second, 8 * time.Second
	q := w.open(lendFor(lent))
	d := w.one(q)
	was := d.Deadline()
	if err := d.Extend(w.ctx, longer); err != nil {
		w.Fatalf("extend: %v", err)
	}
	if left := time.Until(d.Deadline()); left > longer || left < longer-lent {
		w.Errorf("after an extension to %v it is lent for %v", longer, left)
	}
	ctx, cancel := context.WithDeadline(w.ctx, was.Add(moment))
	defer cancel()
	if ds, err := q.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		w.Errorf("receive: %d records and %v, while the lock is extended", len(ds), err)
	}
	w.ack(d)
	w.nothing(q)
}

func rejected(w *world) {
	at := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	all := w.produce(3, func(_ int, r *kgo.Record) {
		r.Key, r.Timestamp, r.Headers = []byte("key"), at, []kgo.RecordHeader{{Key: "own", Value: []byte("1")}}
	})
	q := w.open(w.withDead)
	ds := w.receive(q, 3)
	reason := "no such account" + strings.Repeat("!", 2000)
	if err := ds[1].Reject(w.ctx, reason); err != nil {
		w.Fatalf("reject: %v", err)
	}
	dead := w.deadLetters(1)[0]
	got := make(map[string]string)
	for _, h := range dead.Headers {
		got[h.Key] = string(h.Value)
	}
	want := map[string]string{
		"own": "1", "kmq-topic": w.topic, "kmq-group": w.group, "kmq-reason": reason[:1024], "kmq-deliveries": "1",
		"kmq-origin": ds[1].ID().String(), "kmq-timestamp": at.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
	}
	if !maps.Equal(got, want) {
		w.Errorf("a dead letter's headers: %q, want %q", got, want)
	}
	if string(dead.Key) != "key" || !slices.Equal(dead.Value, ds[1].Record.Value) || !dead.Timestamp.After(at) {
		w.Errorf("a dead letter: key %q, value %q of %v", dead.Key, dead.Value, dead.Timestamp)
	}
	w.ack(ds[0], ds[2])
	w.flush(q)
	w.close(q)
	w.nothing(w.open(w.withDead))
	_ = all
}

func givenUp(w *world) {
	const deliveries = 3
	limit := func(c *kmq.Config) { c.MaxDeliveries = deliveries }
	if !w.can.limit {
		w.givenUpByRun(deliveries)
		return
	}
	w.produce(2)
	q := w.open(w.withDead, limit)
	count := make(map[kmq.ID]int)
	for range 2 * deliveries {
		d := w.one(q)
		if count[d.ID()]++; d.Attempt() != count[d.ID()] {
			w.Errorf("delivery %d of %v is attempt %d", count[d.ID()], d.ID(), d.Attempt())
		}
		if err := d.Nack(w.ctx, 0); err != nil {
			w.Fatalf("nack: %v", err)
		}
	}
	for _, r := range w.deadLetters(2) {
		for _, h := range r.Headers {
			if h.Key == "kmq-deliveries" && string(h.Value) != "3" {
				w.Errorf("a dead letter was delivered %s times, want %d", h.Value, deliveries)
			}
		}
	}
	w.nothing(q)
	if n := q.Stats().DeadLettered; n != 2 {
		w.Errorf("%d are counted as dead letters, want 2", n)
	}
	w.close(q)
	w.nothing(w.open())
}

// givenUpByRun is for an engine that cannot release a record: Run counts the attempts.
func (w *world) givenUpByRun(deliveries int) {
	w.produce(1)
	q := w.open(w.withDead, func(c *kmq.Config) {
		c.MaxDeliveries, c.Retry = deliveries, kmq.Exponential(time.Millisecond, time.Millisecond)
	})
	ctx, cancel := context.WithCancel(w.ctx)
	defer cancel()
	ran := make(chan error, 1)
	go func() {
		ran <- q.Run(ctx, func(context.Context, kmq.Delivery) error { return errors.New("hopeless") }, kmq.RunConfig{})
	}()
	dead := w.deadLetters(1)[0]
	if n, why := header(dead, "kmq-deliveries"), header(dead, "kmq-error"); string(n) != fmt.Sprint(deliveries) || string(why) != "hopeless" {
		w.Errorf("a dead letter was delivered %s times, with the error %q", n, why)
	}
	cancel()
	w.is("run", <-ran, nil)
}

// Ready records wait for longer than their locks last. That does not count as a delivery.
func unseen(w *world) {
	const lent = 2 * time.Second
	all := w.produce(12)
	with := []func(*kmq.Config){w.withDead}
	if w.can.lend {
		with = append(with, lendFor(lent))
	}
	if w.can.limit {
		with = append(with, func(c *kmq.Config) { c.MaxDeliveries = 2 })
	}
	q := w.open(with...)
	var got []kmq.ID
	take := func(d kmq.Delivery) {
		if d.Attempt() != 1 {
			w.Errorf("the first delivery of %v is attempt %d", d.ID(), d.Attempt())
		}
		w.ack(d)
		got = append(got, d.ID())
	}
	take(w.one(q))
	time.Sleep(4 * lent)
	for range all[1:] {
		take(w.one(q))
	}
	w.same("received", got, all)
	w.deadLetters(0)
	if s := q.Stats(); s.DeadLettered != 0 || s.Redelivered != 0 {
		w.Errorf("nothing was delivered twice: %+v", s)
	}
}

func rejectedLarge(w *world) {
	value := bytes.Repeat([]byte("much the same, "), 200_000)
	producer := w.newClient(kgo.ProducerBatchMaxBytes(16<<20), kgo.ProducerBatchCompression(kgo.GzipCompression()))
	if err := producer.ProduceSync(w.ctx, &kgo.Record{Topic: w.topic, Value: value}).FirstErr(); err != nil {
		w.Fatal(err)
	}
	q := w.open(w.withDead)
	ctx, cancel := context.WithTimeout(w.ctx, patience/3)
	defer cancel()
	if err := w.one(q).Reject(ctx, "no"); err != nil {
		w.Fatalf("reject: %v", err)
	}
	if dead := w.deadLetters(1)[0]; !bytes.Equal(dead.Value, value) {
		w.Errorf("the dead letter has %d bytes, of %d", len(dead.Value), len(value))
	}
}
