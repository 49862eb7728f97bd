package kmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// A batch begins when it is full, or when its first record has waited long enough.
func TestBatchesBegin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(5)...)
		ctx, cancel := context.WithCancel(t.Context())
		start := time.Now()
		var mu sync.Mutex
		var said []string
		err := m.queue(t, nil).RunBatch(ctx, func(ctx context.Context, batch []Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			said = append(said, fmt.Sprint(time.Since(start), " ", len(batch)))
			if len(said) == 2 {
				cancel()
			}
			return nil
		}, BatchConfig{RunConfig: RunConfig{Workers: 2}, Size: 3, Wait: time.Second})
		if want := []string{"0s 3", "1s 2"}; err != nil || !slices.Equal(said, want) || strings.Count(m.said(), "ack") != 5 {
			t.Errorf("run: %v; %q; it did %q", err, said, m.said())
		}
	})
}

func TestResultsOfABatch(t *testing.T) {
	notNow := errors.New("not now")
	for _, c := range []struct {
		name   string
		result func(batch []Delivery) error
		want   []string // sorted
	}{
		{"all succeed", func([]Delivery) error { return nil }, []string{"ack 0", "ack 1", "ack 2"}},
		{"all fail", func([]Delivery) error { return notNow }, []string{"nack 1s 0", "nack 1s 1", "nack 1s 2"}},
		{"all are rejected", func([]Delivery) error { return Reject{"no"} }, []string{"reject no 0", "reject no 1", "reject no 2"}},
		{"all panic", func([]Delivery) error { panic("oh") }, []string{"nack 1s 0", "nack 1s 1", "nack 1s 2"}},
		{"each has its own", func(batch []Delivery) error {
			failed := Failed{}
			for i, d := range batch {
				switch d.ID().Offset {
				case 0:
					failed[i] = notNow
				case 1:
					failed[i] = Reject{"no"}
				}
			}
			return fmt.Errorf("look here: %w", failed)
		}, []string{"ack 2", "nack 1s 0", "reject no 1"}},
		{"the handler settles one", func(batch []Delivery) error {
			for _, d := range batch {
				if d.ID().Offset == 1 {
					_ = d.Nack(context.Background(), time.Minute)
				}
			}
			return nil
		}, []string{"ack 0", "ack 2", "nack 1m0s 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(numbered(3)...)
				ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
				defer cancel()
				err := m.queue(t, nil).RunBatch(ctx, func(_ context.Context, batch []Delivery) error { return c.result(batch) },
					BatchConfig{RunConfig: RunConfig{Workers: 1}, Size: 3})
				m.timers.Wait()
				if log := strings.Split(m.said(), ", "); err != nil || !slices.Equal(slices.Sorted(slices.Values(log)), c.want) {
					t.Errorf("run: %v; it did %q, want %q", err, log, c.want)
				}
			})
		})
	}
}

// No more than Workers handlers run, however small the batches are. Records that wait gather in one batch.
func TestBatchesWaitForEachOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		ctx, cancel := context.WithCancel(t.Context())
		var running, most atomic.Int32
		var sizes []int
		go func() {
			for _, r := range numbered(6)[1:] {
				time.Sleep(2 * time.Second)
				m.put(lease.FromRecord(r))
			}
		}()
		err := m.queue(t, nil).RunBatch(ctx, func(ctx context.Context, batch []Delivery) error {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			sizes = append(sizes, len(batch))
			time.Sleep(time.Minute)
			if len(sizes) > 1 {
				cancel()
			}
			return nil
		}, BatchConfig{RunConfig: RunConfig{Workers: 1}, Size: 10})
		if err != nil || most.Load() != 1 || !slices.Equal(sizes, []int{1, 5}) {
			t.Errorf("run: %v; %d handlers ran at once, with %v records", err, most.Load(), sizes)
		}
	})
}

// A batch that is not full when the run ends is given back in time, and no handler gets it afterwards.
func TestAnOpenBatchEndsWithItsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(2)...)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := m.queue(t, nil).RunBatch(ctx, func(context.Context, []Delivery) error {
			t.Error("the handler got a batch")
			return nil
		}, BatchConfig{RunConfig: RunConfig{Shutdown: time.Second}, Size: 10, Wait: time.Minute})
		if took := time.Since(start); err != nil || took != 2*time.Second {
			t.Errorf("run: %v after %v", err, took)
		}
		time.Sleep(time.Hour)
		m.timers.Wait()
	})
}

// The context of a batch ends with that of one of its deliveries; what that does to the others depends on the cause.
func TestContextOfABatch(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   func(q *Queue, m *memory, run context.CancelFunc)
		at    time.Duration
		cause error
		want  []string
		fails int64
	}{
		{"it takes too long", func(*Queue, *memory, context.CancelFunc) {}, 5 * time.Second, ErrExpired, []string{"nack 1s 0", "nack 1s 1"}, 2},
		{"the queue of all is stopped", func(_ *Queue, _ *memory, stop context.CancelFunc) { stop() }, 3 * time.Second, ErrClosed, []string{"nack 0s 0", "nack 0s 1"}, 0},
		{"one is lost", func(_ *Queue, m *memory, _ context.CancelFunc) { m.set.Interrupt([]int32{1}) }, time.Second, ErrLost, []string{"nack 0s 0", "nack 0s 1"}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				records := numbered(2)
				records[1].Partition = 1
				m := newMemory(records...)
				q := m.queue(t, nil)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, func() { c.end(q, m, cancel) })
				start := time.Now()
				err := q.RunBatch(ctx, func(ctx context.Context, batch []Delivery) error {
					<-ctx.Done()
					if took := time.Since(start); took != c.at || !errors.Is(context.Cause(ctx), c.cause) || len(batch) != 2 {
						t.Errorf("%d deliveries ended after %v: %v", len(batch), took, context.Cause(ctx))
					}
					cancel()
					return ctx.Err()
				}, BatchConfig{RunConfig: RunConfig{Workers: 1, Timeout: 5 * time.Second, Shutdown: 2 * time.Second}, Size: 2})
				m.timers.Wait()
				if log := strings.Split(m.said(), ", "); err != nil || !slices.Equal(slices.Sorted(slices.Values(log)), c.want) {
					t.Errorf("run: %v; it did %q, want %q", err, log, c.want)
				}
				if f := q.Stats().Failures; f.Errors+f.Timeouts != c.fails {
					t.Errorf("failures: %+v", f)
				}
			})
		})
	}
}

// With Crash, RunBatch panics with the panic of the batch's handler.
func TestACrashOfABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(2)...)
		q := m.queue(t, nil)
		defer func() {
			p, ok := recover().(*HandlerPanic)
			m.timers.Wait()
			if !ok || p.Value != "oh" || !strings.Contains(string(p.Stack), "TestACrashOfABatch") {
				t.Errorf("it panicked with %v", p)
			}
		}()
		_ = q.RunBatch(t.Context(), func(context.Context, []Delivery) error { panic("oh") },
			BatchConfig{RunConfig: RunConfig{Workers: 1, OnPanic: Crash}, Size: 2})
		t.Error("it returned")
	})
}

func TestRunBatchIsAskedForWhatThereIs(t *testing.T) {
	q := newMemory().queue(t, nil)
	none := func(context.Context, []Delivery) error { return nil }
	for what, err := range map[string]error{
		"no handler":             q.RunBatch(t.Context(), nil, BatchConfig{}),
		"too few workers":        q.RunBatch(t.Context(), none, BatchConfig{RunConfig: RunConfig{Workers: -1}}),
		"too many records":       q.RunBatch(t.Context(), none, BatchConfig{Size: MaxWorkers}),
		"no time":                q.RunBatch(t.Context(), none, BatchConfig{Wait: -1}),
		"too long a Shutdown":    q.RunBatch(t.Context(), none, BatchConfig{RunConfig: RunConfig{Shutdown: 13 * time.Hour}}),
		"too many of both":       q.RunBatch(t.Context(), none, BatchConfig{RunConfig: RunConfig{Workers: 1000}, Size: 1000}),
		"too many workers alone": q.RunBatch(t.Context(), none, BatchConfig{RunConfig: RunConfig{Workers: MaxWorkers + 1}}),
	} {
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
}
