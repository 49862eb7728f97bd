package franz

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/internal/access"
	"kafka-bench/internal/driver"
)

// apiProduce is the number of Kafka's Produce request.
var apiProduce = int16(kmsg.Produce)

// wire counts what crosses a client's connections. It is the client's hook for
// requests and batches, and it wraps the connections themselves to learn when
// the first byte of a produce request is about to leave, which no hook tells:
// hooks run after the write, when the record may have been given up already.
type wire struct {
	writtenBytes atomic.Int64
	readBytes    atomic.Int64

	batches           atomic.Int64
	batchRecords      atomic.Int64
	uncompressedBytes atomic.Int64
	compressedBytes   atomic.Int64

	// producing counts the produce requests that began to leave the client,
	// unanswered those that ended without an answer. See outcome.go.
	producing  atomic.Int64
	unanswered atomic.Int64

	produced, fetched timed // see requests.go
}

var (
	_ kgo.HookBrokerE2E           = (*wire)(nil)
	_ kgo.HookProduceBatchWritten = (*wire)(nil)
	_ kgo.HookFetchBatchRead      = (*wire)(nil)
)

func (w *wire) counts() driver.Wire {
	return driver.Wire{
		WrittenBytes:      w.writtenBytes.Load(),
		ReadBytes:         w.readBytes.Load(),
		Batches:           w.batches.Load(),
		BatchRecords:      w.batchRecords.Load(),
		UncompressedBytes: w.uncompressedBytes.Load(),
		CompressedBytes:   w.compressedBytes.Load(),
	}
}

// OnBrokerE2E is called when a request was answered or failed.
func (w *wire) OnBrokerE2E(broker kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	w.time(broker.NodeID, key, e2e)
	if key == apiProduce && e2e.Err() != nil {
		w.unanswered.Add(1)
	}
}

// OnProduceBatchWritten is called for every batch that a broker took. The
// client calls it a little after it has handed the batch's records back.
func (w *wire) OnProduceBatchWritten(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.ProduceBatchMetrics) {
	w.countBatch(m.NumRecords, m.UncompressedBytes, m.CompressedBytes)
}

// OnFetchBatchRead is called for every batch in a fetch response.
func (w *wire) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	w.countBatch(m.NumRecords, m.UncompressedBytes, m.CompressedBytes)
}

func (w *wire) countBatch(records, uncompressed, compressed int) {
	w.batches.Add(1)
	w.batchRecords.Add(int64(records))
	w.uncompressedBytes.Add(int64(uncompressed))
	w.compressedBytes.Add(int64(compressed))
}

// dialTimeout is the client's own default (kgo.DialTimeout), which does not
// apply to a dialer that it is given.
const dialTimeout = 10 * time.Second

// orPlain is d, or what dials as the client would by itself.
func (d dialFunc) orPlain() dialFunc {
	if d != nil {
		return d
	}
	return (&net.Dialer{Timeout: dialTimeout}).DialContext
}

// dialer returns a dial function whose connections are counted by w: bytes as
// they are on the wire, below TLS where there is any, and requests above it,
// where they can be told.
func (w *wire) dialer(dial dialFunc, a access.Access) dialFunc {
	plain := dial.orPlain()
	secured := a.Secure(func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := plain(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &countedConn{Conn: conn, wire: w}, nil
	})
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := secured(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &requestConn{Conn: conn, wire: w}, nil
	}
}

// countedConn counts a connection's bytes.
type countedConn struct {
	net.Conn
	wire *wire
}

func (c *countedConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.wire.readBytes.Add(int64(n))
	return n, err
}

func (c *countedConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.wire.writtenBytes.Add(int64(n))
	return n, err
}

// requestConn counts a connection's produce requests.
type requestConn struct {
	net.Conn
	wire *wire
}

// Write counts a produce request before any of it can leave. The client writes
// each request in one call: four bytes of length, then the number of the API.
func (c *requestConn) Write(b []byte) (int, error) {
	if len(b) >= 6 && int16(b[4])<<8|int16(b[5]) == apiProduce {
		c.wire.producing.Add(1)
	}
	return c.Conn.Write(b)
}
