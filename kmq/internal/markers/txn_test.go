package markers

import (
	"context"
	"errors"
	"testing"
	"time"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
)

// Starts and commits in one transaction, copies and ends in another: what was aborted is
// seen by nobody, and the offsets are committed with the starts.
func inTxns(t *testing.T, w *world) {
	const n = 200
	for p := range int32(2) {
		w.produce(p, n/2)
	}
	q := w.open()
	var dropped []*lease.Lease
	for i, l := range w.receive(q, n) {
		if i%10 == 0 {
			dropped = append(dropped, l)
			continue
		}
		w.ack(q, l)
	}
	for p := range int32(2) {
		w.until("what was started is committed", func() bool { return w.committed(w.cfg.Group, w.cfg.Topic, p) == n/2 })
	}
	again := w.receive(q, len(dropped))
	for _, l := range again {
		if l.Attempt != 2 || l.At.Offset < n/2 || l.At.Offset == n/2+n/20 { // behind the transaction's own marker
			t.Errorf("attempt %d at %v", l.Attempt, l.At)
		}
	}
	w.ack(q, again...)
	w.flush(q)
	w.until("the tracker commits", func() bool {
		for p := range int32(2) {
			ends, err := w.adm.ListEndOffsets(w.ctx, w.cfg.MarkersTopic)
			if err != nil {
				t.Fatal(err)
			}
			end, _ := ends.Lookup(w.cfg.MarkersTopic, p)
			if w.committed(Group(w.cfg.Group), w.cfg.MarkersTopic, p) != end.Offset {
				return false
			}
		}
		return true
	})
	if err := q.Close(w.ctx); err != nil {
		t.Error(err)
	}
	next := w.open()
	ctx, cancel := context.WithTimeout(w.ctx, time.Second)
	defer cancel()
	if ls, err := next.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%d records came again, %v", len(ls), err)
	}
}

func inTransactions(c *engine.Config) { c.Transactions, c.Visibility = true, 4*time.Second }

func TestTransactions(t *testing.T) { inTxns(t, newWorld(t, 2, inTransactions)) }
