package lagcontrol_test

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"kafkabench.example/kafka-bench/internal/lagcontrol"
)

// A producer pays under 50 ns for a record while there is room, without allocations.
func BenchmarkTryAcquire(b *testing.B) {
	gate := newGate(b, lagcontrol.Config{Controller: &ceiling{at: lagcontrol.Unlimited}})
	report(gate, lagcontrol.Reading{})
	b.ReportAllocs()
	for b.Loop() {
		gate.TryAcquire(1)
	}
}

func BenchmarkTryAcquireAndDone(b *testing.B) {
	gate := newGate(b, lagcontrol.Config{})
	b.ReportAllocs()
	for b.Loop() {
		if gate.TryAcquire(1) {
			gate.Done(1)
		}
	}
}

func BenchmarkTryAcquireContended(b *testing.B) {
	gate := newGate(b, lagcontrol.Config{})
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			gate.TryAcquire(1)
		}
	})
}

func BenchmarkTryAcquireRefused(b *testing.B) {
	gate := newGate(b, lagcontrol.Config{Controller: &ceiling{}})
	report(gate, lagcontrol.Reading{})
	b.ReportAllocs()
	for b.Loop() {
		gate.TryAcquire(1)
	}
}

func BenchmarkAcquire(b *testing.B) {
	gate := newGate(b, lagcontrol.Config{})
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if err := gate.Acquire(ctx, 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAcquireAmong1000Waiters(b *testing.B) {
	gate := hold(b, 0)
	ctx, stop := context.WithCancel(context.Background())
	went := make(chan struct{}, 1)
	var all sync.WaitGroup
	for range 1000 {
		all.Go(func() {
			for gate.Acquire(ctx, 1) == nil {
				went <- struct{}{}
			}
		})
	}
	for gate.Stats().Waiting < 1000 {
		runtime.Gosched()
	}
	b.ReportAllocs()
	raised := 0
	for b.Loop() {
		gate.raise(1)
		raised++
		<-went
	}
	b.ReportMetric(float64(gate.Woken())/float64(raised), "wakes/op")
	stop()
	all.Wait()
}

func BenchmarkAcked(b *testing.B) {
	gate := newGate(b, lagcontrol.Config{Controller: &window{bound: 1000}, Share: lagcontrol.Fixed(0.5)})
	b.ReportAllocs()
	offset := int64(0)
	for b.Loop() {
		gate.Acked("topic", int32(offset%12), offset/12)
		offset++
	}
}
