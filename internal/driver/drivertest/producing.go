package drivertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/internal/driver"
)

var producerTests = []test{
	{name: "acks", run: testAcks},
	{name: "codecs", run: testCodecs},
	{name: "partitions", run: testPartitions},
	{name: "workers", run: testWorkers},
	{name: "idempotent", run: testIdempotent, needs: []driver.Capability{driver.Idempotence}},
	{name: "too large", run: testTooLarge},
	{name: "no such partition", run: testNoSuchPartition},
	{name: "flush", run: testFlush},
	{name: "slots", run: testSlots},
	{name: "close in flight", run: testCloseInFlight},
	{name: "unreachable", run: testUnreachable},
	{name: "close unreachable", run: testCloseUnreachable},
	{name: "flush unreachable", run: testFlushUnreachable},
	{name: "room", run: testRoom},
	{name: "timestamps", run: testTimestamps, needs: []driver.Capability{driver.RecordTimestamps}},
	{name: "produced requests", run: testProducedRequests, needs: []driver.Capability{driver.TimeRequests}},
	{name: "produced wire", run: testProducedWire, needs: []driver.Capability{driver.CountWire}},
}

// testAcks: at each level records are acked, and offsets are the log's.
func testAcks(t *testing.T, s suite) {
	for _, acks := range []driver.Acks{driver.AcksNone, driver.AcksLeader, driver.AcksAll} {
		topic := s.topic(t, 1)
		out := newOutbox()
		cfg := s.config(topic, out.onDone)
		cfg.Acks = acks
		p := s.producer(t, cfg)
		records := make([]*driver.Record, 100)
		for i := range records {
			records[i] = &driver.Record{Value: value(i)}
			p.Produce(records[i])
		}
		flush(t, p)
		out.checkOnce(t, records)
		for i, r := range records {
			d := out.of(r)
			checkAcked(t, i, d)
			want := s.offset(int64(i))
			if acks == driver.AcksNone {
				want = -1 // nobody told
			}
			if d.Offset != want {
				t.Fatalf("acks %d: record %d has offset %d", acks, i, d.Offset)
			}
		}
		for i, got := range s.readAll(t, topic, len(records))[0] {
			if !bytes.Equal(got.Value, value(i)) || got.Offset != int64(i) {
				t.Fatalf("acks %d: offset %d is %q, want %q", acks, got.Offset, got.Value, value(i))
			}
		}
	}
}

// testCodecs: each codec, at its default and at a level, brings back the bytes.
func testCodecs(t *testing.T, s suite) {
	levels := map[string][]int{"none": {0}, "gzip": {0, 9}, "snappy": {0}, "lz4": {0, 9}, "zstd": {0, 3, 19}}
	for codec, levels := range levels {
		if s.lacks(driver.CompressionLevels) {
			levels = levels[:1]
		}
		for _, level := range levels {
			t.Run(fmt.Sprintf("%s %d", codec, level), func(t *testing.T) { testCodec(t, s, codec, level) })
		}
	}
}

func testCodec(t *testing.T, s suite, codec string, level int) {
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Compression, cfg.Level = codec, level
	p, err := s.driver.NewProducer(cfg)
	if level != 0 && codec != "gzip" && errors.Is(err, driver.ErrConfig) {
		t.Logf("the driver does without: %v", err) // a client may know the levels of some codecs
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	records := awkward()
	for _, r := range records {
		p.Produce(r)
	}
	flush(t, p)
	got := s.readAll(t, topic, len(records))[0]
	for i, r := range records {
		checkAcked(t, i, out.of(r))
		if !bytes.Equal(got[i].Key, r.Key) || !bytes.Equal(got[i].Value, r.Value) {
			t.Fatalf("record %d came back with another key or value (%d and %d bytes, sent %d and %d)",
				i, len(got[i].Key), len(got[i].Value), len(r.Key), len(r.Value))
		}
	}
}

// awkward are records whose bytes are easily spoiled.
func awkward() []*driver.Record {
	random := rand.NewChaCha8([32]byte{1})
	noise := make([]byte, 100_000)
	random.Read(noise)
	return []*driver.Record{
		{Value: []byte("no key")},
		{Key: []byte("no value")},
		{Key: []byte{0}, Value: []byte{0, 0xff, 0}},
		{Key: []byte("text"), Value: bytes.Repeat([]byte("kafka "), 20_000)},
		{Key: []byte("zeros"), Value: make([]byte, 100_000)},
		{Key: []byte("noise"), Value: noise},
	}
}

// testPartitions: the record goes where its owner says, in order.
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
	flush(t, p)
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

// testWorkers: several workers share a producer.
func testWorkers(t *testing.T, s suite) {
	const workers, each = 4, 500
	topic := s.topic(t, workers)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Linger, cfg.MaxBuffered = time.Millisecond, 100 // so that Produce blocks, too
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
	flush(t, p)
	out.checkOnce(t, records)
	for i, r := range records {
		d := out.of(r)
		checkAcked(t, i, d)
		if want := s.offset(int64(i % each)); d.Offset != want {
			t.Fatalf("worker %d: record %d has offset %d", i/each, i%each, d.Offset)
		}
	}
}

// testIdempotent: idempotence works with acks all, and with nothing less.
func testIdempotent(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Idempotent = true
	p := s.producer(t, cfg)
	records := make([]*driver.Record, 100)
	for i := range records {
		records[i] = &driver.Record{Value: value(i)}
		p.Produce(records[i])
	}
	flush(t, p)
	out.checkOnce(t, records)
	for i, r := range records {
		checkAcked(t, i, out.of(r))
	}
	cfg.Acks = driver.AcksLeader
	if p, err := s.driver.NewProducer(cfg); !errors.Is(err, driver.ErrConfig) {
		if err == nil {
			p.Close()
		}
		t.Fatalf("idempotent with acks 1: %v, want a configuration error", err)
	}
}

// testTooLarge: a record above the batch limit fails, its neighbours do not.
func testTooLarge(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.BatchBytes = 4096
	p := s.producer(t, cfg)
	records := []*driver.Record{
		{Value: value(0)},
		{Value: make([]byte, 100_000)},
		{Value: value(2)},
	}
	for _, r := range records {
		p.Produce(r)
	}
	flush(t, p)
	out.await(t, len(records))
	out.checkOnce(t, records)
	checkAcked(t, 0, out.of(records[0]))
	checkFailed(t, out.of(records[1]))
	checkAcked(t, 2, out.of(records[2]))
	s.checkLog(t, topic, out, records)
}

func checkFailed(t testing.TB, d driver.Done) {
	t.Helper()
	if d.Outcome != driver.Failed || d.Err == nil {
		t.Fatalf("the record is %v (%v), want failed with an error", d.Outcome, d.Err)
	}
}

// testNoSuchPartition: a partition that the topic does not have.
func testNoSuchPartition(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	p := s.producer(t, s.config(topic, out.onDone))
	records := []*driver.Record{{Value: value(0)}, {Partition: 7, Value: value(1)}}
	p.Produce(records[0])
	flush(t, p)
	p.Produce(records[1])
	out.await(t, len(records))
	out.checkOnce(t, records)
	checkFailed(t, out.of(records[1]))
}

// testFlush: flushing sends what lingers, and returns when all is done.
func testFlush(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Linger = 20 * time.Second // below the delivery timeout, as Kafka has it
	p := s.producer(t, cfg)
	started := time.Now()
	records := []*driver.Record{{Value: value(0)}, {Value: value(1)}}
	for _, r := range records {
		p.Produce(r)
	}
	flush(t, p)
	if n := out.count(); n != len(records) {
		t.Fatalf("%d records are done after the flush, want %d", n, len(records))
	}
	if took := time.Since(started); took > cfg.Linger/2 {
		t.Fatalf("the flush took %v: it waited for the linger", took)
	}
}

// testSlots: a record is used again as soon as it is handed back.
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
		if d.Tag > 0 { // used before
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
	flush(t, p)
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

// testCloseInFlight: a close hands everything back, and what it says about each
// record agrees with the log.
func testCloseInFlight(t *testing.T, s suite) {
	const n = 2000
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Linger, cfg.BatchBytes = time.Millisecond, 4096
	if !s.lacks(driver.InFlightLimit) {
		cfg.InFlight = 1 // so that more is left in the client
	}
	p := s.producer(t, cfg)
	records := make([]*driver.Record, n)
	for i := range records {
		records[i] = &driver.Record{Value: value(i)}
		p.Produce(records[i])
	}
	out.await(t, 1)
	p.Close()
	out.checkOnce(t, records)
	s.checkLog(t, topic, out, records)
}

// unreachable is an address at which nobody listens.
func unreachable(t testing.TB) []string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return []string{listener.Addr().String()}
}

// testUnreachable: records for a broker that cannot be reached end at the
// delivery timeout. They cannot be in a log, but not every client can tell.
func testUnreachable(t *testing.T, s suite) {
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers, cfg.DeliveryTimeout = unreachable(t), time.Second
	p := s.producer(t, cfg)
	checkLeftOver(t, p, out, func(n int) { out.await(t, n) })
}

// testCloseUnreachable: or when the producer is closed before.
func testCloseUnreachable(t *testing.T, s suite) {
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers = unreachable(t)
	p := s.producer(t, cfg)
	checkLeftOver(t, p, out, func(int) { p.Close() })
}

// checkLeftOver produces records that go nowhere, ends them, and checks that
// each comes back once and is not acked.
func checkLeftOver(t testing.TB, p driver.Producer, out *outbox, end func(n int)) {
	t.Helper()
	records := make([]*driver.Record, 100)
	for i := range records {
		records[i] = &driver.Record{Value: value(i)}
		p.Produce(records[i])
	}
	end(len(records))
	p.Close()
	out.checkOnce(t, records)
	for i, r := range records {
		if d := out.of(r); d.Outcome == driver.Acked || d.Err == nil {
			t.Fatalf("record %d is %v (%v)", i, d.Outcome, d.Err)
		}
	}
}

// testRoom: a client takes as many records as its bound allows without a wait, also
// while no broker can be reached: who keeps to a schedule would be held up otherwise, and
// would take it for its own lateness.
func testRoom(t *testing.T, s suite) {
	const room, quick = 5000, 2 * time.Second
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers, cfg.MaxBuffered, cfg.DeliveryTimeout = unreachable(t), room, time.Minute
	p := s.producer(t, cfg)
	records := make([]*driver.Record, room)
	began := time.Now()
	for i := range records {
		records[i] = &driver.Record{Value: value(i)}
		p.Produce(records[i])
	}
	if took := time.Since(began); took > quick {
		t.Errorf("%d records, which there is room for, took %v", room, took)
	}
	p.Close()
	out.checkOnce(t, records)
}

// testFlushUnreachable: a flush that cannot succeed ends with its context.
func testFlushUnreachable(t *testing.T, s suite) {
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers = unreachable(t)
	p := s.producer(t, cfg)
	p.Produce(&driver.Record{Value: value(0)})
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if err := p.Flush(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("flush: %v, want the context's error", err)
	}
}

// testProducedWire: the wire counts agree with what was produced.
func testProducedWire(t *testing.T, s suite) {
	const n, size = 1000, 200
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Compression, cfg.Linger = "zstd", 5*time.Millisecond
	p := s.producer(t, cfg)
	counter := p.(driver.WireCounter)
	for range n {
		p.Produce(&driver.Record{Value: bytes.Repeat([]byte("x"), size)})
	}
	flush(t, p)
	// A client may count a batch a moment after its records came back.
	awaitCount(t, func() bool { return counter.Wire().BatchRecords >= n })
	w := counter.Wire()
	switch {
	case w.BatchRecords != n:
		t.Errorf("%d records in batches, want %d", w.BatchRecords, n)
	case w.Batches < 1 || w.Batches > n:
		t.Errorf("%d batches of %d records", w.Batches, n)
	case w.UncompressedBytes < n*size || w.UncompressedBytes > 2*n*size:
		t.Errorf("%d bytes before compression, for %d bytes of values", w.UncompressedBytes, n*size)
	case w.CompressedBytes < 1 || w.CompressedBytes > w.UncompressedBytes/2:
		t.Errorf("compressed %d bytes to %d", w.UncompressedBytes, w.CompressedBytes)
	case w.WrittenBytes < w.CompressedBytes || w.WrittenBytes > w.CompressedBytes+500*w.Batches+10_000:
		t.Errorf("%d bytes written, for batches of %d bytes", w.WrittenBytes, w.CompressedBytes)
	case w.ReadBytes < 1:
		t.Errorf("%d bytes read", w.ReadBytes)
	}
}

// awaitCount waits for a counter that nothing tells of.
func awaitCount(t testing.TB, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	news := make(chan struct{}, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			select {
			case <-tick.C:
				notify(news)
			case <-stop:
				return
			}
		}
	}()
	eventually(t, news, "a counter", holds)
}

// testTimestamps: the timestamp in the log is the one that the record came with, to
// the millisecond.
func testTimestamps(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	p := s.producer(t, s.config(topic, out.onDone))
	// Not long ago: a client may count the delivery timeout from it.
	const n = 10
	created := time.Now().Add(-n * 301 * time.Millisecond).Truncate(time.Millisecond)
	records := make([]*driver.Record, n)
	for i := range n {
		records[i] = &driver.Record{Value: value(i), Created: created.Add(time.Duration(i) * 301 * time.Millisecond)}
		p.Produce(records[i])
	}
	flush(t, p)
	for i, r := range records {
		checkAcked(t, i, out.of(r))
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(s.env.Brokers...), kgo.DisableClientMetrics(),
		kgo.ConsumePartitions(map[string]map[int32]kgo.Offset{topic: {0: kgo.NewOffset().AtStart()}}))
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

// testProducedRequests: produce requests are counted and take time, on a connection.
func testProducedRequests(t *testing.T, s suite) {
	const n = 20
	out := newOutbox()
	p := s.producer(t, s.config(s.topic(t, 1), out.onDone))
	timer := p.(driver.RequestTimer)
	for i := range n { // one after the other, so each needs a request of its own
		p.Produce(&driver.Record{Value: value(i)})
		out.await(t, i+1)
	}
	awaitCount(t, func() bool { return timer.Requests().Produce.Count >= n })
	got := timer.Requests()
	if p := got.Produce; p.Count != n || p.Time <= 0 || p.Time > patience || p.Connections < 1 {
		t.Errorf("%d produce requests in %v on %d connections, want %d that took some time on one or more", p.Count, p.Time, p.Connections, n)
	}
	if got.Fetch.Count != 0 {
		t.Errorf("a producer made %d fetches", got.Fetch.Count)
	}
}
