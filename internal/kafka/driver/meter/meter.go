// Package meter counts bytes and requests on the connections of a Kafka client that
// reports little itself. A client in pure Go opens its connections through a dialer that
// it is given; what goes through them is Kafka's protocol, where every request and every
// response begins with its length and a number that joins the two. That is enough to
// count bytes, to time requests, to know whether a record can have left the client at
// all, and to cut the client off as kill -9 would, alike for every client and without a
// word from it.
//
// A connection is wrapped twice: Count below TLS, where bytes are those on the
// network, and Watch above it, where requests can be read. A client that tells of its
// requests and batches by itself needs Count alone. A Line is what a consumer's life
// hangs on.
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

// Meter counts what crosses the connections of one client. The zero value is ready
// for use; all methods may be called at any time, on any goroutine.
type Meter struct {
	// NoAcks says that produce requests are not answered (acks 0). It is set
	// before the first connection, and not changed.
	NoAcks bool
	// Batches has record batches counted as they cross the connections that Watch
	// watches: produced ones whenever they are written. It is for a client that
	// doesn't tell of its batches, and set before the first connection.
	Batches bool

	writtenBytes atomic.Int64
	readBytes    atomic.Int64

	batches           atomic.Int64
	batchRecords      atomic.Int64
	uncompressedBytes atomic.Int64
	compressedBytes   atomic.Int64
	packed            atomic.Int64 // batches that were compressed
	contentBytes      atomic.Int64

	produce, fetch sums

	// began counts the produce requests that began to leave the client,
	// unanswered those whose connection ended before an answer.
	began      atomic.Int64
	unanswered atomic.Int64
}

// sums is driver.RequestSum as it is counted.
type sums struct {
	count       atomic.Int64
	nanoseconds atomic.Int64
	connections atomic.Int64 // that are open and have carried such a request
}

func (s *sums) sum() driver.RequestSum {
	return driver.RequestSum{
		Count:       s.count.Load(),
		Time:        time.Duration(s.nanoseconds.Load()),
		Connections: int(s.connections.Load()),
	}
}

// Wire is for driver.WireCounter.
func (m *Meter) Wire() driver.Wire {
	w := driver.Wire{
		WrittenBytes:      m.writtenBytes.Load(),
		ReadBytes:         m.readBytes.Load(),
		Batches:           m.batches.Load(),
		BatchRecords:      m.batchRecords.Load(),
		UncompressedBytes: m.uncompressedBytes.Load(),
		CompressedBytes:   m.compressedBytes.Load(),
	}
	if m.packed.Load() > 0 { // what the batches do not say
		w.UncompressedBytes = m.contentBytes.Load()
	}
	return w
}

// Requests is for driver.RequestTimer.
func (m *Meter) Requests() driver.Requests {
	return driver.Requests{Produce: m.produce.sum(), Fetch: m.fetch.sum()}
}

// Traffic is what says, beside a client's error, whether a record can be in the
// log: how many produce requests the client began to write, and how many of those
// ended without an answer.
type Traffic struct {
	Began      int64
	Unanswered int64
}

// Traffic since the client's opening.
func (m *Meter) Traffic() Traffic {
	return Traffic{Began: m.began.Load(), Unanswered: m.unanswered.Load()}
}

// Since is the traffic after before.
func (t Traffic) Since(before Traffic) Traffic {
	return Traffic{Began: t.Began - before.Began, Unanswered: t.Unanswered - before.Unanswered}
}

// CountBatch counts a record batch: its records, and their bytes before and after
// compression, without the batch's header.
func (m *Meter) CountBatch(records, uncompressed, compressed int) {
	m.batches.Add(1)
	m.batchRecords.Add(int64(records))
	m.uncompressedBytes.Add(int64(uncompressed))
	m.compressedBytes.Add(int64(compressed))
}

// countBatch counts a batch that was seen on the wire.
func (m *Meter) countBatch(records, size int, packed bool) {
	m.CountBatch(records, size, size)
	if packed {
		m.packed.Add(1)
	}
}

// RecordBytes is what a record takes in a batch beside its key and value: lengths,
// attributes, and the differences of timestamp and offset to the batch's first, each
// a number of variable length. They are one byte more or less.
const RecordBytes = 8

// CountContent counts the keys and values of records, with RecordBytes for each: what
// batches that were seen on the wire were before compression. It is not needed where
// none is compressed, nor by who calls CountBatch.
func (m *Meter) CountContent(bytes int) { m.contentBytes.Add(int64(bytes)) }

// Count returns dial with connections whose bytes are counted.
func (m *Meter) Count(dial Dial) Dial {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, meter: m}, nil
	}
}

// countedConn counts a connection's bytes.
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
