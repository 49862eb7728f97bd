package kmq

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

type memory struct {
	unsupported bool
	mostDelayed int // 0: none
	failReject  error
	rejecting   chan struct{} // a settled Reject waits for it, unless nil
	receiveErr  error
	lent        time.Duration // 0: no locks

	some chan struct{}
	set  *lease.Set

	mu      sync.Mutex
	ready   []*lease.Lease
	timers  sync.WaitGroup
	log     []string
	delayed int
	open    map[*lease.Lease]bool
	closed  int
	flushes int
}

func newMemory(records ...*kgo.Record) *memory {
	m := &memory{some: make(chan struct{}, 1), open: make(map[*lease.Lease]bool)}
	m.set = lease.NewSet(len(records)+1, func(l *lease.Lease) {
		m.note(l, "expire")
		m.put(l.Again())
	})
	for i, r := range records {
		r.Offset = int64(i)
		m.put(lease.FromRecord(r))
	}
	return m
}

func numbered(n int) []*kgo.Record {
	out := make([]*kgo.Record, n)
	for i := range out {
		out[i] = &kgo.Record{Value: fmt.Append(nil, i)}
	}
	return out
}

func (m *memory) put(l *lease.Lease) {
	m.set.Add(l, time.Time{})
	m.mu.Lock()
	m.ready = append(m.ready, l)
	m.mu.Unlock()
	m.tell()
}

func (m *memory) tell() {
	select {
	case m.some <- struct{}{}:
	default:
	}
}

func (m *memory) Take(ctx context.Context, max int) ([]*lease.Lease, error) {
	for {
		m.mu.Lock()
		n := min(max, len(m.ready))
		out := m.ready[:n:n]
		m.ready = m.ready[n:]
		err, left := m.receiveErr, len(m.ready)
		m.mu.Unlock()
		if left > 0 {
			m.tell()
		}
		switch {
		case n > 0:
			return out, nil
		case err != nil:
			return nil, err
		}
		select {
		case <-m.some:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (m *memory) Lend(_ context.Context, leases []*lease.Lease, to lease.Holder) ([]*lease.Lease, error) {
	var deadline time.Time
	if m.lent > 0 {
		deadline = time.Now().Add(m.lent)
	}
	leases = m.set.LendTo(leases, deadline, to)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range leases {
		m.open[l] = true
	}
	return leases, nil
}

func (m *memory) Return(leases []*lease.Lease) {
	m.mu.Lock()
	m.ready = slices.Concat(leases, m.ready)
	m.mu.Unlock()
	m.tell()
}

func (m *memory) ForgetHolder(l *lease.Lease) { m.set.ForgetHolder(l) }

// lose takes all lent records away, as a revocation does.
func (m *memory) lose() {
	for _, l := range m.set.LoseAll(nil) {
		m.note(l, "lose")
	}
}

func (m *memory) settle(l *lease.Lease, as lease.State, what string) error {
	if err := m.set.Settle(l, as); err != nil {
		return err
	}
	m.note(l, what)
	return nil
}

func (m *memory) note(l *lease.Lease, what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.open, l)
	m.log = append(m.log, fmt.Sprintf("%s %d", what, l.At.Offset))
}

func (m *memory) Ack(ctx context.Context, l *lease.Lease) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return m.settle(l, lease.Accepted, "ack")
}

func (m *memory) Nack(ctx context.Context, l *lease.Lease, delay time.Duration) error {
	if m.unsupported {
		return fmt.Errorf("%w: not here", ErrUnsupported)
	}
	if err := m.set.Check(l); err != nil {
		return err
	}
	if !m.delay(delay, 1) {
		return ErrDelayed
	}
	if err := m.settle(l, lease.Released, fmt.Sprintf("nack %v", delay)); err != nil {
		return err
	}
	m.timers.Go(func() {
		time.Sleep(delay)
		m.delay(delay, -1)
		m.put(l.Again())
	})
	return nil
}

func (m *memory) delay(delay time.Duration, n int) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if delay > 0 && n > 0 && m.mostDelayed > 0 && m.delayed == m.mostDelayed {
		return false
	}
	if delay > 0 {
		m.delayed += n
	}
	return true
}

func (m *memory) Extend(_ context.Context, l *lease.Lease, d time.Duration) error {
	return m.set.Extend(l, time.Now().Add(d))
}

func (m *memory) Reject(_ context.Context, l *lease.Lease, reason string) error {
	if m.failReject != nil {
		return m.failReject
	}
	err := m.settle(l, lease.Rejected, "reject "+reason)
	if m.rejecting != nil {
		<-m.rejecting
	}
	return err
}

func (m *memory) Flush(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.flushes++
	return nil
}

func (m *memory) Close(context.Context) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed++
	return nil
}

func (m *memory) Counts() engine.Counts { return engine.Counts{} }

// steady is Exponential without jitter.
func steady(min, max time.Duration) Retry {
	return func(attempt int, _ error) time.Duration { return exponentialBound(min, max, attempt) }
}

func (m *memory) queue(t *testing.T, kind Engine) *Queue {
	cfg := valid(kind)
	cfg.Retry = steady(time.Second, 4*time.Second)
	cfg.MaxDeliveries, cfg.Logger = Unlimited, slog.New(slog.DiscardHandler)
	cfg, err := cfg.resolve()
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue(m, &cfg)
	m.lent = q.lent
	t.Cleanup(m.set.Close)
	return q
}

func (m *memory) said() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return strings.Join(m.log, ", ")
}

func TestReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(5)...)
		q := m.queue(t, Markers{})
		if _, err := q.Receive(t.Context(), 0); !errors.Is(err, ErrConfig) {
			t.Errorf("none: %v", err)
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if ds, err := q.Receive(ended, 5); !errors.Is(err, context.Canceled) || len(ds) > 0 {
			t.Errorf("with a context that has ended: %d, %v", len(ds), err)
		}
		if ds, err := q.Receive(t.Context(), 3); err != nil || len(ds) != 3 {
			t.Errorf("three: %d, %v", len(ds), err)
		}
		if ds, err := q.Receive(t.Context(), 3); err != nil || len(ds) != 2 {
			t.Errorf("fewer than asked for: %d, %v", len(ds), err)
		}
		soon, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if ds, err := q.Receive(soon, 3); !errors.Is(err, context.DeadlineExceeded) || len(ds) > 0 {
			t.Errorf("none left: %d, %v", len(ds), err)
		}
		m.mu.Lock()
		m.receiveErr = errors.New("no permission")
		m.mu.Unlock()
		if _, err := q.Receive(t.Context(), 3); err == nil || err.Error() != "no permission" {
			t.Errorf("the engine's error: %v", err)
		}
	})
}

func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(3)...)
		q := m.queue(t, Markers{})
		ds, _ := q.Receive(t.Context(), 3)
		_ = ds[0].Ack(t.Context())
		waiting := make(chan error, 1)
		go func() { _, err := q.Receive(t.Context(), 1); waiting <- err }()
		synctest.Wait()
		for range 2 {
			if err := q.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if m.closed != 1 {
			t.Errorf("the engine is closed %d times", m.closed)
		}
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("receive: %v", err)
		}
		ctx := t.Context()
		for what, err := range map[string]error{
			"ack": ds[1].Ack(ctx), "nack": ds[1].Nack(ctx, 0), "extend": ds[1].Extend(ctx, time.Second), "reject": ds[1].Reject(ctx, ""),
			"flush": q.Flush(ctx),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if err := ds[0].Ack(ctx); !errors.Is(err, ErrSettled) {
			t.Errorf("what was settled before: %v", err)
		}
	})
}

func TestCallsThatAreUnderWayAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		m.rejecting = make(chan struct{})
		q := m.queue(t, Markers{})
		ds, _ := q.Receive(t.Context(), 1)
		rejected := make(chan error, 1)
		go func() { rejected <- ds[0].Reject(t.Context(), "no") }()
		synctest.Wait()
		done := make(chan error, 1)
		go func() { done <- q.Close(t.Context()) }()
		time.Sleep(time.Minute)
		if m.closed != 0 {
			t.Error("the engine was closed beside a Reject")
		}
		close(m.rejecting)
		if err := <-rejected; err != nil {
			t.Errorf("reject: %v", err)
		}
		if err := <-done; err != nil || m.closed != 1 {
			t.Errorf("close: %v; the engine is closed %d times", err, m.closed)
		}
	})
}

func TestCloseIsBoundedByItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		m.rejecting = make(chan struct{})
		q := m.queue(t, Markers{})
		ds, _ := q.Receive(t.Context(), 1)
		go ds[0].Reject(t.Context(), "no")
		synctest.Wait()
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := q.Close(ended); !errors.Is(err, context.Canceled) || m.closed != 1 {
			t.Errorf("close: %v; the engine is closed %d times", err, m.closed)
		}
		close(m.rejecting)
	})
}

// Run ends in order: what runs is finished, and what waits in line is given back.
func TestRunEnds(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		name string
		end  func(cancel func(), q *Queue, m *memory)
		want error
	}{
		{"with its context", func(cancel func(), _ *Queue, _ *memory) { cancel() }, nil},
		{"when the engine fails", func(_ func(), _ *Queue, m *memory) {
			m.mu.Lock()
			m.receiveErr = boom
			m.mu.Unlock()
			m.tell()
		}, boom},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(numbered(3)...)
				q := m.queue(t, Markers{})
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				time.AfterFunc(time.Second, func() { c.end(cancel, q, m) })
				q.order = ByPartition
				start := time.Now()
				err := q.Run(ctx, func(ctx context.Context, d Delivery) error {
					time.Sleep(15 * time.Second)
					return ctx.Err()
				}, RunConfig{Workers: 2})
				if !errors.Is(err, c.want) || time.Since(start) != 15*time.Second {
					t.Errorf("run: %v after %v, want %v after 15s", err, time.Since(start), c.want)
				}
				if log := m.said(); log != "ack 0" || len(m.open) != 0 || len(m.ready) != 2 {
					t.Errorf("it did %q; %d are open and %d were given back", log, len(m.open), len(m.ready))
				}
				if l := m.ready[0]; l.At.Offset != 1 || l.Attempt != 1 || !l.Deadline().IsZero() {
					t.Errorf("first of what was given back is %v, attempt %d, locked until %v", l.At, l.Attempt, l.Deadline())
				}
			})
		})
	}
}

func TestRunSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(6)...)
		q := m.queue(t, Markers{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := q.Run(ctx, func(ctx context.Context, d Delivery) error {
			switch d.ID().Offset {
			case 0:
				return nil
			case 1:
				return errors.New("not now")
			case 2:
				return fmt.Errorf("hopeless: %w", Reject{Reason: "why"})
			case 3:
				return fmt.Errorf("hopeless: %w", &Reject{Reason: "a pointer"})
			case 4:
				return (*Reject)(nil)
			}
			return errors.Join(d.Ack(ctx), errors.New("settled by itself"))
		}, RunConfig{Workers: 1})
		if err != nil {
			t.Errorf("run: %v", err)
		}
		m.timers.Wait()
		// After 1, 2, 4, 4, … s.
		want := "ack 0, nack 1s 1, reject why 2, reject a pointer 3, reject  4, ack 5, nack 2s 1, nack 4s 1, nack 4s 1"
		if log := m.said(); !strings.HasPrefix(log, want) {
			t.Errorf("it did %q, want %q", log, want)
		}
	})
}

func TestRunTriesAgainWhereNothingCanBeReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(2)...)
		m.unsupported = true
		q := m.queue(t, Plain{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var tries []time.Duration
		err := q.Run(ctx, func(_ context.Context, d Delivery) error {
			if d.ID().Offset == 1 {
				cancel()
				return errors.New("it ends in the middle")
			}
			if tries = append(tries, time.Since(start)); len(tries) < 4 {
				return errors.New("not now")
			}
			return nil
		}, RunConfig{Workers: 1})
		if err != nil || m.said() != "ack 0" || fmt.Sprint(tries) != "[0s 1s 3s 7s]" {
			t.Errorf("run: %v; %s; tries at %v", err, m.said(), tries)
		}
	})
}

// A worker keeps its record and tries to release it every 50 ms.
func TestRunWaitsForRoomAmongTheDelays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(4)...)
		m.mostDelayed = 1
		q := m.queue(t, Markers{})
		q.retry = steady(1010*time.Millisecond, time.Minute)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var mu sync.Mutex
		first, second := make([]time.Duration, 0, 4), make([]time.Duration, 0, 4)
		err := q.Run(ctx, func(_ context.Context, d Delivery) error {
			mu.Lock()
			defer mu.Unlock()
			if d.Attempt() == 1 {
				first = append(first, time.Since(start))
				return errors.New("not now")
			}
			if second = append(second, time.Since(start)); len(second) == 4 {
				cancel()
			}
			return nil
		}, RunConfig{Workers: 3})
		if err != nil {
			t.Errorf("run: %v", err)
		}
		m.timers.Wait()
		// The fourth record gets the worker of the released record. Then all three workers wait for
		// room. The released record is due at 1.01 s, but no worker is free before one finds room at
		// 1.05 s.
		if got := fmt.Sprint(first); got != "[0s 0s 0s 0s]" {
			t.Errorf("first attempts at %s", got)
		}
		if got := fmt.Sprint(second); got != "[1.05s 2.06s 3.11s 4.16s]" {
			t.Errorf("second attempts at %s", got)
		}
	})
}

func TestTheWaitForRoomEndsWithTheLockOrTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(3)...)
		m.mostDelayed = 1
		q := m.queue(t, Markers{})
		q.retry = steady(time.Hour, time.Hour)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		var began []string
		err := q.Run(ctx, func(_ context.Context, d Delivery) error {
			began = append(began, fmt.Sprintf("%d at %v", d.ID().Offset, time.Since(start)))
			if d.ID().Offset == 1 {
				d.lease.SetDeadline(time.Now().Add(120 * time.Millisecond))
			}
			return errors.New("not now")
		}, RunConfig{Workers: 1})
		if err != nil || time.Since(start) != time.Second {
			t.Errorf("run: %v, after %v", err, time.Since(start))
		}
		if got := fmt.Sprint(began); got != "[0 at 0s 1 at 0s 2 at 150ms]" {
			t.Errorf("handlers began: %s", got)
		}
		if log := m.said(); log != "nack 1h0m0s 0, expire 1, nack 0s 2" {
			t.Errorf("it did %q", log)
		}
		m.timers.Wait()
	})
}

func TestRunCrashes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(3)...)
		q := m.queue(t, Markers{})
		running := make(chan struct{})
		defer func() {
			p, ok := recover().(*HandlerPanic)
			if !ok || p.Value != "boom" || !strings.Contains(p.Error(), "TestRunCrashes") {
				t.Errorf("it panicked with %v", p)
			}
			m.timers.Wait()
			// Two workers settle the records in either order; record 2 may not have been received.
			settled := strings.Split(m.said(), ", ")
			slices.Sort(settled)
			if !slices.Equal(settled, []string{"ack 0", "nack 1s 1"}) && !slices.Equal(settled, []string{"ack 0", "nack 0s 2", "nack 1s 1"}) {
				t.Errorf("it did %q", settled)
			}
		}()
		_ = q.Run(t.Context(), func(ctx context.Context, d Delivery) error {
			if d.ID().Offset == 0 {
				close(running)
				<-ctx.Done()
				return nil // although its context has ended
			}
			<-running
			panic("boom")
		}, RunConfig{Workers: 2, OnPanic: Crash})
		t.Error("it did not panic")
	})
}

// A panic and the end of the handler's goroutine are failed attempts, and the run goes on.
func TestPanicsAreFailedAttempts(t *testing.T) {
	for name, fail := range map[string]func(){
		"panic":  func() { panic("boom") },
		"goexit": runtime.Goexit,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory(numbered(3)...)
				q := m.queue(t, Markers{})
				q.order = ByPartition // the records are one line
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				var failed *lease.Lease
				err := q.Run(ctx, func(_ context.Context, d Delivery) error {
					if d.ID().Offset == 1 && d.Attempt() < 3 {
						failed = d.lease
						fail()
					}
					return nil
				}, RunConfig{Workers: 1})
				m.timers.Wait()
				if log := m.said(); err != nil || log != "ack 0, nack 1s 1, ack 2, nack 2s 1, ack 1" {
					t.Errorf("run: %v; it did %q", err, log)
				}
				dead := failed.DeadLetter(3, "hopeless", "g", "dead", 1)
				var headers []string
				for _, h := range dead.Headers {
					if h.Key == lease.HeaderError || h.Key == lease.HeaderAttempts {
						headers = append(headers, string(h.Value))
					}
				}
				if len(headers) != 2 || !strings.Contains(headers[0], "TestPanicsAreFailedAttempts") || strings.Count(headers[1], "\n") != 1 {
					t.Errorf("the dead letter has %q", headers)
				}
			})
		})
	}
}

// Plain cannot release a record: the worker tries again, and gives the record up after MaxDeliveries.
func TestRunGivesUpWhereNothingCanBeReleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		m.unsupported = true
		q := m.queue(t, Plain{})
		q.most = 3
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tries := 0
		_ = q.Run(ctx, func(context.Context, Delivery) error {
			tries++
			return errors.New("not now")
		}, RunConfig{Workers: 1})
		if log := m.said(); tries != 3 || log != "reject delivered 3 times 0" {
			t.Errorf("%d tries; it did %q", tries, log)
		}
	})
}

func TestRunEndsWhereARejectionCanNotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory(numbered(1)...)
		m.failReject = fmt.Errorf("%w: set DeadLetterTopic", ErrUnsupported)
		err := m.queue(t, Markers{}).Run(t.Context(), func(context.Context, Delivery) error { return Reject{"no"} }, RunConfig{Workers: 2})
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "offset 0 of partition 0") {
			t.Errorf("run: %v", err)
		}
	})
}

func TestRunIsAskedForWhatThereIs(t *testing.T) {
	q := newMemory().queue(t, Markers{})
	none := func(context.Context, Delivery) error { return nil }
	for what, err := range map[string]error{
		"too few workers":  q.Run(t.Context(), none, RunConfig{Workers: -1}),
		"too many workers": q.Run(t.Context(), none, RunConfig{Workers: MaxWorkers + 1}),
		"no handler":       q.Run(t.Context(), nil, RunConfig{}),
		"no such OnPanic":  q.Run(t.Context(), none, RunConfig{OnPanic: "hide"}),
	} {
		if !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestALineHoldsUpItsOwnRecordsOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		records := numbered(40)
		for i, r := range records {
			if r.Key = []byte("hot"); i >= 30 {
				r.Key = nil
			}
		}
		m := newMemory(records...)
		q := m.queue(t, Markers{})
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		start := time.Now()
		var hot, done atomic.Int64
		var others time.Duration
		q.order = ByKey
		err := q.Run(ctx, func(_ context.Context, d Delivery) error {
			time.Sleep(time.Second)
			if d.Record.Key == nil {
				others = time.Since(start)
			} else if n := hot.Add(1); n-1 != d.ID().Offset {
				t.Errorf("offset %d is handled as number %d", d.ID().Offset, n)
			}
			if done.Add(1) == int64(len(records)) {
				cancel()
			}
			return nil
		}, RunConfig{Workers: 2})
		if err != nil || others != 10*time.Second || time.Since(start) != 30*time.Second {
			t.Errorf("run: %v; the others took %v, want 10s; all took %v, want 30s", err, others, time.Since(start))
		}
	})
}

func BenchmarkReceiveAck(b *testing.B) {
	const batch = 10
	m := newMemory()
	cfg, _ := valid(Markers{}).resolve()
	q := newQueue(&bench{memory: m}, &cfg)
	b.ReportAllocs()
	for done := 0; done < b.N; done += batch {
		ds, err := q.Receive(b.Context(), batch)
		if err != nil {
			b.Fatal(err)
		}
		for _, d := range ds {
			if err := d.Ack(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

type bench struct {
	*memory
	records [10]*kgo.Record
	next    int64 // offset
}

func (e *bench) Lend(_ context.Context, leases []*lease.Lease, _ lease.Holder) ([]*lease.Lease, error) {
	return leases, nil
}

func (e *bench) Take(_ context.Context, max int) ([]*lease.Lease, error) {
	if e.records[0] == nil {
		for i := range e.records {
			e.records[i] = new(kgo.Record)
		}
	}
	for _, r := range e.records[:max] {
		r.Offset = e.next
		e.next++
	}
	return lease.FromRecords(e.records[:max]), nil
}

func (e *bench) Ack(_ context.Context, l *lease.Lease) error { return l.Settle(lease.Accepted) }

func BenchmarkRun(b *testing.B) {
	for _, order := range []Order{Unordered, ByPartition, ByKey} {
		b.Run(string(order), func(b *testing.B) {
			cfg, _ := valid(Markers{}).resolve()
			e := &bench{memory: newMemory()}
			q := newQueue(e, &cfg)
			ctx, cancel := context.WithCancel(b.Context())
			defer cancel()
			_, _ = e.Take(ctx, 1)
			for i, r := range e.records {
				r.Partition, r.Key = int32(i), []byte{byte(i)}
			}
			b.ReportAllocs()
			var done atomic.Int64
			q.order = order
			_ = q.Run(ctx, func(context.Context, Delivery) error {
				if done.Add(1) == int64(b.N) {
					cancel()
				}
				return nil
			}, RunConfig{Workers: 10})
		})
	}
}
