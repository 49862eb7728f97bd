package markers

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// A fault that no waiting mends ends the queue, and Receive says which.
func TestStartsThatAreForbidden(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		w.onProduce(w.cfg.MarkersTopic, func(p *kmsg.ProduceRequest) *kmsg.ProduceResponse {
			return refusal(p, kerr.TopicAuthorizationFailed)
		})
		w.produce(0, 1)
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("%d records, %v", len(ls), err)
		}
		if err := q.Close(ctx); errors.Is(err, context.DeadlineExceeded) { // what was not started need not be given back
			t.Errorf("close: %v", err)
		}
	})
}

// Nothing is handed out, and nothing committed, before its start is durable.
func TestStartComesFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1)
		q := w.open()
		w.until("the partition is assigned", func() bool { return len(q.member.Owned()) == 1 })
		var allow atomic.Bool
		tried := make(chan struct{}, 1)
		w.onProduce(w.cfg.MarkersTopic, func(p *kmsg.ProduceRequest) *kmsg.ProduceResponse {
			if allow.Load() {
				return nil
			}
			signal(tried)
			return refusal(p, kerr.NotEnoughReplicas)
		})
		w.produce(0, 3)
		select {
		case <-tried:
		case <-time.After(patience):
			t.Fatal("no start was tried")
		}
		ctx, cancel := context.WithTimeout(w.ctx, 300*time.Millisecond)
		defer cancel()
		if ls, err := q.Receive(ctx, 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%d records, %v", len(ls), err)
		}
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at > 0 {
			t.Errorf("committed %d", at)
		}
		allow.Store(true)
		w.ack(q, w.receive(q, 3)...)
		w.flush(q)
		if at := w.committed(w.cfg.Group, w.cfg.Topic, 0); at != 3 {
			t.Errorf("committed %d after the flush", at)
		}
	})
}
