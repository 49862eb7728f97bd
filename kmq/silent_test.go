package kmq_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
)

// Reject and Close take no longer than their contexts, and Close ends a Reject whose context never
// ends.
func TestSilentBroker(t *testing.T) {
	for _, e := range allEngines {
		t.Run(e.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				i := newInspected(t)
				q := i.open(i.config(e))
				ds := i.receive(q, 3)
				i.silence()
				i.ends("Reject", func(ctx context.Context) {
					if err := ds[0].Reject(ctx, "no"); err == nil && e != (kmq.Share{}) {
						t.Error("rejected, and nobody has the copy")
					}
				})
				other := make(chan error, 1)
				go func() { other <- ds[1].Reject(context.Background(), "no") }()
				i.ends("Close", func(ctx context.Context) { _ = q.Close(ctx) })
				i.ends("a Reject of a queue that is closed", func(context.Context) {
					if err := <-other; err == nil {
						t.Error("rejected, and nobody has the copy")
					}
				})
			})
		})
	}
}

func (i *inspected) silence() {
	i.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		i.cluster.KeepControl()
		return nil, nil, true
	})
}

func (i *inspected) ends(what string, f func(context.Context)) {
	i.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f(ctx)
	}()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		i.Fatalf("%s hangs", what)
	}
}
