package drivertest

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

type outbox struct {
	mu    sync.Mutex
	done  map[*driver.Record]driver.Done
	times map[*driver.Record]int
	news  chan struct{}
}

func newOutbox() *outbox {
	return &outbox{
		done: make(map[*driver.Record]driver.Done), times: make(map[*driver.Record]int), news: make(chan struct{}, 1),
	}
}

func (o *outbox) onDone(d driver.Done) {
	o.mu.Lock()
	o.done[d.Record] = d
	o.times[d.Record]++
	o.mu.Unlock()
	notify(o.news)
}

func notify(news chan struct{}) {
	select {
	case news <- struct{}{}:
	default:
	}
}

func (o *outbox) count() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	total := 0
	for _, times := range o.times {
		total += times
	}
	return total
}

func (o *outbox) await(t testing.TB, n int) {
	t.Helper()
	eventually(t, o.news, fmt.Sprintf("%d records to come back", n), func() bool { return o.count() >= n })
}

func (o *outbox) checkOnce(t testing.TB, records []*driver.Record) {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i, r := range records {
		if o.times[r] != 1 {
			t.Fatalf("record %d came back %d times, want once", i, o.times[r])
		}
	}
	if len(o.done) != len(records) {
		t.Fatalf("%d records came back, %d were produced", len(o.done), len(records))
	}
}

func (o *outbox) of(r *driver.Record) driver.Done {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done[r]
}

func eventually(t testing.TB, news <-chan struct{}, what string, holds func() bool) {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for !holds() {
		select {
		case <-news:
		case <-timeout.C:
			t.Fatalf("waited %v for %s", patience, what)
		}
	}
}

func (s suite) topic(t testing.TB, partitions int) string {
	name := fmt.Sprintf("%s-%x", strings.NewReplacer("/", "-", "#", "-").Replace(t.Name()), rand.Uint64())
	s.env.CreateTopic(t, name, partitions)
	t.Cleanup(func() { s.env.DeleteTopic(t, name) })
	return name
}

func (s suite) config(topic string, onDone func(driver.Done)) driver.ProducerConfig {
	return driver.ProducerConfig{
		Brokers:         s.env.Brokers,
		Access:          s.env.Access,
		ClientID:        "drivertest",
		Topic:           topic,
		Acks:            driver.AcksAll,
		Compression:     "none",
		DeliveryTimeout: 30 * time.Second,
		OnDone:          onDone,
	}
}

func (s suite) producer(t testing.TB, cfg driver.ProducerConfig) driver.Producer {
	t.Helper()
	return Producer(t, s.driver, cfg)
}

// fill produces value(0) to value(n-1), round robin over the partitions, and waits until all are acknowledged.
func (s suite) fill(t testing.TB, topic string, partitions, n int) {
	t.Helper()
	s.send(t, s.config(topic, nil), partitions, n)
}

func (s suite) send(t testing.TB, cfg driver.ProducerConfig, partitions, n int) []driver.Done {
	t.Helper()
	out := newOutbox()
	cfg.OnDone = out.onDone
	p := s.producer(t, cfg)
	records := make([]*driver.Record, n)
	for i := range records {
		records[i] = &driver.Record{Partition: int32(i % partitions), Value: value(i)}
		p.Produce(records[i])
	}
	out.await(t, n)
	out.checkOnce(t, records)
	done := make([]driver.Done, n)
	for i, r := range records {
		done[i] = out.of(r)
		checkAcked(t, i, done[i])
	}
	return done
}

func value(i int) []byte { return fmt.Appendf(nil, "record %06d", i) }

func checkAcked(t testing.TB, i int, d driver.Done) {
	t.Helper()
	if d.Outcome != driver.Acked || d.Err != nil {
		t.Fatalf("record %d is %v (%v), want acked", i, d.Outcome, d.Err)
	}
}
