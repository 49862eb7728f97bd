package drivertest

import (
	"bytes"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func testProducedWire(t *testing.T, s suite) {
	const n, size = 1000, 200
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Compression, cfg.Linger = "gzip", 5*time.Millisecond
	p := s.producer(t, cfg)
	counter := p.(driver.WireCounter)
	for range n {
		p.Produce(&driver.Record{Value: bytes.Repeat([]byte("x"), size)})
	}
	out.await(t, n)
	// A client may count a batch shortly after its records are complete.
	awaitCount(t, func() bool { return counter.Wire().BatchRecords >= n })
	w := counter.Wire()
	switch {
	case w.BatchRecords != n:
		t.Errorf("%d records in batches, want %d", w.BatchRecords, n)
	case w.Batches < 1 || w.Batches > n:
		t.Errorf("%d batches of %d records", w.Batches, n)
	case w.UncompressedBytes < n*size || w.UncompressedBytes > 2*n*size:
		t.Errorf("%d bytes before compression, for %d bytes of values", w.UncompressedBytes, n*size)
	case w.CompressedBytes < 1 || w.CompressedBytes > w.UncompressedBytes/2:
		t.Errorf("compressed %d bytes to %d", w.UncompressedBytes, w.CompressedBytes)
	case w.WrittenBytes < w.CompressedBytes || w.WrittenBytes > w.CompressedBytes+500*w.Batches+10_000:
		t.Errorf("%d bytes written, for batches of %d bytes", w.WrittenBytes, w.CompressedBytes)
	case w.ReadBytes < 1:
		t.Errorf("%d bytes read", w.ReadBytes)
	}
}

func testProducedRequests(t *testing.T, s suite) {
	const n = 20
	out := newOutbox()
	p := s.producer(t, s.config(s.topic(t, 1), out.onDone))
	timer := p.(driver.RequestTimer)
	for i := range n { // one after the other, so each needs its own request
		p.Produce(&driver.Record{Value: value(i)})
		out.await(t, i+1)
	}
	awaitCount(t, func() bool { return timer.Requests().Produce.Count >= n })
	got := timer.Requests()
	if p := got.Produce; p.Count != n || p.Time <= 0 || p.Time > patience || p.Connections < 1 {
		t.Errorf("%d produce requests in %v on %d connections, want %d that took some time on one or more", p.Count,
			p.Time, p.Connections, n)
	}
	if got.Fetch.Count != 0 {
		t.Errorf("a producer made %d fetches", got.Fetch.Count)
	}
}

func testReadWire(t *testing.T, s suite) {
	const n = 500
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, n)
	m := s.join(t, topic, topic)
	counter := m.consumer.(driver.WireCounter)
	m.awaitReceived(t, n)
	m.close()
	w := counter.Wire()
	payload := int64(n * len(value(0)))
	switch {
	case w.BatchRecords < n:
		t.Errorf("%d records in batches, want %d or more", w.BatchRecords, n)
	case w.Batches < 1 || w.Batches > w.BatchRecords:
		t.Errorf("%d batches of %d records", w.Batches, w.BatchRecords)
	case w.UncompressedBytes < payload || w.CompressedBytes < payload:
		t.Errorf("batches of %d bytes before compression and %d after, for %d bytes of values",
			w.UncompressedBytes, w.CompressedBytes, payload)
	case w.ReadBytes < w.CompressedBytes || w.WrittenBytes < 1:
		t.Errorf("%d bytes read and %d written, for batches of %d bytes", w.ReadBytes, w.WrittenBytes,
			w.CompressedBytes)
	}
}

func testReadRequests(t *testing.T, s suite) {
	const n = 100
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, n)
	m := s.join(t, topic, topic)
	timer := m.consumer.(driver.RequestTimer)
	m.awaitReceived(t, n)
	awaitCount(t, func() bool { return timer.Requests().Fetch.Count > 1 })
	got := timer.Requests()
	if f := got.Fetch; f.Time <= 0 || f.Time > patience || f.Connections < 1 {
		t.Errorf("%d fetches in %v on %d connections", f.Count, f.Time, f.Connections)
	}
	if got.Produce.Count != 0 {
		t.Errorf("a consumer made %d produce requests", got.Produce.Count)
	}
}

func awaitCount(t testing.TB, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	news := make(chan struct{}, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-tick.C:
				notify(news)
			case <-stop:
				return
			}
		}
	}()
	eventually(t, news, "a counter", holds)
}
