package bench

import (
	"runtime"
	"strconv"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
)

// clients are the requests of the clients under test between the two readings.
func (r *run) clients() *result.Clients {
	length := time.Duration(r.atEnd.at - r.atStart.at)
	if length <= 0 {
		return nil
	}
	sent, fetched := r.atEnd.sending.Sub(r.atStart.sending), r.atEnd.fetching.Sub(r.atStart.fetching)
	c := &result.Clients{}
	if sent.Timed && sent.Produce.Connections > 0 {
		c.Produce = clientRequests(sent.Produce, sent, sent.Wire.WrittenBytes, length)
	}
	if fetched.Timed && fetched.Fetch.Connections > 0 {
		c.Fetch = clientRequests(fetched.Fetch, fetched, fetched.Wire.ReadBytes, length)
	}
	if c.Produce == nil && c.Fetch == nil {
		return nil
	}
	return c
}

// clientRequests are those of one type.
func clientRequests(s snapshot.RequestSum, t snapshot.Traffic, wireBytes int64, length time.Duration) *result.ClientRequests {
	c := &result.ClientRequests{
		Count: s.Count, PerS: float64(s.Count) / length.Seconds(),
		InFlightMean: s.Time.Seconds() / length.Seconds(), Connections: s.Connections,
	}
	if s.Count == 0 {
		return c
	}
	ms := s.Time.Seconds() * 1e3 / float64(s.Count)
	c.MeanMs = &ms
	if !t.Counted {
		return c
	}
	bytes, batches := float64(wireBytes)/float64(s.Count), float64(t.Wire.Batches)/float64(s.Count)
	c.BytesPerRequest, c.Batches = &bytes, &batches
	if n := float64(t.Wire.Batches); n > 0 {
		records, each := float64(t.Wire.BatchRecords)/n, float64(t.Wire.UncompressedBytes)/n
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
