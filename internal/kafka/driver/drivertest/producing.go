package drivertest

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
	"kafkabench.example/kafka-bench/internal/plan/payload"
)

var producerTests = []test{
	{name: "acks", run: testAcks},
	{name: "partitions", run: testPartitions},
	{name: "workers", run: testWorkers},
	{name: "idempotent", run: testIdempotent, needs: []driver.Capability{driver.Idempotence}},
	{name: "too large", run: testTooLarge},
	{name: "no such partition", run: testNoSuchPartition},
	{name: "slots", run: testSlots},
	{name: "close in flight", run: testCloseInFlight},
	{name: "unreachable", run: testUnreachable},
	{name: "close unreachable", run: testCloseUnreachable},
	{name: "room", run: testRoom},
	{name: "stamps", run: testStamps},
	{name: "timestamps", run: testTimestamps, needs: []driver.Capability{driver.RecordTimestamps}},
	{name: "produced requests", run: testProducedRequests, timed: true,
		needs: []driver.Capability{driver.TimeRequests}},
	{name: "one record a batch", run: testOneRecordBatches, needs: []driver.Capability{driver.OneRecordBatches}},
	{name: "produced wire", run: testProducedWire, needs: []driver.Capability{driver.CountWire}},
}

func testAcks(t *testing.T, s suite) {
	for _, acks := range []driver.Acks{driver.AcksNone, driver.AcksLeader, driver.AcksAll} {
		topic := s.topic(t, 1)
		cfg := s.config(topic, nil)
		cfg.Acks = acks
		done := s.send(t, cfg, 1, 100)
		for i, d := range done {
			want := s.offset(int64(i))
			if acks == driver.AcksNone {
				want = -1
			}
			if d.Offset != want {
				t.Fatalf("acks %d: record %d has offset %d", acks, i, d.Offset)
			}
		}
		for i, got := range s.readAll(t, topic, len(done))[0] {
			if !bytes.Equal(got.Value, value(i)) || got.Offset != int64(i) {
				t.Fatalf("acks %d: offset %d is %q, want %q", acks, got.Offset, got.Value, value(i))
			}
		}
	}
}

func testPartitions(t *testing.T, s suite) {
	const partitions, n = 5, 500
	topic := s.topic(t, partitions)
	out := newOutbox()
	p := s.producer(t, s.config(topic, out.onDone))
	sent := make([][]*driver.Record, partitions)
	for i := range n {
		partition := int32(i*i) % partitions // squares: some partitions get none
		r := &driver.Record{Partition: partition, Key: []byte("same"), Value: value(i)}
		sent[partition] = append(sent[partition], r)
		p.Produce(r)
	}
	out.await(t, n)
	got := s.readAll(t, topic, n)
	for partition, records := range sent {
		if len(got[int32(partition)]) != len(records) {
			t.Fatalf("partition %d holds %d records, want %d", partition, len(got[int32(partition)]), len(records))
		}
		for i, r := range records {
			d := out.of(r)
			checkAcked(t, i, d)
			if found := got[int32(partition)][i]; !bytes.Equal(found.Value, r.Value) {
				t.Fatalf("partition %d offset %d is %q, want %q", partition, i, found.Value, r.Value)
			}
			if d.Offset != s.offset(int64(i)) {
				t.Fatalf("partition %d: record %d has offset %d", partition, i, d.Offset)
			}
		}
	}
}

func testWorkers(t *testing.T, s suite) {
	const workers, each = 4, 500
	topic := s.topic(t, workers)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Linger, cfg.MaxBuffered = time.Millisecond, 100 // so that Produce blocks too
	p := s.producer(t, cfg)
	records := make([]*driver.Record, workers*each)
	var done sync.WaitGroup
	for w := range workers {
		done.Go(func() {
			for i := range each {
				r := &driver.Record{Partition: int32(w), Value: value(i)}
				records[w*each+i] = r
				p.Produce(r)
			}
		})
	}
	done.Wait()
	out.await(t, len(records))
	out.checkOnce(t, records)
	for i, r := range records {
		d := out.of(r)
		checkAcked(t, i, d)
		if want := s.offset(int64(i % each)); d.Offset != want {
			t.Fatalf("worker %d: record %d has offset %d", i/each, i%each, d.Offset)
		}
	}
}

func testIdempotent(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	cfg := s.config(topic, func(driver.Done) {})
	cfg.Idempotent = true
	s.send(t, cfg, 1, 100)
	cfg.Acks = driver.AcksLeader
	if p, err := s.driver.NewProducer(cfg); !errors.Is(err, driver.ErrConfig) {
		if err == nil {
			p.Close()
		}
		t.Fatalf("idempotent with acks 1: %v, want a configuration error", err)
	}
}

// testSlots: a record can be reused as soon as it is complete.
func testSlots(t *testing.T, s suite) {
	const n = 1000
	topic := s.topic(t, 1)
	free := make(chan driver.Done, 10)
	p := s.producer(t, s.config(topic, func(d driver.Done) { free <- d }))
	for range cap(free) {
		free <- driver.Done{Record: &driver.Record{}}
	}
	offsets, settled := make(map[int64]bool), 0
	settle := func() *driver.Record {
		d := <-free
		if d.Tag != d.Record.Tag {
			t.Fatalf("a record with tag %d came back with tag %d", d.Record.Tag, d.Tag)
		}
		if d.Tag > 0 {
			checkAcked(t, settled, d)
			settled++
			offsets[d.Offset] = true
		}
		return d.Record
	}
	for i := range n {
		r := settle()
		r.Tag++
		r.Value = append(r.Value[:0], value(i)...)
		p.Produce(r)
	}
	for range cap(free) {
		settle()
	}
	if distinct := len(offsets); distinct != n && !s.lacks(driver.AckedOffsets) {
		t.Fatalf("%d distinct offsets, want %d", distinct, n)
	}
	for i, got := range s.readAll(t, topic, n)[0] {
		if !bytes.Equal(got.Value, value(i)) {
			t.Fatalf("offset %d is %q, want %q", i, got.Value, value(i))
		}
	}
}

// A record may have a stamp in its header, and one without follows.
func testStamps(t *testing.T, s suite) {
	const n = 20
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Compression = "snappy"
	p := s.producer(t, cfg)
	records := make([]*driver.Record, n)
	for i := range n {
		records[i] = &driver.Record{Value: value(i)}
		if i%2 == 0 {
			records[i].Stamp = &payload.Header{byte(i), 1, 2, 3}
		}
		p.Produce(records[i])
	}
	out.await(t, n)
	for i, r := range records {
		checkAcked(t, i, out.of(r))
	}
	for i, got := range s.readAll(t, topic, n)[0] {
		want := records[i].Stamp
		if !bytes.Equal(got.Value, value(i)) || (got.Stamp == nil) != (want == nil) || want != nil && *got.Stamp != *want {
			t.Errorf("offset %d is %q with the stamp %v, want %q with %v", i, got.Value, got.Stamp, value(i), want)
		}
	}
}

func testTimestamps(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	p := s.producer(t, s.config(topic, out.onDone))
	// Recent times: a client may count the delivery timeout from them.
	const n = 10
	created := time.Now().Add(-n * 301 * time.Millisecond).Truncate(time.Millisecond)
	records := make([]*driver.Record, n)
	for i := range n {
		records[i] = &driver.Record{Value: value(i), Created: created.Add(time.Duration(i) * 301 * time.Millisecond)}
		p.Produce(records[i])
	}
	out.await(t, n)
	for i, r := range records {
		checkAcked(t, i, out.of(r))
	}
	client, err := kgo.NewClient(append(s.env.Access.Options(),
		kgo.SeedBrokers(s.env.Brokers...), kgo.DisableClientMetrics(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	read := 0
	for read < n && ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachError(func(_ string, _ int32, err error) { t.Error(err) })
		fetches.EachRecord(func(r *kgo.Record) {
			if want := created.Add(time.Duration(r.Offset) * 301 * time.Millisecond); !r.Timestamp.Equal(want) {
				t.Errorf("offset %d has timestamp %v, want %v", r.Offset, r.Timestamp.UTC(), want)
			}
			read++
		})
	}
	if read != n {
		t.Errorf("read %d records, want %d", read, n)
	}
}
