package segmentio

import (
	"testing"
	"testing/synctest"
)

func TestGate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		taken := 0
		take := func() { g.take(func() bool { taken++; return true }) }
		take()
		proceed, moved := make(chan struct{}), false
		go g.move(func() { <-proceed; moved = true })
		synctest.Wait()
		take()
		if taken != 1 {
			t.Error("a poll went before a rebalance that waits")
		}
		g.settle()
		synctest.Wait()
		take()
		close(proceed)
		synctest.Wait()
		if taken != 1 || !moved {
			t.Errorf("took %d times during the rebalance, which took place: %t", taken-1, moved)
		}
		take()
		if taken != 2 {
			t.Error("nothing is taken after the rebalance")
		}
		moved = false
		go g.move(func() { moved = true })
		synctest.Wait()
		if moved {
			t.Error("a rebalance did not wait for the caller")
		}
		g.shut()
		synctest.Wait()
		if take(); taken != 2 || !moved {
			t.Errorf("took %d times after the gate was shut, and the rebalance took place: %t", taken-2, moved)
		}
	})
}
