package share

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

func TestCloseSaysWhatWasRefused(t *testing.T) {
	for _, c := range []struct {
		name         string
		answer       *kerr.Error
		acked, again int
		fails        bool
	}{
		{"refused", kerr.InvalidRecordState, 10, 10, true},
		{"to be sent again", kerr.CoordinatorLoadInProgress, 10, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				w.produce(10, 1)
				e := w.open(w.config())
				all := w.receive(e, 10)
				synctest.Wait()
				refusal := w.cluster.Fake().Fault(kfake.Fault{
					Keys: []kmsg.Key{kmsg.ShareAcknowledge}, Topic: topic, Err: c.answer, Count: 1,
				})
				for _, l := range all[:c.acked] {
					must(t, e.Ack(t.Context(), l))
				}
				if err := e.Close(t.Context()); errors.Is(err, lease.ErrLost) != c.fails || !c.fails && err != nil {
					t.Errorf("closed with %v", err)
				}
				if refusal.Hits() != 1 {
					t.Errorf("%d requests were answered so", refusal.Hits())
				}
				other := w.open(w.config())
				if got := values(w.receive(other, c.again)); len(got) != c.again {
					t.Errorf("%v came again", got)
				}
				w.nothing(other, 2*lock)
			})
		})
	}
}

func TestEarlierRefusalsAreToldOnce(t *testing.T) {
	for _, first := range []string{"flush", "close"} {
		t.Run(first, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				w.produce(10, 1)
				e := w.open(w.config())
				w.refused(e, w.receive(e, 10))
				if first == "flush" {
					if err := e.Flush(t.Context()); !errors.Is(err, lease.ErrLost) {
						t.Errorf("flushed with %v", err)
					}
					must(t, e.Flush(t.Context()))
					must(t, e.Close(t.Context()))
				} else if err := e.Close(t.Context()); !errors.Is(err, lease.ErrLost) {
					t.Errorf("closed with %v", err)
				}
				w.receive(w.open(w.config()), 10)
			})
		})
	}
}

// A renewal makes the client send the acknowledgements at once.
func (w *world) refused(e *Engine, all []*lease.Lease) {
	w.t.Helper()
	synctest.Wait() // an idle fetch carries no acknowledgement
	refusal := w.cluster.Fake().Fault(kfake.Fault{
		Keys: []kmsg.Key{kmsg.ShareAcknowledge}, Topic: topic, Err: kerr.InvalidRecordState, Count: 1,
	})
	for _, l := range all[1:] {
		must(w.t, e.Ack(w.t.Context(), l))
	}
	if err := e.Extend(w.t.Context(), all[0], lock); !errors.Is(err, lease.ErrLost) || refusal.Hits() != 1 {
		w.t.Fatalf("extended with %v, %d requests were refused", err, refusal.Hits())
	}
	time.Sleep(time.Second)
	synctest.Wait()
}

func TestCloseSendsAgainForSoLong(t *testing.T) {
	for _, c := range []struct {
		name          string
		within, takes time.Duration
	}{
		{"within a time", 8 * time.Second, 4 * time.Second},
		{"within a long time", time.Hour, 10 * time.Second},
		{"without an end", 0, 10 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				w.produce(10, 1)
				e := w.open(w.config())
				all := w.receive(e, 10)
				w.refused(e, all[:5])
				ctx, began := context.Background(), time.Now()
				w.cluster.Fake().Fault(kfake.Fault{
					Keys: []kmsg.Key{kmsg.ShareAcknowledge}, Topic: topic, Err: kerr.CoordinatorLoadInProgress, Count: -1,
					When: func(kmsg.Request) bool { return time.Since(began) < time.Minute },
				})
				left := w.cluster.Fake().Fault(kfake.Fault{
					Keys: []kmsg.Key{kmsg.ShareGroupHeartbeat}, Observe: true, Count: -1,
					When: func(r kmsg.Request) bool { return r.(*kmsg.ShareGroupHeartbeatRequest).MemberEpoch == -1 },
				})
				for _, l := range all[5:] {
					must(t, e.Ack(t.Context(), l))
				}
				if c.within > 0 {
					var cancel func()
					ctx, cancel = context.WithTimeout(ctx, c.within)
					defer cancel()
				}
				err := e.Close(ctx)
				if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, lease.ErrLost) {
					t.Errorf("closed with %v", err)
				}
				if took := time.Since(began); took != c.takes || left.Hits() != 1 {
					t.Errorf("it took %v, and %d left the group", took, left.Hits())
				}
			})
		})
	}
}
