package kmq

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func (m *memory) ExtendAll(ctx context.Context, leases []*lease.Lease, d time.Duration) error {
	if m.extendTakes == 0 {
		return nil
	}
	until := time.Now().Add(d)
	select {
	case <-time.After(m.extendTakes):
	case <-ctx.Done():
		return ctx.Err()
	}
	for _, l := range leases {
		l.SetDeadline(until)
	}
	return nil
}

// extender records which leases it was asked to extend.
type extender struct {
	*memory
	stuck int32 // -1: none

	mu    sync.Mutex
	asked []string
}

func (e *extender) ExtendAll(ctx context.Context, leases []*lease.Lease, d time.Duration) error {
	var offsets []int64
	for _, l := range leases {
		offsets = append(offsets, l.At.Offset)
	}
	slices.Sort(offsets)
	e.mu.Lock()
	e.asked = append(e.asked, fmt.Sprint(offsets))
	e.mu.Unlock()
	if len(leases) > 0 && leases[0].At.Partition == e.stuck {
		<-ctx.Done()
		return ctx.Err()
	}
	return e.memory.ExtendAll(ctx, leases, d)
}

func twoLines(t *testing.T, records int, ends time.Duration) (*extender, *Queue) {
	all := numbered(records)
	for i, r := range all {
		r.Partition = int32(i % 2)
	}
	e := &extender{memory: newMemory(all...), stuck: -1}
	e.extendTakes = time.Millisecond
	for _, l := range e.ready {
		l.SetDeadline(time.Now().Add(ends))
	}
	q := e.queue(t, Markers) // the first check is after 7.5 s
	q.engine = e
	return e, q
}

func TestLinesAreRenewedAsOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const records = 2000
		e, q := twoLines(t, records, 9*time.Second)
		leases := slices.Clone(e.ready)
		leases[2].SetDeadline(time.Now().Add(time.Minute))
		ctx, cancel := context.WithTimeout(t.Context(), 8*time.Second)
		defer cancel()
		start := time.Now()
		q.order = ByPartition
		_ = q.Run(ctx, func(ctx context.Context, _ Delivery) error {
			<-ctx.Done()
			return ctx.Err()
		}, RunConfig{Workers: 3})
		var want [2][]int64
		for i := int64(3); i < records; i++ {
			want[i%2] = append(want[i%2], i)
		}
		slices.Sort(e.asked)
		if each := []string{fmt.Sprint(want[1]), fmt.Sprint(want[0])}; !slices.Equal(e.asked, each) {
			t.Errorf("it was asked %d times, want once for each partition: %.200v", len(e.asked), e.asked)
		}
		for i, l := range leases {
			want := 37500 * time.Millisecond
			switch i {
			case 0, 1:
				want = 9 * time.Second
			case 2:
				want = time.Minute
			}
			if at := l.Deadline().Sub(start); at != want {
				t.Fatalf("record %d is lent until %v, want %v", i, at, want)
			}
		}
	})
}

func TestASlowRenewalHoldsUpItsPartitionOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, q := twoLines(t, 4, 20*time.Second)
		e.stuck = 0
		ctx, cancel := context.WithTimeout(t.Context(), 16*time.Second)
		defer cancel()
		start := time.Now()
		began := map[int64]time.Duration{}
		var mu sync.Mutex
		q.order = ByPartition
		_ = q.Run(ctx, func(_ context.Context, d Delivery) error {
			mu.Lock()
			began[d.ID().Offset] = time.Since(start)
			mu.Unlock()
			time.Sleep(8 * time.Second)
			return nil
		}, RunConfig{Workers: 3})
		if got, want := fmt.Sprint(began), "map[0:0s 1:0s 2:15s 3:8s]"; got != want {
			t.Errorf("begun: %s, want %s", got, want)
		}
	})
}

// A record that is being renewed begins after the renewal.
func TestWhatHasBegunIsNotRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, q := twoLines(t, 2, 9*time.Second)
		ds, err := q.Receive(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		begun, waits := &waiter{Delivery: ds[0], begun: true}, &waiter{Delivery: ds[1]}
		r := &run{q: q}
		done := make(chan error, 1)
		go func() { done <- r.renewSome(t.Context(), e, []*waiter{begun, waits}) }()
		synctest.Wait()
		if begun.renewing != nil || waits.renewing == nil {
			t.Errorf("waits for the renewal: the one that has begun %v, the other %v", begun.renewing != nil, waits.renewing != nil)
		}
		select {
		case <-waits.renewing:
			t.Error("it need not wait until its lock is renewed")
		default:
		}
		if err := <-done; err != nil || fmt.Sprint(e.asked) != "[[1]]" {
			t.Errorf("renewed: %v, %v", e.asked, err)
		}
		<-waits.renewing
	})
}

func TestNothingIsRenewedOfAClosedQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, q := twoLines(t, 2, 9*time.Second)
		e.stuck = 0
		ds, err := q.Receive(t.Context(), 2)
		if err != nil {
			t.Fatal(err)
		}
		r := &run{q: q}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		done := make(chan error, 1)
		go func() { done <- r.renewSome(ctx, e, []*waiter{{Delivery: ds[0]}}) }()
		synctest.Wait()
		if err := q.Close(t.Context()); err != nil || time.Since(start) < time.Second {
			t.Errorf("closed after %v, while it renewed for 1s: %v", time.Since(start), err)
		}
		if err := <-done; !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("renewed: %v", err)
		}
		if err := r.renewSome(t.Context(), e, []*waiter{{Delivery: ds[1]}}); err != nil || len(e.asked) != 1 {
			t.Errorf("of a closed queue: %v, %v", e.asked, err)
		}
	})
}
