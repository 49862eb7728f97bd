package judge

import (
	"time"

	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/result"
)

// clients returns nil if the clients under test made no requests.
func (e *Evidence) clients() *result.Clients {
	length := time.Duration(e.End.AtNs - e.Start.AtNs)
	if length <= 0 {
		return nil
	}
	sent, fetched := e.End.Sending.Sub(e.Start.Sending), e.End.Fetching.Sub(e.Start.Fetching)
	c := &result.Clients{ReadOverS: length.Seconds()}
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

func clientRequests(s snapshot.RequestSum, t snapshot.Traffic, wireBytes int64, length time.Duration) *result.ClientRequests {
	c := &result.ClientRequests{
		Count: s.Count, PerS: float64(s.Count) / length.Seconds(),
		InFlightMean: s.Time.Seconds() / length.Seconds(), Connections: s.Connections,
		ThrottledS: s.Throttled.Seconds(),
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
