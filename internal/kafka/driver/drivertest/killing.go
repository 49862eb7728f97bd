package drivertest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// testKill: a killed member neither leaves nor commits, even at Close, and gets no callback.
func testKill(t *testing.T, s suite) {
	const partitions, n, committed = 2, 100, 40
	session, known := s.env.SessionTimeouts[s.protocol]
	if !known {
		t.Log("the session timeout of this protocol is too long for a test")
		return
	}
	victim, heir, topic := s.pair(t, session)
	s.fill(t, topic, partitions, partitions*n)
	victim.awaitReceived(t, n)
	heir.awaitReceived(t, n)
	lost := victim.partitions()[0]
	if err := victim.consumer.Commit(context.Background(), map[int32]int64{lost: committed}); err != nil {
		t.Fatal(err)
	}
	revoked := victim.revocations()

	killedAt := time.Now()
	victim.kill(t, victim.consumer.(driver.Killer))
	if err := victim.consumer.Commit(context.Background(), map[int32]int64{lost: n}); err == nil {
		t.Error("a member that was killed can commit")
	}
	victim.close()
	heir.awaitOwned(t, partitions)
	checkInherited(t, time.Since(killedAt), session)
	heir.awaitReceived(t, n+n-committed)
	if got := heir.all()[lost]; len(got) != n-committed || got[0].Offset != committed {
		t.Errorf("the other member received %d records from offset %d, want %d from %d", len(got), got[0].Offset,
			n-committed, committed)
	}
	if again := victim.revocations(); again != revoked {
		t.Errorf("OnRevoked was called %d times after the kill", again-revoked)
	}
	victim.checkFine(t)
}

func (s suite) pair(t *testing.T, session time.Duration) (victim, heir *member, topic string) {
	t.Helper()
	const partitions = 2
	with := func(m *member) {
		if s.protocol == "classic" { // otherwise the broker sets it
			m.session = session
		}
	}
	topic = s.topic(t, partitions)
	victim = s.join(t, topic, topic, with)
	// The heir commits: otherwise, after an eager rebalance, it would read its own partition again.
	heir = s.join(t, topic, topic, with, func(m *member) { m.commits = true })
	victim.awaitOwned(t, 1)
	heir.awaitOwned(t, 1)
	checkShared(t, partitions, []*member{victim, heir})
	return victim, heir, topic
}

// The broker counts from the last heartbeat, at most a third of the timeout before the kill.
func checkInherited(t *testing.T, took, session time.Duration) {
	t.Helper()
	if took < session*6/10 || took > session+10*time.Second {
		t.Errorf("the partition of the killed member came to the other one after %v, and the session timeout is %v",
			took, session)
	}
}

func (m *member) kill(t testing.TB, killer driver.Killer) {
	t.Helper()
	m.mu.Lock()
	m.killed = true
	m.mu.Unlock()
	killer.Kill()
	select {
	case <-m.stopped:
	case <-time.After(patience):
		t.Fatal("a poll went on after the kill")
	}
}

func (m *member) isKilled() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.killed
}

func (m *member) checkKilled(chunks int, err error) {
	if err == nil {
		var next []driver.Chunk
		next, err = m.consumer.Poll(context.Background())
		chunks = len(next)
	}
	if err == nil || chunks > 0 {
		m.fail(fmt.Errorf("a poll of a killed member returned %d chunks, and failed: %t", chunks, err != nil))
	}
}

func (m *member) revocations() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.revoked
}

func (m *member) checkFine(t testing.TB) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		t.Error(m.err)
	}
}
