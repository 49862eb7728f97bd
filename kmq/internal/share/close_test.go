package share

import (
	"errors"
	"testing"
	"testing/synctest"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// A Close without an error says that the brokers have taken what was acknowledged. If they refuse it, it
// is delivered again and Close returns an error. A Close sends again what a broker asks for again, and a
// release that is refused is no error: the record is delivered again in any case.
func TestCloseSaysWhatWasRefused(t *testing.T) {
	for _, c := range []struct {
		name         string
		answer       *kerr.Error
		acked, again int
		fails        bool
	}{
		{"refused", kerr.InvalidRecordState, 10, 10, true},
		{"to be sent again", kerr.CoordinatorLoadInProgress, 10, 0, false},
		{"a release is refused", kerr.InvalidRecordState, 0, 10, false},
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
