package queued

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/latency"
)

type lots struct {
	Queue
	given  int
	enough func() // called at the fourth lot
}

func (q *lots) Receive(context.Context, int) (Lot, error) {
	if q.given++; q.given > 3 {
		q.enough()
	}
	return oneForeign{}, nil
}

type oneForeign struct{ Lot }

func (oneForeign) Len() int    { return 1 }
func (oneForeign) At(int) Lent { return Lent{Partition: -1} }

// A thread must stop even if the context of Receive has not ended yet.
func TestKilledThreadTakesNoFurtherLot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &Group{axis: load.NewAxis(nil), released: make(chan struct{})}
		g.cfg.Plan = load.Plan{Work: load.Work{Distribution: "fixed", Time: time.Hour}}
		close(g.released)
		q := &lots{}
		n := &node{group: g, queue: q, place: &place{recorder: latency.NewRecorder(latency.PollTime)}}
		n.life, n.kill = context.WithCancel(t.Context())
		n.alive, n.cancel = context.WithCancel(t.Context())
		q.enough = n.cancel
		n.kill()
		if err := (&thread{node: n, server: load.NewServer(g.axis, g.cfg.Plan, 0, 0)}).run(); err != nil || q.given != 1 {
			t.Errorf("error %v after %d lots, want 1", err, q.given)
		}
	})
}
