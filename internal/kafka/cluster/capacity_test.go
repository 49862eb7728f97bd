package cluster

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestCapacity(t *testing.T) {
	inVirtualTime(t, EmbeddedOptions{Brokers: 2, ProducePerSecond: 2000}, testCapacity)
}

func testCapacity(t *testing.T, e *Embedded) {
	const perSecond, seconds, batchBytes, partitions = 2000, 10, 1 << 10, 4
	_, topic := testTopic(t, e, "capped", partitions, 1)
	for range 2 {
		client, err := newClient(e.Bootstrap(), e.Access(), kgo.DefaultProduceTopic(topic.Name),
			kgo.ProducerBatchMaxBytes(batchBytes), kgo.MaxBufferedRecords(2000))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		t.Cleanup(client.Close)
		t.Cleanup(cancel)
		go func() {
			for ctx.Err() == nil {
				client.Produce(ctx, kgo.SliceRecord([]byte("x")), nil)
			}
		}()
	}
	inLog := func() (records int64) {
		for p := range int32(partitions) {
			records += e.Fake().PartitionInfo(topic.Name, p).HighWatermark
		}
		return records
	}
	time.Sleep(time.Second) // until every connection has a request waiting
	from := inLog()
	time.Sleep(seconds * time.Second)
	// All records of a request come into the log at once, so the count may be wrong by a request.
	const perRequest = partitions * batchBytes / 7 // a record has at least 7 bytes
	if got := inLog() - from; got < perSecond*seconds-perRequest || got > perSecond*seconds+perRequest {
		t.Errorf("%d records were let in, want %d, and %d more or less", got, perSecond*seconds, perRequest)
	}
}

func TestCapacityQueue(t *testing.T) {
	c := newCapacity(1000)
	frame := produceFrame(t, 20)
	zero := time.Now()
	for i, test := range []struct{ at, want time.Duration }{
		{0, 20 * time.Millisecond},
		{0, 40 * time.Millisecond},
		{30 * time.Millisecond, 60 * time.Millisecond},
		{time.Second, 1020 * time.Millisecond},
		{time.Second, 1040 * time.Millisecond},
	} {
		if got := c.serve(frame, zero.Add(test.at)).Sub(zero); got != test.want {
			t.Errorf("request %d, at %v, is served after %v, want %v", i, test.at, got, test.want)
		}
	}
	if got := newCapacity(0).serve(frame, zero); got != zero {
		t.Errorf("without a cap it is served %v later", got.Sub(zero))
	}
}

func TestProducedRecords(t *testing.T) {
	whole := produceFrame(t, 7)
	if got := producedRecords(whole); got != 7 {
		t.Errorf("%d records, want 7", got)
	}
	for n := range whole {
		if got := producedRecords(whole[:n]); got != 0 {
			t.Errorf("%d records in the first %d bytes of a request", got, n)
		}
	}
}

func produceFrame(t *testing.T, records int32) []byte {
	t.Helper()
	request := kmsg.NewPtrProduceRequest()
	request.Version = 11
	partition := kmsg.NewProduceRequestTopicPartition()
	partition.Records = (&kmsg.RecordBatch{Magic: 2, NumRecords: records}).AppendTo(nil)
	topic := kmsg.NewProduceRequestTopic()
	topic.Topic, topic.Partitions = "t", append(topic.Partitions, partition)
	request.Topics = append(request.Topics, topic)
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("client")).AppendRequest(nil, request, 1)
}
