package kmqtest

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/conformance"
	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
)

// The queue in memory agrees with the model that the engines of kmq agree with.
func TestModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conformance.CompareWithModel(t, kmq.OffsetMap{}, func() conformance.System {
			var m *reopened
			n := 0
			return conformance.System{
				Open: func(visibility time.Duration, maxDeliveries int) engine.Engine {
					m = reopen(m, engine.Config{
						Topic: "topic", Group: "group", DeadLetterTopic: "dead",
						Visibility: visibility, MaxDeliveries: maxDeliveries, MaxInFlight: 4,
					})
					return m
				},
				Produce: func() lease.ID {
					n++
					r := &kgo.Record{Partition: int32(n % 3)}
					m.produce([]*kgo.Record{r})
					return lease.ID{Partition: r.Partition, Offset: r.Offset}
				},
				DeadLetters: func(int) []*kgo.Record { return m.deadLetters() },
			}
		})
	})
}

// reopened is an engine whose records another one may go on with.
type reopened struct {
	*memory
	left []*lease.Lease
}

func (r *reopened) Close(ctx context.Context) error {
	r.left = append(r.left, r.set.LoseAll(nil)...)
	return r.memory.Close(ctx)
}

// reopen returns an engine with the records that another one, which is closed, has left.
func reopen(old *reopened, cfg engine.Config) *reopened {
	m := newMemory(cfg)
	if old != nil {
		m.ends, m.dead = old.ends, old.dead
		m.goOn(old.left)
	}
	return &reopened{memory: m}
}

func (m *memory) goOn(left []*lease.Lease) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, l := range left {
		next := l.Again()
		if l.Deadline().IsZero() || l.Mark == inBackoff {
			next.Attempt = l.Attempt // it was not lent
		}
		m.set.Add(next, time.Time{})
		m.open[l.At] = struct{}{}
		m.taken++
		m.again(next)
	}
}

var (
	_ engine.Unhander = (*memory)(nil)
	_ engine.Parker   = (*memory)(nil)
)
