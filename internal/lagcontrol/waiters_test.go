package lagcontrol_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

type held struct {
	*lagcontrol.Gate
	c *ceiling
}

func hold(t rapid.TB, at int64) held {
	t.Helper()
	c := &ceiling{at: at}
	h := held{newGate(t, lagcontrol.Config{Controller: c}), c}
	report(h.Gate, lagcontrol.Reading{})
	return h
}

func (h held) raise(by int64) {
	h.c.at += by
	report(h.Gate, lagcontrol.Reading{})
}

func TestARaiseWakesNoMoreThanItHasRoomFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const waiting = 1000
		gate := hold(t, 0)
		var went atomic.Int64
		var all sync.WaitGroup
		for range waiting {
			all.Go(func() {
				if err := gate.Acquire(t.Context(), 1); err != nil {
					t.Error(err)
				}
				went.Add(1)
			})
		}
		synctest.Wait()
		if s := gate.Stats(); s.Waiting != waiting || s.Waited != waiting || s.Refused != waiting {
			t.Fatalf("stats %+v", s)
		}
		raised := int64(0)
		for _, by := range []int64{1, 0, 7, 100, 392} {
			raised += by
			gate.raise(by)
			synctest.Wait()
			if went.Load() != raised || gate.Woken() != raised {
				t.Errorf("raised by %d in all: %d went, %d were woken", raised, went.Load(), gate.Woken())
			}
		}
		gate.raise(10_000)
		all.Wait()
		if gate.Woken() != waiting || !gate.TryAcquire(9_500) || gate.TryAcquire(1) {
			t.Errorf("%d of %d were woken, and %d admitted", gate.Woken(), waiting, gate.Admitted())
		}
	})
}

func TestWhoComesFirstGoesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := hold(t, 0)
		var mu sync.Mutex
		var order []int
		asks := []int64{5, 1, 3, 1, 1}
		for i, n := range asks {
			go func() {
				if err := gate.Acquire(t.Context(), n); err != nil {
					t.Error(err)
				}
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			}()
			synctest.Wait()
		}
		// The raise is less than the first call needs, and no other call overtakes that call.
		gate.raise(4)
		synctest.Wait()
		if gate.TryAcquire(1) || gate.Admit(1) != 0 || gate.Open() || len(order) != 0 {
			t.Errorf("somebody overtook the first: %v, %d admitted", order, gate.Admitted())
		}
		for range 7 {
			gate.raise(1)
			synctest.Wait()
		}
		if !slices.Equal(order, []int{0, 1, 2, 3, 4}) {
			t.Errorf("they went in the order %v", order)
		}
	})
}

func TestAcquireEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := hold(t, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if err := gate.Acquire(ctx, 2); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		if got := gate.Stats().Closed.Round(time.Microsecond); got != time.Second || !gate.Open() {
			t.Errorf("closed for %v, open %v", got, gate.Open())
		}
	})
}

func TestAcquireOfMoreThanTheBoundIsAnError(t *testing.T) {
	for _, c := range []struct {
		share lagcontrol.Share
		n     int64
		never bool
	}{
		{lagcontrol.Share{}, 100, false}, {lagcontrol.Share{}, 101, true},
		{lagcontrol.Fixed(0.25), 25, false}, {lagcontrol.Fixed(0.25), 26, true},
	} {
		t.Run(fmt.Sprint(c.share, c.n), func(t *testing.T) {
			gate := newGate(t, lagcontrol.Config{Controller: &window{bound: 100}, Share: c.share})
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			err := gate.Acquire(ctx, c.n)
			if never := errors.Is(err, lagcontrol.ErrNever); never != c.never || err == nil {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestWaitersAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			gate := hold(rt, 0)
			type call struct {
				n      int64
				cancel context.CancelFunc
				done   chan error
			}
			var queue []*call
			var admitted int64
			settle := func() {
				for len(queue) > 0 && admitted+queue[0].n <= gate.c.at {
					admitted += queue[0].n
					if err := <-queue[0].done; err != nil {
						rt.Fatalf("granted, and %v", err)
					}
					queue = queue[1:]
				}
			}
			for range rapid.IntRange(1, 60).Draw(rt, "steps") {
				switch rapid.IntRange(0, 3).Draw(rt, "step") {
				case 0:
					ctx, cancel := context.WithCancel(t.Context())
					c := &call{rapid.Int64Range(1, 9).Draw(rt, "n"), cancel, make(chan error, 1)}
					go func() { c.done <- gate.Acquire(ctx, c.n) }()
					queue = append(queue, c)
				case 1:
					gate.raise(rapid.Int64Range(0, 12).Draw(rt, "room"))
				case 2:
					if len(queue) > 0 {
						i := rapid.IntRange(0, len(queue)-1).Draw(rt, "who")
						queue[i].cancel()
						if err := <-queue[i].done; !errors.Is(err, context.Canceled) {
							rt.Fatalf("canceled, and %v", err)
						}
						queue = slices.Delete(queue, i, i+1)
					}
				case 3:
					n := rapid.Int64Range(1, 5).Draw(rt, "n")
					want := len(queue) == 0 && admitted+n <= gate.c.at
					if got := gate.TryAcquire(n); got != want {
						rt.Fatalf("%d were tried: %v", n, got)
					} else if got {
						admitted += n
					}
				}
				synctest.Wait()
				settle()
				if s := gate.Stats(); s.Admitted != admitted || s.Waiting != int64(len(queue)) {
					rt.Fatalf("admitted %d, waiting %d; want %d, %d", s.Admitted, s.Waiting, admitted, len(queue))
				}
			}
			for _, c := range queue {
				c.cancel()
			}
		})
	})
}

func TestNothingIsLostAmongMany(t *testing.T) {
	gate := hold(t, 0)
	var got atomic.Int64
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 500 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*100*time.Microsecond)
				if gate.Acquire(ctx, int64(i%3+1)) == nil {
					got.Add(int64(i%3 + 1))
				}
				cancel()
				got.Add(gate.Admit(2))
				if gate.TryAcquire(3) {
					got.Add(3)
				}
				gate.Stats()
			}
		})
	}
	stop := make(chan struct{})
	var raiser sync.WaitGroup
	raiser.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				gate.raise(5)
			}
		}
	})
	all.Wait()
	close(stop)
	raiser.Wait()
	s := gate.Stats()
	if s.Admitted != got.Load() || s.Admitted > gate.c.at || s.Waiting != 0 {
		t.Errorf("%d were granted; stats %+v", got.Load(), s)
	}
}
