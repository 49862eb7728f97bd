package cluster

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/access"
)

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

func inVirtualTime(t *testing.T, opts EmbeddedOptions, f func(t *testing.T, e *Embedded)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // closed clients still have timers
		opts.Network = &kfake.VirtualNetwork{}
		f(t, startEmbedded(t, opts))
	})
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
	inVirtualTime(t, EmbeddedOptions{RetentionBytes: retentionBound}, testEmbeddedRetention)
}

const retentionBound = 8 << 20

func testEmbeddedRetention(t *testing.T, e *Embedded) {
	_, topic := testTopic(t, e, "much", 1, 1)
	client, err := newClient(e.Bootstrap(), e.Access(), kgo.ProducerBatchCompression(kgo.NoCompression()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	value := bytes.Repeat([]byte("x"), 512<<10)
	for range 32 { // 16 MiB
		if err := client.ProduceSync(testContext(t), &kgo.Record{Topic: topic.Name, Value: value}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(embeddedSweep)
	synctest.Wait()
	p := e.Fake().PartitionInfo(topic.Name, 0)
	if p.NumBytes > retentionBound || p.NumBytes <= retentionBound-embeddedSegmentBytes || p.LogStartOffset == 0 {
		t.Errorf("the partition holds %d bytes, from offset %d on; the bound is %d",
			p.NumBytes, p.LogStartOffset, retentionBound)
	}
}

func TestEmbeddedDelays(t *testing.T) {
	const d = 100 * time.Millisecond
	tests := map[string]struct {
		opts                  EmbeddedOptions
		ack, earliest, latest time.Duration
	}{
		"none":    {EmbeddedOptions{}, 0, 0, 0},
		"produce": {EmbeddedOptions{ProduceDelay: d}, d, d, d},
		"fetch":   {EmbeddedOptions{FetchDelay: d}, 0, d, 2 * d},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			inVirtualTime(t, test.opts, func(t *testing.T, e *Embedded) {
				_, topic := testTopic(t, e, "late", 1, 1)
				acks, deliveries := sendEvery(t, e, topic.Name, 10*time.Millisecond, 30)
				for i := range acks {
					if acks[i] != test.ack || deliveries[i] < test.earliest || deliveries[i] > test.latest {
						t.Errorf("record %d was acknowledged after %v and delivered after %v; want %v, and %v to %v",
							i, acks[i], deliveries[i], test.ack, test.earliest, test.latest)
					}
				}
			})
		})
	}
}

func sendEvery(
	t *testing.T, e *Embedded, topic string, period time.Duration, n int,
) (acks, deliveries []time.Duration) {
	t.Helper()
	client, err := newClient(e.Bootstrap(), e.Access(), kgo.ConsumeTopics(topic),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.ProducerLinger(0), kgo.DisableIdempotentWrite(),
		kgo.MaxProduceRequestsInflightPerBroker(64))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	// The first record also waits for connections and metadata.
	if err := client.ProduceSync(testContext(t), &kgo.Record{Topic: topic}).FirstErr(); err != nil {
		t.Fatal(err)
	}
	client.PollFetches(testContext(t))

	acks, deliveries = make([]time.Duration, n), make([]time.Duration, n)
	sent := make([]time.Time, n)
	go func() {
		for i := range n {
			sent[i] = time.Now()
			r := &kgo.Record{Topic: topic, Value: []byte{byte(i)}}
			client.Produce(context.Background(), r, func(*kgo.Record, error) { acks[i] = time.Since(sent[i]) })
			time.Sleep(period)
		}
	}()
	for got := 0; got < n; {
		client.PollFetches(testContext(t)).EachRecord(func(r *kgo.Record) {
			i := r.Value[0]
			deliveries[i] = time.Since(sent[i])
			got++
		})
	}
	synctest.Wait()
	return acks, deliveries
}

func TestEmbeddedOptions(t *testing.T) {
	for _, opts := range []EmbeddedOptions{{Brokers: -1}, {Brokers: MaxBrokers + 1}, {RetentionBytes: -1}, {ProduceDelay: -1}, {ProducePerSecond: -1}, {FetchDelay: -1}} {
		_, err := StartEmbedded(opts)
		wantError(t, err, ErrInput, "1 to 9 brokers")
	}
}
