package share

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// killable opens an engine in a process of its own; kill cuts all of its connections for good, and settles nothing.
func (w *world) killable(cfg engine.Config) (e *Engine, kill func()) {
	w.t.Helper()
	var mu sync.Mutex
	var conns []net.Conn
	dead := false
	cfg.Client = append(cfg.Client, kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
		mu.Lock()
		defer mu.Unlock()
		if dead {
			return nil, errors.New("the process is dead")
		}
		conn, err := w.cluster.Access().Dial(ctx, network, address)
		if err == nil {
			conns = append(conns, conn)
		}
		return conn, err
	}))
	e = w.open(cfg)
	return e, func() {
		mu.Lock()
		dead = true
		for _, conn := range conns {
			_ = conn.Close()
		}
		mu.Unlock()
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		_ = e.Close(ended)
	}
}

// A record outlives more processes than the brokers allow deliveries, and MaxDeliveries counts all of them.
func TestKilledOftenerThanTheBrokersDeliver(t *testing.T) {
	const most = 3 * defaultLimit
	for _, acked := range []bool{true, false} {
		t.Run(fmt.Sprint("acknowledged at last ", acked), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, 1, 1)
				w.produce(1, 1)
				cfg := w.config()
				cfg.MaxDeliveries = most
				for i := range most {
					e, kill := w.killable(cfg)
					l := w.receive(e, 1)[0]
					if l.Attempt != i+1 || l.Origin() != (lease.ID{}) || l.Record.Topic != topic {
						t.Fatalf("delivery %d is attempt %d of %v in topic %s", i+1, l.Attempt, l.Origin(), l.Record.Topic)
					}
					time.Sleep(50 * time.Millisecond) // the work; by then the record is accepted whose copy this is
					if i+1 == most && acked {
						must(t, e.Ack(t.Context(), l))
						must(t, e.Flush(t.Context()))
					}
					kill()
				}
				w.nothing(w.open(cfg), time.Minute)
				if got := len(w.written(dead)); acked && got != 0 || !acked && got != 1 {
					t.Errorf("%d dead letters", got)
				}
			})
		})
	}
}

// Each process is killed while it copies the record.
func TestKilledWhileCopying(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, 1, 1)
		w.produce(1, 1)
		cfg := w.config()
		e, kill := w.killable(cfg)
		must(t, e.Nack(t.Context(), w.receive(e, 1)[0], 0))
		w.receive(e, 1) // and holds it, since a closing process may use up a delivery of a record that is free
		kill()
		fault := w.cluster.Fake().Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: cfg.RetryTopic, Err: kerr.NotEnoughReplicas, Count: -1,
		})
		for range 2 {
			before := fault.Hits()
			_, kill := w.killable(cfg)
			for end := time.Now().Add(time.Minute); fault.Hits() == before; time.Sleep(10 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatal("nothing is copied")
				}
			}
			kill()
		}
		fault.Remove()
		l := w.receive(w.open(cfg), 1)[0]
		if l.Origin() != (lease.ID{}) {
			t.Errorf("%v comes", l.Origin())
		}
	})
}
