//go:build full

package markers

import (
	"bytes"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/cluster/clustertest"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// TestKafka repeats on Apache Kafka what depends on its time.
func TestKafka(t *testing.T) {
	k := clustertest.Shared(t)
	t.Run("missing", func(t *testing.T) {
		missing(t, onCluster(t, k, 1, visible(2*time.Second)))
	})
	t.Run("never early", func(t *testing.T) {
		neverEarly(t, onCluster(t, k, 4, visible(time.Second)), 400)
	})
	t.Run("one group fails", func(t *testing.T) {
		workBeside(t, onCluster(t, k, 2, failing), [2]plan{always(nacks), always(acks)})
	})
	t.Run("large when compressed", func(t *testing.T) { largeIsCopied(t, onCluster(t, k, 1, visible(2*time.Second))) })
	t.Run("append time", func(t *testing.T) { appendTime(t, onCluster(t, k, 1)) })
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

// A record that was compressed is copied though it is larger than the topic's batches
// may be. It is copied with zstd, which has no place in a bubble.
func largeIsCopied(t *testing.T, w *world) {
	cl := w.newClient(kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.GzipCompression()), kgo.ProducerBatchMaxBytes(8<<20))
	value := bytes.Repeat([]byte("abcd"), 500_000)
	if err := cl.ProduceSync(w.ctx, &kgo.Record{Topic: w.cfg.Topic, Value: value}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	w.produce(0, 3)
	q := w.open()
	w.receive(q, 4)
	large := 0
	for _, l := range w.receive(q, 4) {
		if l.Origin().Offset == 0 && bytes.Equal(l.Record.Value, value) {
			large++
		}
		w.ack(q, l)
	}
	if large != 1 {
		t.Errorf("the large record came %d times", large)
	}
	for _, r := range w.read(w.cfg.RetryTopic, 0) {
		if len(r.Value) > 1000 && r.Attrs.CompressionType() == 0 {
			t.Error("copied without compression")
		}
	}
}
