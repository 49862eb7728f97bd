// Package meter counts bytes and requests on the connections of a Kafka client that reports little itself. Each
// request and response begins with its length and a correlation ID. That is enough to count bytes, to time
// requests, and to know whether a record can have left the client.
//
// A connection is wrapped twice: by Count below TLS, which sees the bytes on the network, and by Watch above it,
// which sees requests. A Line cuts off a consumer, as kill -9 would.
//
// Files to know: meter.go, requests.go, line.go.
package meter

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// Dial opens a connection to a broker, like net.Dialer's DialContext.
type Dial = func(ctx context.Context, network, address string) (net.Conn, error)

// Meter counts the traffic of one client. It is safe for concurrent use, and its zero value is
// ready.
type Meter struct {
	// NoAcks reports that produce requests get no answer (acks 0). Set it before the first connection.
	NoAcks bool
	// Batches makes Watch count record batches, for a client that does not report them; it counts a
	// produced batch at each write. Set it before the first connection.
	Batches bool

	writtenBytes atomic.Int64
	readBytes    atomic.Int64

	batches           atomic.Int64
	batchRecords      atomic.Int64
	uncompressedBytes atomic.Int64
	compressedBytes   atomic.Int64
	packed            atomic.Int64
	contentBytes      atomic.Int64

	produce, fetch sums

	// began counts the produce requests that began to leave the client, unanswered those without an answer.
	began      atomic.Int64
	unanswered atomic.Int64
}

type sums struct {
	count       atomic.Int64
	nanoseconds atomic.Int64
	connections atomic.Int64 // open connections that have carried such a request
}

func (s *sums) sum() driver.RequestSum {
	return driver.RequestSum{
		Count:       s.count.Load(),
		Time:        time.Duration(s.nanoseconds.Load()),
		Connections: int(s.connections.Load()),
	}
}

// Wire implements driver.WireCounter.
func (m *Meter) Wire() driver.Wire {
	w := driver.Wire{
		WrittenBytes:      m.writtenBytes.Load(),
		ReadBytes:         m.readBytes.Load(),
		Batches:           m.batches.Load(),
		BatchRecords:      m.batchRecords.Load(),
		UncompressedBytes: m.uncompressedBytes.Load(),
		CompressedBytes:   m.compressedBytes.Load(),
	}
	if m.packed.Load() > 0 { // the batches' headers do not have the size before compression
		w.UncompressedBytes = m.contentBytes.Load()
	}
	return w
}

// Requests implements driver.RequestTimer.
func (m *Meter) Requests() driver.Requests {
	return driver.Requests{Produce: m.produce.sum(), Fetch: m.fetch.sum()}
}

// Traffic counts the produce requests that the client began to write, and those that ended without an answer.
type Traffic struct {
	Began      int64
	Unanswered int64
}

// Traffic returns the traffic since the client was opened.
func (m *Meter) Traffic() Traffic {
	return Traffic{Began: m.began.Load(), Unanswered: m.unanswered.Load()}
}

// Since returns the traffic after an earlier reading.
func (t Traffic) Since(before Traffic) Traffic {
	return Traffic{Began: t.Began - before.Began, Unanswered: t.Unanswered - before.Unanswered}
}

// CountBatch counts a record batch: its records, and their bytes before and after compression, without the batch's
// header.
func (m *Meter) CountBatch(records, uncompressed, compressed int) {
	m.batches.Add(1)
	m.batchRecords.Add(int64(records))
	m.uncompressedBytes.Add(int64(uncompressed))
	m.compressedBytes.Add(int64(compressed))
}

func (m *Meter) countBatch(records, size int, packed bool) {
	m.CountBatch(records, size, size)
	if packed {
		m.packed.Add(1)
	}
}

// RecordBytes is the size of a record in a batch, without the record's key and value, to within one
// byte.
const RecordBytes = 8

// CountContent counts the bytes of records' keys and values, plus RecordBytes for each record: the
// size before compression of the batches that Watch counts.
func (m *Meter) CountContent(bytes int) { m.contentBytes.Add(int64(bytes)) }

// Count wraps dial, and counts the bytes of the connections that it opens.
func (m *Meter) Count(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, meter: m}, nil
	}
}

type countedConn struct {
	net.Conn
	meter *Meter
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.meter.readBytes.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.meter.writtenBytes.Add(int64(n))
	return n, err
}
