package franz

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var apiFetch = int16(kmsg.Fetch)

type timed struct {
	count   atomic.Int64
	time    atomic.Int64 // nanoseconds
	brokers atomic.Int64
	seen    sync.Map // brokers that answered, by their IDs
}

func (t *timed) add(broker int32, took time.Duration) {
	t.count.Add(1)
	t.time.Add(int64(took))
	if _, known := t.seen.Load(broker); known {
		return
	}
	if _, known := t.seen.LoadOrStore(broker, struct{}{}); !known {
		t.brokers.Add(1)
	}
}

func (t *timed) sum() driver.RequestSum {
	return driver.RequestSum{
		Count: t.count.Load(), Time: time.Duration(t.time.Load()),
		// The client has one connection to each broker for produce requests, and one for fetches.
		Connections: int(t.brokers.Load()),
	}
}

func (w *wire) time(broker int32, key int16, e2e kgo.BrokerE2E) {
	if e2e.Err() != nil {
		return
	}
	switch key {
	case apiProduce:
		w.produced.add(broker, e2e.DurationE2E())
	case apiFetch:
		w.fetched.add(broker, e2e.DurationE2E())
	}
}

func (w *wire) requests() driver.Requests {
	r := driver.Requests{Produce: w.produced.sum(), Fetch: w.fetched.sum()}
	// A client either produces or fetches.
	if r.Fetch.Count > 0 {
		r.Fetch.Throttled = time.Duration(w.throttled.Load())
	} else {
		r.Produce.Throttled = time.Duration(w.throttled.Load())
	}
	return r
}
