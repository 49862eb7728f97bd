package receive

import (
	"runtime"
	"testing"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

func TestDeliverTakesTheReceiversLockFirst(t *testing.T) {
	p := &partition{receiver: ledger.NewReceiver(0, 1), handed: load.NewGapWatch(1)}
	a := &assignment{partition: p, place: &place{}}
	w := &worker{axis: load.NewAxis(nil), recorder: latency.NewRecorder(latency.E2EServiceTime)}
	p.receiver.Lock()
	delivered := make(chan struct{})
	go func() {
		w.deliver(a, []driver.Received{{}}, 0, 0)
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
