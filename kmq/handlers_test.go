package kmq

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// When Run's context ends, its handlers may go on for Shutdown. Then their contexts end, and 5 s later Run returns,
// whatever they do.
func TestShutdownAlwaysEnds(t *testing.T) {
	for _, c := range []struct {
		name  string
		heeds bool
		took  time.Duration
		want  string // in the error
		log   string
	}{
		{"a handler that heeds its context", true, 21 * time.Second, "", "nack 0s 0"},
		{"a handler that hangs", false, 26 * time.Second, "kmq: 1 handlers ignore that their contexts have ended", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(numbered(1)...)
				q := m.queue(t, Markers{})
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				start, hang := time.Now(), make(chan struct{})
				ended := make(chan time.Duration, 1)
				err := q.Run(ctx, func(ctx context.Context, _ Delivery) error {
					<-ctx.Done()
					ended <- time.Since(start)
					if !errors.Is(context.Cause(ctx), ErrClosed) {
						t.Errorf("the cause is %v", context.Cause(ctx))
					}
					if !c.heeds {
						<-hang
					}
					return ctx.Err()
				}, RunConfig{})
				if took := time.Since(start); took != c.took || <-ended != 21*time.Second || (err == nil) != (c.want == "") ||
					err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("run: %v after %v", err, took)
				}
				if log := m.said(); log != c.log {
					t.Errorf("it did %q", log)
				}
				close(hang)
				synctest.Wait()
			})
		})
	}
}

// A handler's context ends when the record is no longer its own, and the cause says why.
func TestContextsEnd(t *testing.T) {
	for _, c := range []struct {
		name string
		kind Engine
		end  func(q *Queue, m *memory)
		at   time.Duration
		want error
		log  string
	}{
		{"after Timeout", Markers{}, func(*Queue, *memory) {}, 2 * time.Minute, ErrExpired, "expire 0, ack 0"},
		{"after Timeout, without locks", Plain{}, func(*Queue, *memory) {}, 2 * time.Minute, ErrExpired, "ack 0"},
		{"with the partition", OffsetMap{}, func(_ *Queue, m *memory) { m.lose() }, time.Second, ErrLost, "lose 0"},
		{"with the partition, without locks", Plain{}, func(_ *Queue, m *memory) { m.lose() }, time.Second, ErrLost, "lose 0"},
		{"as a revocation ends", Plain{}, func(_ *Queue, m *memory) { m.set.Interrupt([]int32{0}) }, time.Second, ErrLost, "ack 0"},
		{"with the queue", OffsetMap{}, func(q *Queue, m *memory) { _ = q.Close(context.Background()); m.lose() }, time.Second, ErrClosed, "lose 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(numbered(1)...)
				m.unsupported = c.kind == Plain{}
				q := m.queue(t, c.kind)
				time.AfterFunc(time.Second, func() { c.end(q, m) })
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				defer cancel()
				start, calls := time.Now(), 0
				err := q.Run(ctx, func(ctx context.Context, d Delivery) error {
					if calls++; calls > 1 {
						return nil
					}
					<-ctx.Done()
					if took := time.Since(start); took != c.at || !errors.Is(context.Cause(ctx), c.want) {
						t.Errorf("it ended after %v with %v, want %v", took, context.Cause(ctx), c.want)
					}
					return ctx.Err()
				}, RunConfig{Timeout: 2 * time.Minute})
				if log := m.said(); err != nil || log != c.log {
					t.Errorf("run: %v; it did %q, want %q", err, log, c.log)
				}
			})
		})
	}
}

// A record that waits in line is not locked, not counted and never expires, whatever the handler before it does.
func TestWaitingRecordsAreNotLocked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const records = 5000
		m := newMemory(numbered(records)...)
		q := m.queue(t, OffsetMap{})
		q.order = ByPartition
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		release := make(chan struct{})
		time.AfterFunc(20*time.Minute, func() { close(release) })
		handled := 0
		err := q.Run(ctx, func(_ context.Context, d Delivery) error {
			if d.ID().Offset == 0 && d.Attempt() == 1 {
				<-release // it hangs, and ignores its context
				return nil
			}
			if d.Attempt() != 1 && d.ID().Offset != 0 {
				t.Errorf("record %v has attempt %d", d.ID(), d.Attempt())
			}
			if handled++; handled == records {
				cancel()
			}
			return nil
		}, RunConfig{Workers: 10})
		if err != nil || handled != records {
			t.Errorf("run: %v; %d are handled, of %d", err, handled, records)
		}
		if expired := strings.Count(m.said(), "expire"); expired != 1 {
			t.Errorf("%d locks expired", expired)
		}
	})
}

// Run renews the lock of a running handler, and leaves one that the handler extended itself.
func TestLocksOfRunningHandlers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(2)...)
		q := m.queue(t, Markers{}) // locks of 30 s
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		err := q.Run(ctx, func(ctx context.Context, d Delivery) error {
			took := 4 * time.Minute
			if d.ID().Offset == 1 {
				if err := d.Extend(ctx, 7*time.Minute); err != nil {
					t.Error(err)
				}
				took = 6 * time.Minute // longer than Timeout
			}
			time.Sleep(took)
			return ctx.Err()
		}, RunConfig{})
		if log := m.said(); err != nil || log != "ack 0, ack 1" {
			t.Errorf("run: %v; it did %q", err, log)
		}
	})
}

// Close waits for a settling call, and its handlers cannot call it: they would wait for themselves.
func TestCloseInAHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		q := m.queue(t, Markers{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		err := q.Run(ctx, func(ctx context.Context, _ Delivery) error {
			defer cancel()
			return q.Close(ctx)
		}, RunConfig{})
		m.timers.Wait()
		if log := m.said(); err != nil || log != "nack 1s 0" || m.closed != 0 {
			t.Errorf("run: %v; it did %q; the engine is closed %d times", err, log, m.closed)
		}
	})
}

// A Timeout below the lock's time ends the context, too.
func TestTimeoutBelowTheLock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		q := m.queue(t, Markers{}) // locks of 30 s
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start, calls := time.Now(), 0
		err := q.Run(ctx, func(ctx context.Context, _ Delivery) error {
			if calls++; calls > 1 {
				return nil
			}
			<-ctx.Done()
			if took := time.Since(start); took != 5*time.Second || !errors.Is(context.Cause(ctx), ErrExpired) {
				t.Errorf("it ended after %v with %v", took, context.Cause(ctx))
			}
			return ctx.Err()
		}, RunConfig{Timeout: 5 * time.Second})
		m.timers.Wait()
		if log := m.said(); err != nil || log != "nack 1s 0, ack 0" {
			t.Errorf("run: %v; it did %q", err, log)
		}
	})
}

// Where nothing can be released, each attempt has its own time, and what is not settled in the end is given back.
func TestAttemptsWhereNothingCanBeReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(2)...)
		m.unsupported = true
		q := m.queue(t, Plain{})
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		calls := 0
		err := q.Run(ctx, func(ctx context.Context, d Delivery) error {
			if d.ID().Offset == 0 {
				if calls++; calls > 1 && ctx.Err() != nil {
					t.Errorf("call %d begins with a context that has ended", calls)
				}
				if calls == 3 {
					return nil
				}
			}
			<-ctx.Done()
			return ctx.Err()
		}, RunConfig{Workers: 1, Timeout: 2 * time.Second, Shutdown: time.Second})
		if log := m.said(); err != nil || calls != 3 || log != "ack 0" || len(m.ready) != 1 || m.ready[0].At.Offset != 1 {
			t.Errorf("run: %v; %d calls; it did %q; %d are given back", err, calls, log, len(m.ready))
		}
		if err := m.set.WaitUnheld(ctx, []int32{0}); err != nil && m.ready[0].Err() == nil {
			t.Errorf("what is given back is held: %v", err)
		}
	})
}

// A handler that a revocation interrupts has not failed.
func TestInterruptedByARevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		q := m.queue(t, OffsetMap{})
		time.AfterFunc(time.Second, func() { m.set.Interrupt([]int32{0}) })
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		calls := 0
		err := q.Run(ctx, func(ctx context.Context, _ Delivery) error {
			if calls++; calls > 1 {
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}, RunConfig{})
		m.timers.Wait()
		if log := m.said(); err != nil || log != "nack 0s 0, ack 0" {
			t.Errorf("run: %v; it did %q", err, log)
		}
	})
}
