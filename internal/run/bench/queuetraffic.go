package bench

import (
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// maxKey bounds the keys of requests that are counted apart; all of Kafka's are below.
const maxKey = 128

// traffic counts the requests of a queue's clients by what they are.
type traffic struct {
	requests      [maxKey]atomic.Int64
	written, read atomic.Int64
}

// OnBrokerE2E is called once for each request that had an answer, or an error.
func (t *traffic) OnBrokerE2E(_ kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	if key >= 0 && key < maxKey {
		t.requests[key].Add(1)
	}
	t.written.Add(int64(e2e.BytesWritten))
	t.read.Add(int64(e2e.BytesRead))
}

// trafficReading is what was counted up to a moment.
type trafficReading struct {
	requests      [maxKey]int64
	written, read int64
}

func (t *traffic) reading() (r trafficReading) {
	for key := range t.requests {
		r.requests[key] = t.requests[key].Load()
	}
	r.written, r.read = t.written.Load(), t.read.Load()
	return r
}

// since is what was counted after o.
func (r trafficReading) since(o trafficReading) trafficReading {
	for key := range r.requests {
		r.requests[key] -= o.requests[key]
	}
	r.written -= o.written
	r.read -= o.read
	return r
}

// byType are the requests that there were, by Kafka's names for them, and their sum.
func (r trafficReading) byType() (all map[string]int64, sum int64) {
	all = make(map[string]int64)
	for key, n := range r.requests {
		if n > 0 {
			all[kmsg.NameForKey(int16(key))] = n
			sum += n
		}
	}
	return all, sum
}
