package kmqtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/kmqtest"
)

var errNotNow = errors.New("not now")

// hourly has a backoff of at most an hour.
var hourly kmq.Retry = func(int, error) time.Duration { return time.Hour }

// inBubble runs a test in virtual time. It fails if goroutines remain after the cleanup.
func inBubble(t *testing.T, name string, test func(t *testing.T)) {
	t.Run(name, func(t *testing.T) { synctest.Test(t, test) })
}

func numbered(n int) []*kgo.Record {
	out := make([]*kgo.Record, n)
	for i := range out {
		out[i] = &kgo.Record{Value: fmt.Append(nil, i)}
	}
	return out
}

func values(records []*kgo.Record) string {
	var out []string
	for _, r := range records {
		out = append(out, string(r.Value))
	}
	return strings.Join(out, " ")
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

func run(t *testing.T, q *kmqtest.Queue, handle kmq.Handler, cfg kmq.RunConfig) {
	t.Helper()
	if err := q.RunUntilIdle(handle, cfg); err != nil {
		t.Errorf("run: %v", err)
	}
}

func TestRunUntilIdle(t *testing.T) {
	inBubble(t, "a handler fails twice, an hour apart", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{Retry: hourly})
		q.Produce(numbered(1)...)
		var attempts []int
		var at []time.Time
		run(t, q, func(_ context.Context, d kmq.Delivery) error {
			attempts, at = append(attempts, d.Attempt()), append(at, time.Now())
			if len(attempts) < 3 {
				return errNotNow
			}
			return nil
		}, kmq.RunConfig{})
		if !slices.Equal(attempts, []int{1, 2, 3}) || at[2].Sub(at[0]) > 2*time.Hour || at[2].Equal(at[0]) {
			t.Errorf("attempts %v at %v", attempts, at)
		}
		if got := values(q.Acked()); got != "0" || len(q.DeadLetters()) > 0 {
			t.Errorf("acknowledged %q, dead %q", got, values(q.DeadLetters()))
		}
	})
	inBubble(t, "a handler rejects", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{Topic: "orders", Group: "billing"})
		produced := &kgo.Record{Key: []byte("k"), Partition: 3, Value: []byte("v"), Headers: []kgo.RecordHeader{{Key: "own"}}}
		q.Produce(&kgo.Record{Partition: 3}, produced)
		run(t, q, func(_ context.Context, d kmq.Delivery) error {
			if d.ID().Offset == 0 {
				return nil
			}
			return fmt.Errorf("charge: %w", kmq.Reject{Reason: "no such customer"})
		}, kmq.RunConfig{})
		if len(q.DeadLetters()) != 1 || len(q.Acked()) != 1 {
			t.Fatalf("acknowledged %q, dead %q", values(q.Acked()), values(q.DeadLetters()))
		}
		dead := q.DeadLetters()[0]
		if dead.Topic != "orders.billing.dead" || dead.Partition != 3 || string(dead.Key) != "k" || string(dead.Value) != "v" {
			t.Errorf("the dead letter is %+v", dead)
		}
		for key, want := range map[string]string{
			"kmq-origin": "3@1", "kmq-topic": "orders", "kmq-group": "billing", "kmq-deliveries": "1",
			"kmq-reason": "no such customer", "kmq-timestamp": "2000-01-01T00:00:00.000Z",
		} {
			if got := header(dead, key); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
	})
	inBubble(t, "a record is given up", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{MaxDeliveries: 3, Retry: hourly})
		q.Produce(numbered(2)...)
		calls := 0
		run(t, q, func(_ context.Context, d kmq.Delivery) error {
			calls++
			return fmt.Errorf("failure %d", d.Attempt())
		}, kmq.RunConfig{Workers: 1})
		dead := q.DeadLetters()
		if calls != 6 || len(dead) != 2 || len(q.Acked()) != 0 {
			t.Fatalf("%d calls, %d dead letters, %d acknowledged", calls, len(dead), len(q.Acked()))
		}
		for _, r := range dead {
			attempts := strings.Split(header(r, "kmq-attempts"), "\n")
			if header(r, "kmq-reason") != "delivered 3 times" || header(r, "kmq-deliveries") != "3" ||
				header(r, "kmq-error") != "failure 3" || len(attempts) != 3 {
				t.Errorf("the headers are %q", r.Headers)
			}
		}
		if s := q.Stats(); s.Delivered != 6 || s.Redelivered != 4 || s.Nacked != 6 || s.DeadLettered != 2 || s.InFlight != 0 {
			t.Errorf("the counters are %+v", s)
		}
	})
	inBubble(t, "a handler panics", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(1)...)
		run(t, q, func(_ context.Context, d kmq.Delivery) error {
			if d.Attempt() == 1 {
				panic("a mistake")
			}
			return nil
		}, kmq.RunConfig{})
		if got := values(q.Acked()); got != "0" {
			t.Errorf("acknowledged %q", got)
		}
	})
	inBubble(t, "a panic ends the run", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(1)...)
		defer func() {
			if _, is := recover().(*kmq.HandlerPanic); !is {
				t.Error("Run does not panic")
			}
		}()
		_ = q.RunUntilIdle(func(context.Context, kmq.Delivery) error { panic("a mistake") }, kmq.RunConfig{OnPanic: kmq.Crash})
	})
	inBubble(t, "a handler takes too long", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(1)...)
		start := time.Now()
		run(t, q, func(ctx context.Context, d kmq.Delivery) error {
			if d.Attempt() > 1 {
				return nil
			}
			<-ctx.Done()
			if took := time.Since(start); took != 10*time.Minute || !errors.Is(context.Cause(ctx), kmq.ErrExpired) {
				t.Errorf("the context ended with %v after %v", context.Cause(ctx), took)
			}
			return ctx.Err()
		}, kmq.RunConfig{Timeout: 10 * time.Minute})
		if got := values(q.Acked()); got != "0" {
			t.Errorf("acknowledged %q", got)
		}
	})
	inBubble(t, "a handler produces, and a queue runs twice", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(1)...)
		handle := func(_ context.Context, d kmq.Delivery) error {
			if string(d.Record.Value) == "0" {
				q.Produce(&kgo.Record{Value: []byte("more")})
			}
			return nil
		}
		run(t, q, handle, kmq.RunConfig{})
		run(t, q, handle, kmq.RunConfig{})
		q.Produce(numbered(1)...)
		run(t, q, handle, kmq.RunConfig{Workers: 1})
		if got := values(q.Acked()); got != "0 more 0 more" && got != "more 0 0 more" {
			t.Errorf("acknowledged %q", got)
		}
	})
	inBubble(t, "a mistake in the configuration", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(1)...)
		if err := q.RunUntilIdle(nil, kmq.RunConfig{}); !errors.Is(err, kmq.ErrConfig) {
			t.Errorf("run: %v", err)
		}
	})
}

// Records of one key or partition are handled one at a time, in their order: none begins before the one before it is
// acknowledged or a dead letter.
func TestOrder(t *testing.T) {
	for _, order := range []kmq.Order{kmq.ByKey, kmq.ByPartition} {
		inBubble(t, string(order), func(t *testing.T) {
			const lines, records, most = 3, 60, 3
			retry := kmq.Exponential(time.Minute, time.Minute)
			q := kmqtest.Open(t, kmqtest.Config{Order: order, MaxInFlight: 5, MaxDeliveries: most, Retry: retry})
			fails := func(offset int64) int { return int(offset % (most + 1)) }
			for i := range records {
				q.Produce(&kgo.Record{Partition: int32(i % lines), Key: fmt.Append(nil, i%lines), Value: fmt.Append(nil, i)})
			}
			var mu sync.Mutex
			running, got, together := make(map[int32]bool), make(map[int32][]int64), 0
			run(t, q, func(_ context.Context, d kmq.Delivery) error {
				line := d.ID().Partition
				mu.Lock()
				if running[line] {
					t.Errorf("two records of line %d at a time", line)
				}
				running[line], got[line] = true, append(got[line], d.ID().Offset)
				together = max(together, len(running))
				mu.Unlock()
				time.Sleep(time.Minute)
				mu.Lock()
				delete(running, line)
				mu.Unlock()
				if d.Attempt() <= fails(d.ID().Offset) {
					return errNotNow
				}
				return nil
			}, kmq.RunConfig{})
			var want []int64
			for offset := range int64(records / lines) {
				want = append(want, slices.Repeat([]int64{offset}, min(fails(offset)+1, most))...)
			}
			for line, offsets := range got {
				if !slices.Equal(offsets, want) {
					t.Errorf("line %d was handled as %v, want %v", line, offsets, want)
				}
			}
			dead := records / (most + 1)
			if together != lines || len(q.Acked()) != records-dead || len(q.DeadLetters()) != dead {
				t.Errorf("%d records at a time, %d acknowledged, %d dead letters", together, len(q.Acked()), len(q.DeadLetters()))
			}
		})
	}
}

// When the context of Run ends, handlers may go on for Shutdown, and the others' records are given back.
func TestShutdown(t *testing.T) {
	inBubble(t, "by the context", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(3)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := q.Run(ctx, func(ctx context.Context, d kmq.Delivery) error {
			if string(d.Record.Value) == "0" {
				time.Sleep(5 * time.Second)
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}, kmq.RunConfig{Workers: 2, Shutdown: 10 * time.Second})
		if took := time.Since(start); err != nil || took != 11*time.Second {
			t.Errorf("run: %v after %v", err, took)
		}
		if got := values(q.Acked()); got != "0" {
			t.Errorf("acknowledged %q", got)
		}
		run(t, q, func(_ context.Context, d kmq.Delivery) error {
			if d.Attempt() != 1 {
				t.Errorf("%s is attempt %d", d.Record.Value, d.Attempt())
			}
			return nil
		}, kmq.RunConfig{Workers: 1})
		if got := values(q.Acked()); got != "0 1 2" {
			t.Errorf("acknowledged %q", got)
		}
	})
	inBubble(t, "by Close", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(2)...)
		ds, err := q.Receive(t.Context(), 2)
		if err != nil || len(ds) != 2 {
			t.Fatalf("receive: %d records, %v", len(ds), err)
		}
		if err := errors.Join(ds[0].Ack(t.Context()), q.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		if err := ds[1].Ack(t.Context()); !errors.Is(err, kmq.ErrClosed) || !errors.Is(err, kmq.ErrLost) {
			t.Errorf("ack: %v", err)
		}
		if _, err := q.Receive(t.Context(), 1); !errors.Is(err, kmq.ErrClosed) {
			t.Errorf("receive: %v", err)
		}
		if s := q.Stats(); s.Lost != 1 || s.Acked != 1 {
			t.Errorf("the counters are %+v", s)
		}
	})
}

// A handler is called with a single delivery, and its outcome is visible.
func TestDelivery(t *testing.T) {
	type key struct{}
	record := &kgo.Record{Topic: "orders", Partition: 2, Offset: 7, Value: []byte("v"), Context: context.WithValue(t.Context(), key{}, "b")}
	for _, c := range []struct {
		name   string
		handle kmq.Handler
		want   kmqtest.Outcome
	}{
		{"nothing", func(context.Context, kmq.Delivery) error { return nil }, kmqtest.Outcome{}},
		{"ack", func(ctx context.Context, d kmq.Delivery) error { return d.Ack(ctx) }, kmqtest.Outcome{Acked: true}},
		{"nack", func(ctx context.Context, d kmq.Delivery) error { return d.Nack(ctx, time.Hour) },
			kmqtest.Outcome{Nacked: true, Delay: time.Hour}},
		{"reject", func(ctx context.Context, d kmq.Delivery) error { return d.Reject(ctx, "no") },
			kmqtest.Outcome{Rejected: true, Reason: "no"}},
		{"extend and ack", func(ctx context.Context, d kmq.Delivery) error {
			err := d.Extend(ctx, time.Minute)
			time.Sleep(59 * time.Second)
			return errors.Join(err, d.Ack(ctx))
		}, kmqtest.Outcome{Acked: true, Extended: time.Minute}},
	} {
		inBubble(t, c.name, func(t *testing.T) {
			d := kmqtest.Delivery(record)
			if d.ID() != (kmq.ID{Partition: 2, Offset: 7}) || d.Attempt() != 1 || string(d.Record.Value) != "v" ||
				!d.Deadline().Equal(time.Now().Add(30*time.Second)) || d.Record.Context.Value(key{}) != "b" {
				t.Errorf("the delivery is %v, attempt %d, until %v: %+v", d.ID(), d.Attempt(), d.Deadline(), d.Record)
			}
			if err := c.handle(t.Context(), d); err != nil {
				t.Error(err)
			}
			if got := kmqtest.Settled(d); got != c.want {
				t.Errorf("the outcome is %+v, want %+v", got, c.want)
			}
			err := d.Reject(t.Context(), "late")
			if open := c.want == (kmqtest.Outcome{}); open && err != nil || !open && !errors.Is(err, kmq.ErrSettled) {
				t.Errorf("the next call: %v", err)
			}
		})
	}
	inBubble(t, "too late", func(t *testing.T) {
		d := kmqtest.Delivery(record)
		time.Sleep(30 * time.Second)
		if err := d.Ack(t.Context()); !errors.Is(err, kmq.ErrExpired) || kmqtest.Settled(d) != (kmqtest.Outcome{}) {
			t.Errorf("ack: %v, %+v", err, kmqtest.Settled(d))
		}
	})
	inBubble(t, "of a queue", func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{})
		q.Produce(numbered(1)...)
		run(t, q, func(ctx context.Context, d kmq.Delivery) error {
			if err := d.Ack(ctx); err != nil || kmqtest.Settled(d) != (kmqtest.Outcome{}) {
				t.Errorf("ack: %v, %+v", err, kmqtest.Settled(d))
			}
			return nil
		}, kmq.RunConfig{})
	})
}

// The methods of a Delivery that a program made itself do not panic.
func TestDeliveryWithoutQueue(t *testing.T) {
	d, ctx := kmq.Delivery{Record: numbered(1)[0]}, t.Context()
	for name, err := range map[string]error{
		"ack": d.Ack(ctx), "nack": d.Nack(ctx, 0), "extend": d.Extend(ctx, time.Second), "reject": d.Reject(ctx, "no"),
	} {
		if err == nil || !strings.Contains(err.Error(), "kmqtest.Delivery") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if d.ID() != (kmq.ID{}) || d.Attempt() != 0 || !d.Deadline().IsZero() || kmqtest.Settled(d) != (kmqtest.Outcome{}) {
		t.Errorf("it is %v, attempt %d, until %v", d.ID(), d.Attempt(), d.Deadline())
	}
}

// No more than MaxInFlight records are delivered and not settled.
func TestMaxInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := kmqtest.Open(t, kmqtest.Config{MaxInFlight: 3})
		q.Produce(numbered(5)...)
		ds, err := q.Receive(t.Context(), 5)
		if err != nil || len(ds) != 3 || q.Stats().InFlight != 3 {
			t.Fatalf("receive: %d records, %v", len(ds), err)
		}
		start := time.Now()
		time.AfterFunc(time.Second, func() { _ = ds[0].Ack(t.Context()) })
		ds, err = q.Receive(t.Context(), 5)
		if err != nil || len(ds) != 1 || time.Since(start) != time.Second {
			t.Errorf("receive: %d records after %v, %v", len(ds), time.Since(start), err)
		}
	})
}
