package franz

import (
	"context"
	"net"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

var apiProduce = int16(kmsg.Produce)

// wire counts a client's traffic. The client's hooks report requests and batches, and a meter counts bytes. Hooks run
// after a write, when the client may already have given up a record. So wire also wraps the connections above TLS, to
// detect the first byte of a produce request.
type wire struct {
	meter meter.Meter // of bytes and batches

	// producing counts the produce requests that began to leave the client, unanswered those that ended without an
	// answer. See outcome.go.
	producing  atomic.Int64
	unanswered atomic.Int64

	produced, fetched timed // see requests.go
}

var (
	_ kgo.HookBrokerE2E           = (*wire)(nil)
	_ kgo.HookProduceBatchWritten = (*wire)(nil)
	_ kgo.HookFetchBatchRead      = (*wire)(nil)
)

// OnBrokerE2E is called when a request was answered or failed.
func (w *wire) OnBrokerE2E(broker kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	w.time(broker.NodeID, key, e2e)
	if key == apiProduce && e2e.Err() != nil {
		w.unanswered.Add(1)
	}
}

// OnProduceBatchWritten is called for every batch that a broker accepted, shortly after the batch's records are
// complete.
func (w *wire) OnProduceBatchWritten(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.ProduceBatchMetrics) {
	w.meter.CountBatch(m.NumRecords, m.UncompressedBytes, m.CompressedBytes)
}

// OnFetchBatchRead is called for every batch in a fetch response.
func (w *wire) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	w.meter.CountBatch(m.NumRecords, m.UncompressedBytes, m.CompressedBytes)
}

// traffic returns the input of outcome, besides the error.
func (w *wire) traffic() meter.Traffic {
	return meter.Traffic{Began: w.producing.Load(), Unanswered: w.unanswered.Load()}
}

// dialer returns a dial function whose connections w counts: bytes below TLS, and requests above it.
func (w *wire) dialer(dial meter.Dial, a access.Access) meter.Dial {
	secured := a.Secure(w.meter.Count(dial))
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := secured(ctx, network, address)
		if err != nil {
			return nil, err
		}
		return &requestConn{Conn: conn, wire: w}, nil
	}
}

type requestConn struct {
	net.Conn
	wire *wire
}

// Write counts a produce request before its first byte leaves. The client writes each request in one call: four bytes
// of length, then the API key.
func (c *requestConn) Write(b []byte) (int, error) {
	if len(b) >= 6 && int16(b[4])<<8|int16(b[5]) == apiProduce {
		c.wire.producing.Add(1)
	}
	return c.Conn.Write(b)
}
