package kmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestMiddlewareWrapsFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		ctx, cancel := context.WithCancel(t.Context())
		var said []string
		say := func(name string) Middleware {
			return func(next Handler) Handler {
				return func(ctx context.Context, d Delivery) error {
					said = append(said, name+" begins")
					defer func() { said = append(said, name+" ends") }()
					return next(ctx, d)
				}
			}
		}
		err := m.queue(t, nil).Run(ctx, func(context.Context, Delivery) error {
			said = append(said, "handler")
			cancel()
			return nil
		}, RunConfig{Workers: 1, Middleware: []Middleware{say("first"), say("second")}})
		want := []string{"first begins", "second begins", "handler", "second ends", "first ends"}
		if err != nil || !slices.Equal(said, want) || m.said() != "ack 0" {
			t.Errorf("run: %v; %q; %q", err, said, m.said())
		}
	})
}

func TestJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type order struct{ Drink string }
		records := numbered(3)
		for i, value := range []string{`{"Drink": "tea"}`, `{"Drink": 7}`, `{"Drink": "stew"}`} {
			records[i].Value = []byte(value)
		}
		m := newMemory(records...)
		ctx, cancel := context.WithCancel(t.Context())
		err := m.queue(t, nil).Run(ctx, JSON(func(_ context.Context, o order) error {
			if o.Drink == "stew" {
				defer cancel()
				return Reject{"not a drink"}
			}
			return nil
		}), RunConfig{Workers: 1})
		const want = "ack 0, reject the value is not the JSON of a kmq.order: json: cannot unmarshal number into Go struct field order.Drink of type string 1, reject not a drink 2"
		if err != nil || m.said() != want {
			t.Errorf("run: %v; %s", err, m.said())
		}
	})
}

// An attempt that asks for the record again has no other delay, does not count, and is no failure.
func TestAfterIsNotCountedWhereNothingCanBeReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		m.unsupported = true
		q := m.queue(t, Plain{})
		q.most = 2
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		var calls []string
		start := time.Now()
		_ = q.Run(ctx, func(_ context.Context, d Delivery) error {
			calls = append(calls, fmt.Sprint(time.Since(start), " ", d.Attempt()))
			switch len(calls) {
			case 1, 2:
				return After(time.Minute)
			case 3:
				return After(-time.Minute) // at once
			}
			return errors.New("not now")
		}, RunConfig{Workers: 1})
		if want := []string{"0s 1", "1m0s 1", "2m0s 1", "2m0s 1", "2m1s 2"}; !slices.Equal(calls, want) || m.said() != "reject delivered 2 times 0" {
			t.Errorf("%q; it did %q", calls, m.said())
		}
		if f := q.Stats().Failures; f != (Failures{Errors: 2}) {
			t.Errorf("failures: %+v", f)
		}
	})
}

// The policy has the error that failed the attempt.
func TestRetryMayDependOnTheError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(2)...)
		q := m.queue(t, nil)
		busy := errors.New("busy")
		q.retry = func(attempt int, err error) time.Duration {
			if errors.Is(err, busy) {
				return time.Duration(attempt) * time.Minute
			}
			return -1
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		_ = q.Run(ctx, func(_ context.Context, d Delivery) error {
			switch {
			case d.Attempt() > 1:
				return nil
			case d.ID().Offset == 0:
				return fmt.Errorf("the bank is %w", busy)
			}
			return errors.New("not now")
		}, RunConfig{Workers: 1})
		if want := "nack 1m0s 0, nack 0s 1, ack 1, ack 0"; m.said() != want {
			t.Errorf("it did %q, want %q", m.said(), want)
		}
	})
}

func TestStatsOfHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(5)...)
		q := m.queue(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		err := q.Run(ctx, func(ctx context.Context, d Delivery) error {
			switch offset := d.ID().Offset; {
			case d.Attempt() > 1:
				return nil
			case offset == 0:
				time.Sleep(30 * time.Millisecond)
				return errors.New("not now")
			case offset == 1:
				panic("oh")
			case offset == 2:
				<-ctx.Done()
				return ctx.Err()
			case offset == 3:
				return Reject{"no"}
			}
			return After(time.Second)
		}, RunConfig{Workers: 1, Timeout: 20 * time.Second}) // seen at the next full second
		s := q.Stats()
		if want := (Failures{Errors: 1, Panics: 1, Timeouts: 1, Rejections: 1}); err != nil || s.Failures != want {
			t.Errorf("run: %v; %+v, want %+v", err, s.Failures, want)
		}
		var calls int64
		for i, n := range s.Handlers.Counts {
			calls += n
			if i < len(s.Handlers.Bounds()) && (s.Handlers.Bounds()[i] == 50*time.Millisecond || s.Handlers.Bounds()[i] == 30*time.Second) && n != 1 {
				t.Errorf("%d calls of at most %v", n, s.Handlers.Bounds()[i])
			}
		}
		if want := 21 * time.Second; calls != 9 || s.Handlers.Sum != want {
			t.Errorf("%d calls of %v, want 9 of %v", calls, s.Handlers.Sum, want)
		}
	})
}

func TestNilMiddleware(t *testing.T) {
	err := newMemory().queue(t, nil).Run(t.Context(), func(context.Context, Delivery) error { return nil }, RunConfig{Middleware: []Middleware{nil}})
	if !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), "Middleware has a nil") {
		t.Error(err)
	}
}
