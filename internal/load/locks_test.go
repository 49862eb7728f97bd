package load

import (
	"runtime"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// TestSettledRecordsAreEnteredAtOnce: the lock is taken once for all records of a round,
// so that a sampler sees all of them or none. Each record takes a millisecond: a mutex
// that is unlocked between them goes to who has waited for so long.
func TestSettledRecordsAreEnteredAtOnce(t *testing.T) {
	const n = 50
	p := &producer{
		axis: NewAxis(nil), slots: newSlots(0, n), recorder: latency.NewRecorder(latency.SendServiceTime),
		books: ledger.NewSender(0, 1), acks: []GapWatch{NewGapWatch(1)}, inFlight: n,
		errors: [2]map[string]int64{{}, {}},
	}
	for range n {
		s := p.slots.take()
		s.sequence = p.books.Next(0, false)
		p.slots.report(settlement{tag: s.record.Tag, outcome: driver.Acked, err: slowError{}})
	}
	var sampling sync.WaitGroup
	settled := make(chan struct{})
	sampling.Go(func() {
		for running := true; running; {
			select {
			case <-settled:
				running = false
			default:
			}
			p.recorder.Lock()
			seen := p.counts[1].Acked
			p.recorder.Unlock()
			if seen != 0 && seen != n {
				t.Errorf("the sampler saw %d of %d records of one round", seen, n)
				return
			}
		}
	})
	p.settle()
	close(settled)
	sampling.Wait()
	if p.counts[1].Acked != n {
		t.Errorf("%d of %d records were entered", p.counts[1].Acked, n)
	}
}

// A slowError takes a millisecond to be counted.
type slowError struct{}

func (slowError) Error() string {
	time.Sleep(time.Millisecond)
	return "slow"
}

// TestDeliverTakesTheReceiversLockFirst: while deliver waits for the receiver's lock it
// does not hold the recorder's.
func TestDeliverTakesTheReceiversLockFirst(t *testing.T) {
	p := &partition{receiver: ledger.NewReceiver(0, 1), handed: NewGapWatch(1)}
	w := &worker{axis: NewAxis(nil), recorder: latency.NewRecorder(latency.E2EServiceTime)}
	p.receiver.Lock()
	delivered := make(chan struct{})
	go func() {
		w.deliver(p, []driver.Received{{}}, 0, 0)
		close(delivered)
	}()
	for range 100_000 {
		if !w.recorder.TryLock() {
			t.Error("deliver holds the recorder's lock while it waits for the receiver's")
			break
		}
		w.recorder.Unlock()
		runtime.Gosched()
	}
	p.receiver.Unlock()
	<-delivered
}

// TestLateTimerCostsNoCapacity: work that a late timer let wait begins when the work
// before it was done, and not when the worker woke up.
func TestLateTimerCostsNoCapacity(t *testing.T) {
	const ms = int64(time.Millisecond)
	fixed := Plan{Work: Work{Distribution: "fixed", Time: 10 * time.Millisecond}}
	s := Server{axis: NewAxis(nil), plan: fixed, freeAt: 10 * ms}
	if begun, _ := s.Begin(100, 0, 35*ms); begun != 3 || s.freeAt != 40*ms {
		t.Errorf("%d records began and the last ends at %v; want 3, at 40ms", begun, time.Duration(s.freeAt))
	}
}
