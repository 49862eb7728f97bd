package markers

import (
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// TestKafka repeats on Apache Kafka what depends on its time and its transactions.
func TestKafka(t *testing.T) {
	k := clustertest.Kafka(t, 1)
	t.Run("transactions", func(t *testing.T) { inTxns(t, onBrokers(t, k.Bootstrap(), 2, inTransactions)) })
	t.Run("missing", func(t *testing.T) {
		missing(t, onBrokers(t, k.Bootstrap(), 1, visible(2*time.Second)))
	})
	t.Run("never early", func(t *testing.T) {
		neverEarly(t, onBrokers(t, k.Bootstrap(), 4, visible(time.Second)), 400)
	})
	t.Run("one group fails", func(t *testing.T) {
		oneFails(t, func(t *testing.T) *world { return onBrokers(t, k.Bootstrap(), 2, failing) })
	})
	t.Run("append time", func(t *testing.T) { appendTime(t, onBrokers(t, k.Bootstrap(), 1)) })
}

// The markers' time is the broker's, whatever the clock of the one who wrote them.
func appendTime(t *testing.T, w *world) {
	w.produce(0, 1)
	q := w.open()
	w.ack(q, w.receive(q, 1)...)
	w.flush(q)
	r := newScribe(&w.cfg).record(marker.Marker{Offset: -1, Type: marker.Tick})
	r.Timestamp = time.Now().Add(-10 * time.Minute)
	if err := w.client.ProduceSync(w.ctx, r).FirstErr(); err != nil {
		t.Fatal(err)
	}
	for _, m := range w.read(w.cfg.MarkersTopic, 0) {
		if age := time.Since(m.Timestamp); age > time.Minute || m.Attrs.TimestampType() != 1 {
			t.Errorf("marker %d: %v old, of timestamp type %d", m.Offset, age, m.Attrs.TimestampType())
		}
	}
}
