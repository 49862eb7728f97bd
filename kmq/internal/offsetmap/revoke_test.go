package offsetmap

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// An acknowledgement during a revocation is in the last commit or returns ErrLost. Invariant 5.
func TestRevoked(t *testing.T) {
	for range 50 {
		cfg := testConfig()
		cfg.MaxInFlight = 2000
		w := newWorld(cfg, 4096)
		w.produce(0, 1000)
		w.produce(1, 1000)
		w.assign(0, 1)
		w.poll()
		leases := w.receive(2000)
		acked := make([]atomic.Bool, 1000)
		var others atomic.Int64
		var working sync.WaitGroup
		for i := range 4 {
			working.Go(func() {
				for _, l := range leases[i*500 : (i+1)*500] {
					err := w.Ack(ctx, l)
					switch {
					case l.At.Partition == 1 && err != nil:
						t.Errorf("a record of a partition that stays: %v", err)
					case l.At.Partition == 1:
						others.Add(1)
					case err == nil:
						acked[l.At.Offset].Store(true)
					case !errors.Is(err, lease.ErrLost):
						t.Errorf("ack: %v", err)
					}
				}
			})
		}
		w.revoke(0)
		working.Wait()
		w.h.coding.Lock()
		p, err := restore(0, w.committed[0], &w.coder, newPool(runSlots))
		w.h.coding.Unlock()
		if err != nil {
			t.Fatal(err)
		}
		lost := 0
		for i := range acked {
			if !acked[i].Load() {
				lost++
			}
			if w.committed[0].At >= 0 && acked[i].Load() != p.window.IsDone(int64(i)) {
				t.Fatalf("record %d: acknowledged %t, in the last commit %t", i, acked[i].Load(), p.window.IsDone(int64(i)))
			}
		}
		if others.Load() != 1000 || w.counted().Lost != int64(lost) || w.set.Len() != 0 {
			t.Fatalf("%d of the partition that stays, %d lost and %d counted, %d in flight", others.Load(), lost, w.counted().Lost, w.set.Len())
		}
		w.halt()
	}
}

func TestAssignedAgain(t *testing.T) {
	w := filled(testConfig(), 4096, 2)
	defer w.halt()
	first := w.receive(2)
	must(t, w.Ack(ctx, first[0]))
	w.assign(0)
	w.poll()
	if err := w.Ack(ctx, first[1]); !errors.Is(err, lease.ErrLost) {
		t.Fatalf("ack: %v", err)
	}
	if again := w.receive(2); len(again) != 2 || w.set.Len() != 2 {
		t.Fatalf("received %v, %d in flight", describe(again), w.set.Len())
	}
}

func TestRevokedWhileCopied(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := testConfig()
		cfg.InPlace = 1
		w := running(t, cfg, 2)
		w.keeping(true)
		leases := w.receive(2)
		must(t, w.Nack(ctx, leases[0], time.Hour))
		synctest.Wait()
		go func() {
			time.Sleep(time.Second)
			w.tellKept()
		}()
		w.revoke(0)
		if w.committed[0].At != 1 || len(w.logOf(lease.Retry(0))) != 1 {
			t.Fatalf("committed %v with %d retries in the log", w.committed[0], len(w.logOf(lease.Retry(0))))
		}
		// A copy that takes too long: its record is delivered again.
		w.assign(0)
		w.poll()
		must(t, w.Nack(ctx, w.receive(1)[0], time.Hour))
		synctest.Wait()
		soon, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		if err := w.h.Flush(soon, []int32{0}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("flush: %v", err)
		}
		w.commitAll(0)
		w.h.Forget([]int32{0})
		if w.committed[0].At != 1 || w.set.Len() != 0 {
			t.Fatalf("committed %v, %d in flight", w.committed[0], w.set.Len())
		}
		w.tellKept()
		// A copy that fails is not retried.
		w.assign(0)
		w.poll()
		refusals := 0
		w.refusing(func(*kgo.Record) error { refusals++; return kerr.NotEnoughReplicas })
		must(t, w.Nack(ctx, w.receive(1)[0], time.Hour))
		synctest.Wait()
		w.h.Forget([]int32{0})
		w.tellKept()
		time.Sleep(time.Minute)
		if refusals != 1 || w.set.Len() != 0 {
			t.Fatalf("tried %d times, %d in flight", refusals, w.set.Len())
		}
	})
}
