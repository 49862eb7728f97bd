package drivertest

import (
	"bytes"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

func testPause(t *testing.T, s suite) {
	const n = 100
	topic := s.topic(t, 2)
	m := s.join(t, topic, topic)
	pauser := m.consumer.(driver.Pauser)
	m.awaitOwned(t, 2)
	pauser.Pause(0)
	s.fill(t, topic, 2, 2*n)
	m.await(t, "the records of partition 1", func() bool { return len(m.received[1]) == n })
	if got := len(m.all()[0]); got > 0 {
		t.Fatalf("received %d records of the paused partition", got)
	}
	pauser.Resume(0)
	m.await(t, "the records of partition 0", func() bool { return len(m.received[0]) == n })
	for i, r := range m.all()[0] {
		if want := value(2 * i); !bytes.Equal(r.Value, want) {
			t.Fatalf("offset %d is %q, want %q", i, r.Value, want)
		}
	}
}

// testPauseEnds: a paused partition that moves to another member and returns is no longer paused.
func testPauseEnds(t *testing.T, s suite) {
	const partitions, n = 2, 10
	topic := s.topic(t, partitions)
	first := s.join(t, topic, topic)
	pauser := first.consumer.(driver.Pauser)
	first.awaitOwned(t, partitions)
	pauser.Pause(0, 1)
	second := s.join(t, topic, topic)
	second.awaitOwned(t, 1)
	moved := second.partitions()[0]
	second.close()
	first.awaitOwned(t, partitions)
	s.fill(t, topic, partitions, partitions*n)
	first.await(t, "the records of the partition that came back",
		func() bool { return len(first.received[moved]) == n })
}

func testPauseOnAssignment(t *testing.T, s suite) {
	const partitions, n = 3, 300
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, topic, func(m *member) { m.holds = true })
	s.letGo(t, m, partitions, n)
}

// testPauseMoves: partitions that are paused in OnAssigned, and move away and back, return no records before
// Resume.
func testPauseMoves(t *testing.T, s suite) {
	const partitions, n = 4, 400
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	holds := func(m *member) { m.holds = true }
	first := s.join(t, topic, topic, holds)
	first.awaitOwned(t, partitions)
	second := s.join(t, topic, topic, holds)
	second.awaitOwned(t, partitions/2)
	first.awaitOwned(t, partitions/2)
	second.close()
	first.awaitOwned(t, partitions)
	if got := first.total() + second.total(); got > 0 {
		t.Fatalf("received %d records of paused partitions", got)
	}
	first.consumer.(driver.Pauser).Resume(first.partitions()...)
	first.awaitReceived(t, n)
	if got := first.total(); got != n {
		t.Fatalf("received %d records, want %d", got, n)
	}
}

func (s suite) letGo(t *testing.T, m *member, partitions, n int) {
	t.Helper()
	pauser := m.consumer.(driver.Pauser)
	m.awaitOwned(t, partitions)
	time.Sleep(500 * time.Millisecond) // several fetches
	if got := m.total(); got > 0 {
		t.Fatalf("received %d records of paused partitions", got)
	}
	if owned := m.partitions(); len(owned) != partitions || m.revoked > 0 {
		t.Fatalf("while it was paused, %d of %d partitions were taken away", partitions-len(owned), partitions)
	}
	pauser.Resume(m.partitions()...)
	m.awaitReceived(t, n)
}
