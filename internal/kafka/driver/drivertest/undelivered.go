package drivertest

import (
	"net"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

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

func testNoSuchPartition(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	out := newOutbox()
	p := s.producer(t, s.config(topic, out.onDone))
	records := []*driver.Record{{Value: value(0)}, {Partition: 7, Value: value(1)}}
	p.Produce(records[0])
	out.await(t, 1)
	p.Produce(records[1])
	out.await(t, len(records))
	out.checkOnce(t, records)
	checkFailed(t, out.of(records[1]))
}

func testCloseInFlight(t *testing.T, s suite) {
	const n = 2000
	topic := s.topic(t, 1)
	out := newOutbox()
	cfg := s.config(topic, out.onDone)
	cfg.Linger, cfg.BatchBytes = time.Millisecond, 4096
	if !s.lacks(driver.InFlightLimit) {
		cfg.InFlight = 1 // so that more records are left in the client
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

func unreachable(t testing.TB) []string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return []string{listener.Addr().String()}
}

func testUnreachable(t *testing.T, s suite) {
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers, cfg.DeliveryTimeout = unreachable(t), time.Second
	p := s.producer(t, cfg)
	checkLeftOver(t, p, out, func(n int) { out.await(t, n) })
}

func testCloseUnreachable(t *testing.T, s suite) {
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers = unreachable(t)
	p := s.producer(t, cfg)
	checkLeftOver(t, p, out, func(int) { p.Close() })
}

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

// testRoom: Produce does not block below MaxBuffered, even if no broker is reachable.
func testRoom(t *testing.T, s suite) {
	const room, givenUp = 5000, time.Minute
	out := newOutbox()
	cfg := s.config("nowhere", out.onDone)
	cfg.Brokers, cfg.MaxBuffered, cfg.DeliveryTimeout = unreachable(t), room, givenUp
	p := s.producer(t, cfg)
	records := make([]*driver.Record, room)
	began := time.Now()
	for i := range records {
		records[i] = &driver.Record{Value: value(i)}
		p.Produce(records[i])
	}
	if took := time.Since(began); took > givenUp/2 {
		t.Errorf("%d records, which there is room for, took %v", room, took)
	}
	p.Close()
	out.checkOnce(t, records)
}
