package franz

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/access"
	"kafkabench.example/kafka-bench/internal/kafka/driver/meter"
)

var apiProduce = int16(kmsg.Produce)

// The client's hooks run after a write, when the client may already have given up a record. So wire also wraps the
// connections above TLS, to detect the first byte of a produce request.
type wire struct {
	meter meter.Meter

	// producing counts the produce requests that began to leave the client; see outcome.go.
	producing  atomic.Int64
	unanswered atomic.Int64

	produced, fetched timed
	throttled         atomic.Int64 // nanoseconds
}

var (
	_ kgo.HookBrokerE2E           = (*wire)(nil)
	_ kgo.HookBrokerThrottle      = (*wire)(nil)
	_ kgo.HookProduceBatchWritten = (*wire)(nil)
	_ kgo.HookFetchBatchRead      = (*wire)(nil)
)

func (w *wire) OnBrokerE2E(broker kgo.BrokerMetadata, key int16, e2e kgo.BrokerE2E) {
	w.time(broker.NodeID, key, e2e)
	if key == apiProduce && e2e.Err() != nil {
		w.unanswered.Add(1)
	}
}

func (w *wire) OnBrokerThrottle(_ kgo.BrokerMetadata, throttled time.Duration, _ bool) {
	w.throttled.Add(int64(throttled))
}

// The client calls this hook shortly after the batch's records are complete.
func (w *wire) OnProduceBatchWritten(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.ProduceBatchMetrics) {
	w.meter.CountBatch(m.NumRecords, m.UncompressedBytes, m.CompressedBytes)
}

func (w *wire) OnFetchBatchRead(_ kgo.BrokerMetadata, _ string, _ int32, m kgo.FetchBatchMetrics) {
	w.meter.CountBatch(m.NumRecords, m.UncompressedBytes, m.CompressedBytes)
}

func (w *wire) traffic() meter.Traffic {
	return meter.Traffic{Began: w.producing.Load(), Unanswered: w.unanswered.Load()}
}

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

// The client writes each request in one call: four bytes of length, then the API key.
func (c *requestConn) Write(b []byte) (int, error) {
	if len(b) >= 6 && int16(b[4])<<8|int16(b[5]) == apiProduce {
		c.wire.producing.Add(1)
	}
	return c.Conn.Write(b)
}
