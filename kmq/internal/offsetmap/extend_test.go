package offsetmap

import (
	"testing"
	"testing/synctest"
	"time"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func TestExtendAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := running(t, testConfig(), 10)
		ls := w.receive(10)
		must(t, w.Ack(ctx, ls[3]))
		must(t, w.Extend(ctx, ls[4], time.Second))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		start, settled := time.Now(), ls[3].Deadline()
		must(t, w.ExtendAll(ctx, append([]*lease.Lease(nil), ls...), 20*time.Second))
		for i, l := range ls {
			switch left := l.Deadline().Sub(start); {
			case i == 3:
				if !l.Deadline().Equal(settled) {
					t.Error("what is settled was extended")
				}
			case i == 4:
				if l.State() != lease.Expired {
					t.Errorf("what ran out is %v", l.State())
				}
			case left != 20*time.Second:
				t.Errorf("record %d is lent for %v", i, left)
			}
		}
		time.Sleep(20*time.Second - time.Nanosecond)
		if ls[0].State() != lease.Open {
			t.Error("it ran out early")
		}
	})
}
