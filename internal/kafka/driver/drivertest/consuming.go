package drivertest

import (
	"bytes"
	"context"
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

var groupTests = []test{
	{name: "share", run: testShare},
	{name: "spare member", run: testSpareMember},
	{name: "join and leave", run: testJoinAndLeave},
	{name: "commit and resume", run: testCommitAndResume},
	{name: "commit on revoke", run: testCommitOnRevoke},
	{name: "pause", run: testPause, needs: []driver.Capability{driver.PausePartitions}},
	{name: "pause ends with ownership", run: testPauseEnds, needs: []driver.Capability{driver.PausePartitions}},
	{name: "pause on assignment", run: testPauseOnAssignment, needs: []driver.Capability{driver.PausePartitions}},
	{name: "pause moves", run: testPauseMoves, needs: []driver.Capability{driver.PausePartitions}},
	{name: "poll ends with its context", run: testPollContext},
	{name: "poll at most", run: testPollAtMost},
	{name: "read wire", run: testReadWire, needs: []driver.Capability{driver.CountWire}},
	{name: "read requests", run: testReadRequests, timed: true, needs: []driver.Capability{driver.TimeRequests}},
	{name: "kill", run: testKill, needs: []driver.Capability{driver.KillConsumer, driver.SessionTimeouts}},
}

// testShare: the members of a group have each partition once and receive each record once.
func testShare(t *testing.T, s suite) {
	const partitions, members, n = 6, 3, 600
	topic := s.topic(t, partitions)
	group := make([]*member, members)
	for i := range group {
		group[i] = s.join(t, topic, topic)
	}
	for _, m := range group {
		m.awaitOwned(t, partitions/members)
	}
	checkShared(t, partitions, group)
	s.fill(t, topic, partitions, n)
	for _, m := range group {
		m.awaitReceived(t, n/members)
	}
	checkReceivedOnce(t, n, group...)
}

func checkShared(t testing.TB, partitions int, group []*member) {
	t.Helper()
	var owned []int32
	for _, m := range group {
		owned = append(owned, m.partitions()...)
	}
	slices.Sort(owned)
	for i := range partitions {
		if i >= len(owned) || owned[i] != int32(i) || len(owned) != partitions {
			t.Fatalf("the members own %v, want 0 to %d, each once", owned, partitions-1)
		}
	}
}

func checkReceivedOnce(t testing.TB, n int, group ...*member) {
	t.Helper()
	received := make(map[string]int)
	for _, m := range group {
		for _, records := range m.all() {
			for _, r := range records {
				received[string(r.Value)]++
			}
		}
	}
	for i := range n {
		if times := received[string(value(i))]; times != 1 {
			t.Errorf("record %d was received %d times", i, times)
		}
	}
}

func testSpareMember(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	first, second := s.join(t, topic, topic), s.join(t, topic, topic)
	for _, m := range []*member{first, second} {
		m.await(t, "the assignment", func() bool { return m.joined })
	}
}

func testJoinAndLeave(t *testing.T, s suite) {
	const partitions = 4
	topic := s.topic(t, partitions)
	first := s.join(t, topic, topic)
	first.awaitOwned(t, partitions)
	second := s.join(t, topic, topic)
	second.awaitOwned(t, partitions/2)
	first.awaitOwned(t, partitions/2)
	checkShared(t, partitions, []*member{first, second})
	if first.revoked == 0 {
		t.Error("OnRevoked was not called when partitions moved to the second member")
	}
	second.close()
	if owned := second.partitions(); len(owned) != 0 {
		t.Errorf("after Close, OnRevoked has not taken back partitions %v", owned)
	}
	first.awaitOwned(t, partitions)
}

func testCommitAndResume(t *testing.T, s suite) {
	const n, committed = 100, 40
	topic := s.topic(t, 1)
	s.fill(t, topic, 1, n)
	m := s.join(t, topic, topic)
	m.awaitReceived(t, n)
	if err := m.consumer.Commit(context.Background(), map[int32]int64{0: committed}); err != nil {
		t.Fatal(err)
	}
	m.close()
	next := s.join(t, topic, topic)
	next.awaitReceived(t, n-committed)
	next.close()
	if got := next.all()[0]; len(got) != n-committed || got[0].Offset != committed {
		t.Fatalf("resumed at offset %d with %d records, want %d with %d", got[0].Offset, len(got), committed,
			n-committed)
	}
	// The high watermark may be old while records are written, but none are written now.
	if next.ends[0] != n {
		t.Errorf("the high watermark of a partition of %d records came as %d", n, next.ends[0])
	}
}

// testCommitOnRevoke: if every member commits in OnRevoked, no record is received twice or missed.
func testCommitOnRevoke(t *testing.T, s suite) {
	const partitions, n = 4, 4000
	topic := s.topic(t, partitions)
	commits := func(m *member) { m.commits, m.pause = true, 20*time.Millisecond }
	first := s.join(t, topic, topic, commits)
	first.awaitOwned(t, partitions)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.trickle(t, topic, partitions, n)
	}()
	first.awaitReceived(t, 1)
	second := s.join(t, topic, topic, commits)
	second.awaitOwned(t, partitions/2)
	<-ended
	second.close()
	first.await(t, "all records", func() bool { return first.count()+second.total() >= n })
	checkReceivedOnce(t, n, first, second)
}

func (s suite) trickle(t testing.TB, topic string, partitions, n int) {
	out := newOutbox()
	p, err := s.driver.NewProducer(s.config(topic, out.onDone))
	if err != nil {
		t.Error(err)
		return
	}
	defer p.Close()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for i := range n {
		p.Produce(&driver.Record{Partition: int32(i % partitions), Value: value(i)})
		if i%2 == 0 {
			<-tick.C
		}
	}
	out.await(t, n)
}

func testPollContext(t *testing.T, s suite) {
	topic := s.topic(t, 1)
	m := s.join(t, topic, topic)
	m.awaitOwned(t, 1)
	m.stop()
	<-m.stopped
	for _, timeout := range []time.Duration{0, 200 * time.Millisecond} {
		ctx, cancel := context.WithTimeout(context.Background(), timeout)
		started := time.Now()
		chunks, err := m.consumer.Poll(ctx)
		cancel()
		if took := time.Since(started); err != nil || len(chunks) > 0 || took > timeout+2*time.Second {
			t.Fatalf("a poll of at most %v gave %d chunks and error %v after %v", timeout, len(chunks), err, took)
		}
	}
}

func testPollAtMost(t *testing.T, s suite) {
	const partitions, n, atMost = 2, 1000, 7
	topic := s.topic(t, partitions)
	s.fill(t, topic, partitions, n)
	m := s.join(t, topic, topic, func(m *member) { m.atMost = atMost })
	m.awaitReceived(t, n)
	for partition, records := range m.all() {
		for i, r := range records {
			if want := value(partitions*i + int(partition)); !bytes.Equal(r.Value, want) {
				t.Fatalf("partition %d offset %d is %q, want %q", partition, r.Offset, r.Value, want)
			}
		}
	}
}
