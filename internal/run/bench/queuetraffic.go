package bench

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/run/judge"
)

// maxKey is above all API keys of Kafka.
const maxKey = 128

type traffic struct {
	requests      [maxKey]atomic.Int64
	written, read atomic.Int64
}

// OnBrokerE2E is called once for each request, after its response or error.
func (t *traffic) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key >= 0 && key < maxKey {
		t.requests[key].Add(1)
	}
	t.written.Add(int64(e2e.BytesWritten))
	t.read.Add(int64(e2e.BytesRead))
}

func (t *traffic) reading() judge.QueueTraffic {
	r := judge.QueueTraffic{Requests: make(map[string]int64)}
	for key := range t.requests {
		if n := t.requests[key].Load(); n > 0 {
			r.Requests[kmsg.NameForKey(int16(key))] = n
		}
	}
	r.Written, r.Read = t.written.Load(), t.read.Load()
	return r
}
