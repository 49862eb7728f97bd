package receive

import (
	"testing"

	"kafkabench.example/kafka-bench/internal/measure/ledger"
)

// An assignment that ended with unfinished work passes no control records.
func TestPass(t *testing.T) {
	p := &partition{receiver: ledger.NewReceiver(0, 1)}
	w := &worker{handling: make(chan struct{}, 1)}
	a := &assignment{partition: p, worker: w}
	w.pass(a, 7)
	if got := a.processed.Load(); got != 7 || p.reached().Position != 7 {
		t.Errorf("processed up to %d, at %d; want 7", got, p.reached().Position)
	}
	a.ended = true
	w.pass(a, 9)
	if got := a.processed.Load(); got != 7 || p.reached().Position != 7 {
		t.Errorf("ended at 7, it is processed up to %d, at %d", got, p.reached().Position)
	}
}
