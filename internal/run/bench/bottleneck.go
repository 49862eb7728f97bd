package bench

import (
	"runtime"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
)

// timedRequests are those of the sending or the receiving side, where its driver times
// them.
type timedRequests struct {
	requests driver.Requests
	known    bool
	wire     driver.Wire
	counted  bool
}

// requestTimer is a side whose requests may be timed.
type requestTimer interface {
	Requests() (driver.Requests, bool)
	Wire() (driver.Wire, bool)
}

// timedOf are the requests of a side, wherever it is.
func timedOf(side any) (t timedRequests) {
	if timer, able := side.(requestTimer); able {
		t.requests, t.known = timer.Requests()
		t.wire, t.counted = timer.Wire()
	}
	return t
}

// add adds another group's.
func (t timedRequests) add(o timedRequests) timedRequests {
	return timedRequests{
		requests: t.requests.Add(o.requests), known: t.known || o.known,
		wire: t.wire.Add(o.wire), counted: t.counted || o.counted,
	}
}

// sub is what there was since an earlier reading.
func (t timedRequests) sub(o timedRequests) timedRequests {
	return timedRequests{
		requests: t.requests.Sub(o.requests), known: t.known && o.known,
		wire: t.wire.Sub(o.wire), counted: t.counted && o.counted,
	}
}

// clients are the requests of the clients under test between the two readings.
func (r *run) clients() *result.Clients {
	length := time.Duration(r.atEnd.at - r.atStart.at)
	if length <= 0 {
		return nil
	}
	sent, fetched := r.atEnd.sending.sub(r.atStart.sending), r.atEnd.fetching.sub(r.atStart.fetching)
	c := &result.Clients{}
	if sent.known && sent.requests.Produce.Connections > 0 {
		c.Produce = clientRequests(sent.requests.Produce, sent, sent.wire.WrittenBytes, length)
	}
	if fetched.known && fetched.requests.Fetch.Connections > 0 {
		c.Fetch = clientRequests(fetched.requests.Fetch, fetched, fetched.wire.ReadBytes, length)
	}
	if c.Produce == nil && c.Fetch == nil {
		return nil
	}
	return c
}

// clientRequests are those of one type.
func clientRequests(s driver.RequestSum, t timedRequests, wireBytes int64, length time.Duration) *result.ClientRequests {
	c := &result.ClientRequests{
		Count: s.Count, PerS: float64(s.Count) / length.Seconds(),
		InFlightMean: s.Time.Seconds() / length.Seconds(), Connections: s.Connections,
	}
	if s.Count == 0 {
		return c
	}
	ms := s.Time.Seconds() * 1e3 / float64(s.Count)
	c.MeanMs = &ms
	if !t.counted {
		return c
	}
	bytes, batches := float64(wireBytes)/float64(s.Count), float64(t.wire.Batches)/float64(s.Count)
	c.BytesPerRequest, c.Batches = &bytes, &batches
	if n := float64(t.wire.Batches); n > 0 {
		records, each := float64(t.wire.BatchRecords)/n, float64(t.wire.UncompressedBytes)/n
		c.RecordsPerBatch, c.BytesPerBatch = &records, &each
	}
	return c
}

// allowed are the limits that the run's figures are held against.
func (r *run) allowed() bottleneck.Settings {
	s := r.cfg.Scenario
	l, c := s.Load, s.Consume
	clients := l.Clients
	if clients == 0 {
		clients = l.Producers
	}
	return bottleneck.Settings{
		ClientCores: r.clientCores(),
		InFlight:    l.InFlight, BatchBytes: int64(l.Batch), LingerNs: int64(l.Linger), MaxBuffered: int64(l.MaxBuffered) * int64(clients),
		Partitions:             r.topic.Partitions,
		FetchMinBytes:          int64(c.Fetch.MinBytes),
		FetchMaxBytes:          r.fetchSetting(int64(c.Fetch.MaxBytes), "FetchMaxBytes"),
		FetchMaxPartitionBytes: r.fetchSetting(int64(c.Fetch.MaxPartitionBytes), "FetchMaxPartitionBytes"),
		FetchMaxWaitNs:         int64(c.Fetch.MaxWait),
		CommitsEachBatch:       c.Commit.EachBatch,
	}
}

// clientCores is how many cores the tool's processes may use: this one's, which are the
// others' as well.
func (r *run) clientCores() float64 {
	if r.apart() || r.cfg.Scenario.Consume.Processes > 1 {
		return float64(runtime.NumCPU())
	}
	return float64(runtime.GOMAXPROCS(0))
}

// fetchSetting is what the scenario sets, or what the client reports under its own name
// for it; 0 where it has another.
func (r *run) fetchSetting(set int64, name string) int64 {
	if set > 0 || len(r.groups) == 0 {
		return set
	}
	for _, s := range r.groups[0].Settings() {
		if s.Name == name {
			n, _ := strconv.ParseInt(strings.Fields(s.Value + " 0")[0], 10, 64) // 0 is not known
			return n
		}
	}
	return 0
}
