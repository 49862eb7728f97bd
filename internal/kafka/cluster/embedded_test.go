package cluster

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

// startEmbedded starts an embedded cluster that the test's end stops.
func startEmbedded(t *testing.T, opts EmbeddedOptions) *Embedded {
	t.Helper()
	e, err := StartEmbedded(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return e
}

func TestEmbedded(t *testing.T) {
	e := startEmbedded(t, EmbeddedOptions{Brokers: 3})
	info := e.Info()
	if info.Kind != KindEmbedded || info.Brokers != 3 || !strings.Contains(info.Note, "harness") {
		t.Errorf("Info() = %+v", info)
	}
	found, err := Connect(testContext(t), e.Bootstrap(), info.ID, access.Access{})
	if err != nil || found.Info().Brokers != 3 {
		t.Errorf("Connect() = %+v, %v", found, err)
	}
	_, topic := testTopic(t, e, "embedded", 3, 1)
	produce(t, e, topic.Name, "here")
	if got := consume(t, e, topic.Name, 1); got["here"] != 1 {
		t.Errorf("consumed %v", got)
	}
	if err := e.Stop(testContext(t)); err != nil {
		t.Error(err)
	}
	if addrs := e.Bootstrap(); len(addrs) != 3 {
		t.Errorf("Bootstrap() after Stop = %v", addrs)
	}
}

func TestEmbeddedRetention(t *testing.T) {
	const bound = 8 << 20
	e := startEmbedded(t, EmbeddedOptions{RetentionBytes: bound})
	_, topic := testTopic(t, e, "much", 1, 1)
	client, err := newClient(e.Bootstrap(), access.Access{}, kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	value := bytes.Repeat([]byte("x"), 512<<10)
	for range 64 { // 32 MiB
		if err := client.ProduceSync(testContext(t), &kgo.Record{Topic: topic.Name, Value: value}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		p := e.Fake().PartitionInfo(topic.Name, 0)
		if p.NumBytes <= bound && p.LogStartOffset > 0 {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("the partition holds %d bytes, from offset %d on; the bound is %d", p.NumBytes, p.LogStartOffset, bound)
		}
	}
}

// TestEmbeddedDelays looks at many records at once: what is late by d must be
// late by d with others on the way, and not by d after the one before.
func TestEmbeddedDelays(t *testing.T) {
	const d = 100 * time.Millisecond
	tests := map[string]struct {
		opts             EmbeddedOptions
		ack, delivery    time.Duration // at least
		ackMax, delivMax time.Duration
	}{
		"produce": {EmbeddedOptions{ProduceDelay: d}, d, d, 2 * d, 2 * d},
		"fetch":   {EmbeddedOptions{FetchDelay: d}, 0, d, d, 3 * d},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			e := startEmbedded(t, test.opts)
			_, topic := testTopic(t, e, "late", 1, 1)
			acks, deliveries := sendEvery(t, e, topic.Name, 10*time.Millisecond, 30)
			wantBetween(t, "ack", acks, test.ack, test.ackMax)
			wantBetween(t, "delivery", deliveries, test.delivery, test.delivMax)
		})
	}
}

// sendEvery produces n records, one each period and each in a batch of its own,
// and returns how long each took to be acknowledged and to be delivered.
func sendEvery(t *testing.T, c Cluster, topic string, period time.Duration, n int) (acks, deliveries []time.Duration) {
	t.Helper()
	client, err := newClient(c.Bootstrap(), access.Access{}, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.ProducerLinger(0), kgo.DisableIdempotentWrite(), kgo.MaxProduceRequestsInflightPerBroker(64))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	// The first record pays for connections and metadata, here and there.
	produce(t, c, topic, "first")
	if fetches := client.PollFetches(testContext(t)); fetches.NumRecords() != 1 {
		t.Fatalf("%d records before the first: %v", fetches.NumRecords(), fetches.Errors())
	}
	if err := client.ProduceSync(testContext(t), &kgo.Record{Topic: topic}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	client.PollFetches(testContext(t))

	acked := make(chan time.Duration, n)
	go func() {
		for range n {
			sent := time.Now()
			r := &kgo.Record{Topic: topic, Timestamp: sent}
			client.Produce(context.Background(), r, func(*kgo.Record, error) { acked <- time.Since(sent) })
			time.Sleep(period)
		}
	}()
	for len(deliveries) < n {
		fetches := client.PollFetches(testContext(t))
		now := time.Now()
		if errs := fetches.Errors(); len(errs) > 0 {
			t.Fatal(errs)
		}
		fetches.EachRecord(func(r *kgo.Record) { deliveries = append(deliveries, now.Sub(r.Timestamp)) })
	}
	for range n {
		acks = append(acks, <-acked)
	}
	return acks, deliveries
}

// wantBetween fails unless every time is at least low, and nine of ten are at
// most high: a machine that builds something else meanwhile is late at times.
func wantBetween(t *testing.T, what string, times []time.Duration, low, high time.Duration) {
	t.Helper()
	late := 0
	for _, d := range times {
		if d < low-time.Millisecond { // Kafka's time stamps are whole milliseconds
			t.Errorf("%s after %v, want at least %v", what, d, low)
		}
		if d > high {
			late++
		}
	}
	if late > len(times)/10 {
		t.Errorf("%s: %d of %d later than %v: %v", what, late, len(times), high, times)
	}
}

func TestEmbeddedOptions(t *testing.T) {
	for _, opts := range []EmbeddedOptions{{Brokers: -1}, {Brokers: MaxBrokers + 1}, {RetentionBytes: -1}, {ProduceDelay: -1}, {ProducePerSecond: -1}, {FetchDelay: -1}} {
		_, err := StartEmbedded(opts)
		wantError(t, err, ErrInput, "1 to 9 brokers")
	}
}
