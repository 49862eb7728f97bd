package drivertest

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

type member struct {
	consumer driver.Consumer
	stop     context.CancelFunc
	stopped  chan struct{}
	news     chan struct{}

	mu       sync.Mutex
	owned    map[int32]bool
	joined   bool
	received map[int32][]driver.Received
	ends     map[int32]int64 // the high watermarks of the latest chunks
	revoked  int
	err      error

	atMost  int  // records in one poll; 0 means no limit
	commits bool // in OnRevoked, it commits the records that it received
	holds   bool
	byHand  map[int32]int64
	control bool
	next    map[int32]int64
	pause   time.Duration // between a poll and recording what it returned
	session time.Duration // its session timeout; 0 is the client's default
	killed  bool          // later results must be errors
}

func (s suite) join(t testing.TB, topic, group string, change ...func(*member)) *member {
	t.Helper()
	m := &member{
		stopped:  make(chan struct{}),
		news:     make(chan struct{}, 1),
		owned:    make(map[int32]bool),
		received: make(map[int32][]driver.Received),
		ends:     make(map[int32]int64),
		next:     make(map[int32]int64),
	}
	for _, f := range change {
		f(m)
	}
	opened := make(chan struct{})
	cfg := s.groupConfig(topic, group)
	cfg.MaxPollRecords, cfg.SessionTimeout = m.atMost, m.session
	cfg.Partitions, cfg.ControlRecords = m.byHand, m.control
	cfg.OnAssigned = func(partitions []int32) {
		<-opened // the callback uses the consumer
		m.onAssigned(partitions)
	}
	cfg.OnRevoked = func(partitions []int32, lost bool) {
		<-opened
		m.onRevoked(partitions, lost)
	}
	c, err := s.driver.NewConsumer(cfg)
	if err != nil {
		t.Fatal(err)
	}
	m.consumer = c
	close(opened)
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	go m.poll(ctx)
	t.Cleanup(m.close)
	return m
}

func (s suite) groupConfig(topic, group string) driver.ConsumerConfig {
	return driver.ConsumerConfig{
		Brokers:      s.env.Brokers,
		Access:       s.env.Access,
		ClientID:     "drivertest",
		Topic:        topic,
		Group:        group,
		Protocol:     s.protocol,
		Assignor:     s.assignor,
		FetchMaxWait: 100 * time.Millisecond,
	}
}

func (m *member) onAssigned(partitions []int32) {
	if pauser, able := m.consumer.(driver.Pauser); able && m.holds {
		pauser.Pause(partitions...)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.joined = true
	for _, p := range partitions {
		m.owned[p] = true
	}
	notify(m.news)
}

func (m *member) onRevoked(partitions []int32, lost bool) {
	if m.commits && !lost {
		m.commit(partitions)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.revoked++
	for _, p := range partitions {
		delete(m.owned, p)
	}
	notify(m.news)
}

func (m *member) commit(partitions []int32) {
	m.mu.Lock()
	next := make(map[int32]int64)
	for _, p := range partitions {
		if got := m.received[p]; len(got) > 0 {
			next[p] = got[len(got)-1].Offset + 1
		}
	}
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := m.consumer.Commit(ctx, next); err != nil {
		m.fail(err)
	}
}

func (m *member) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err == nil {
		m.err = err
	}
	notify(m.news)
}

func (m *member) poll(ctx context.Context) {
	defer close(m.stopped)
	for ctx.Err() == nil {
		chunks, err := m.consumer.Poll(ctx)
		if m.isKilled() {
			m.checkKilled(len(chunks), err)
			return
		}
		if err != nil {
			m.fail(err)
			return
		}
		time.Sleep(m.pause)
		polled := 0
		for _, c := range chunks {
			polled += len(c.Records)
			m.take(c)
		}
		if m.atMost > 0 && polled > m.atMost {
			m.fail(fmt.Errorf("a poll returned %d records, %d are allowed", polled, m.atMost))
		}
	}
}

func (m *member) take(c driver.Chunk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range c.Records {
		m.received[c.Partition] = append(m.received[c.Partition], driver.Received{
			Offset: r.Offset,
			Key:    slices.Clone(r.Key),
			Value:  slices.Clone(r.Value),
			Stamp:  r.Stamp,
		})
	}
	m.next[c.Partition] = max(m.next[c.Partition], c.Next)
	m.ends[c.Partition] = c.HighWatermark
	if !m.owned[c.Partition] && m.err == nil {
		m.err = fmt.Errorf("partition %d: records of a partition that is not assigned", c.Partition)
	}
	if c.Free != nil {
		c.Free()
	}
	notify(m.news)
}

func (m *member) close() {
	m.stop()
	<-m.stopped
	m.consumer.Close()
}

func (m *member) await(t testing.TB, what string, holds func() bool) {
	t.Helper()
	eventually(t, m.news, what, func() bool {
		m.mu.Lock()
		defer m.mu.Unlock()
		return m.err != nil || holds()
	})
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		t.Fatal(m.err)
	}
}

func (m *member) awaitOwned(t testing.TB, n int) {
	t.Helper()
	m.await(t, fmt.Sprintf("%d partitions", n), func() bool { return len(m.owned) == n })
}

func (m *member) awaitReceived(t testing.TB, n int) {
	t.Helper()
	m.await(t, fmt.Sprintf("%d records", n), func() bool { return m.count() >= n })
}

// The caller holds the lock.
func (m *member) count() int {
	total := 0
	for _, records := range m.received {
		total += len(records)
	}
	return total
}

func (m *member) total() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.count()
}

func (m *member) partitions() []int32 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.owned))
}

func (m *member) all() map[int32][]driver.Received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.received)
}

func (s suite) readAll(t testing.TB, topic string, n int) map[int32][]driver.Received {
	t.Helper()
	if s.protocol == "" {
		s.protocol = s.protocols()[0]
	}
	m := s.join(t, topic, topic+"-reader")
	m.awaitReceived(t, n)
	m.close()
	if total := m.total(); total != n {
		t.Fatalf("the topic holds %d records, want %d", total, n)
	}
	return m.all()
}

// readUntil reads partition 0 of a topic up to a record with the value last, and perhaps further: a
// request whose connection was cut may arrive after that record.
func (s suite) readUntil(t testing.TB, topic string, last []byte) []driver.Received {
	t.Helper()
	if s.protocol == "" {
		s.protocol = s.protocols()[0]
	}
	m := s.join(t, topic, topic+"-reader")
	m.await(t, "the last record", func() bool {
		return slices.ContainsFunc(m.received[0], func(r driver.Received) bool { return bytes.Equal(r.Value, last) })
	})
	m.close()
	return m.all()[0]
}

func (s suite) offset(inLog int64) int64 {
	if s.lacks(driver.AckedOffsets) {
		return -1
	}
	return inLog
}

func (s suite) checkLog(t testing.TB, topic string, out *outbox, records []*driver.Record) {
	t.Helper()
	end := newOutbox()
	p := s.producer(t, s.config(topic, end.onDone))
	last := &driver.Record{Value: []byte("the last record")} // acked records are before it
	p.Produce(last)
	end.await(t, 1)
	checkAcked(t, 0, end.of(last))
	found := make(map[string]int64)
	for _, r := range s.readUntil(t, topic, last.Value) {
		found[string(r.Value)] = r.Offset
	}
	for i, r := range records {
		offset, in := found[string(r.Value)]
		switch d := out.of(r); {
		case d.Outcome == driver.Acked && (!in || d.Offset != s.offset(offset)):
			t.Errorf("record %d is acked at offset %d, and the log has it at %d (%v)", i, d.Offset, offset, in)
		case d.Outcome == driver.Failed && in:
			t.Errorf("record %d failed (%v), and the log has it at %d", i, d.Err, offset)
		}
	}
}
