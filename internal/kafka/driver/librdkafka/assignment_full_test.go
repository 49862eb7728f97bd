//go:build librdkafka && cgo && full

package librdkafka

import (
	"slices"
	"testing"
	"time"

	"github.com/confluentinc/confluent-kafka-go/v2/kafka"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/internal/kafka/driver"
)

// TestPausedOnAssignment: if a partition is paused in OnAssigned, the client gets it only at the
// first poll after Resume.
func TestPausedOnAssignment(t *testing.T) {
	m := newMember(t, true)
	m.join(t)
	m.returned += poll(t, m.consumer)
	m.wantClient(t, 0)
	m.Resume(0)
	m.wantClient(t, 0)
	if m.returned > 0 {
		t.Errorf("%d records were returned while the partition was paused", m.returned)
	}
	m.returned += poll(t, m.consumer)
	m.wantClient(t, 1)
	m.readAll(t)
	m.Pause(0)
	m.Resume(0)
	m.wantClient(t, 1)
}

func TestResumeWhileAPollWaits(t *testing.T) {
	m := newMember(t, true)
	m.join(t)
	waits := 0
	m.next = func(timeoutMs int) kafka.Event {
		switch waits++; {
		case waits <= 2:
			if wait := time.Duration(timeoutMs) * time.Millisecond; wait > holdStep {
				t.Errorf("a partition is held, and wait %d is of %v", waits, wait)
			}
		case waits == 3:
			m.wantClient(t, 1)
		}
		if waits == 2 {
			resumed := make(chan struct{})
			go func() {
				defer close(resumed)
				m.Resume(0)
			}()
			<-resumed
			m.wantClient(t, 0)
		}
		return m.client.Poll(timeoutMs)
	}
	m.readAll(t)
}

// TestResumeTakenBack: the client gets no call if a pause or a revocation follows Resume before the next poll.
func TestResumeTakenBack(t *testing.T) {
	for name, takeBack := range map[string]func(*member){
		"paused": func(m *member) { m.Pause(0) },
		"revoked": func(m *member) {
			_ = m.onRebalance(m.client, kafka.RevokedPartitions{Partitions: []kafka.TopicPartition{m.at(0, 0)}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := newMember(t, true)
			m.join(t)
			calls := m.calls
			m.Resume(0)
			takeBack(m)
			m.returned += poll(t, m.consumer)
			if m.returned > 0 || m.calls > calls {
				t.Errorf("%d records were returned, and the client was given partitions %d times",
					m.returned, m.calls-calls)
			}
			m.wantClient(t, 0)
		})
	}
}

func TestRefusedPartition(t *testing.T) {
	m := newMember(t, false)
	m.refusals = 1
	m.readAll(t)
	if len(m.errs) != 1 {
		t.Errorf("%v are reported, want one refusal", m.errs)
	}

	m = newMember(t, true)
	m.join(t)
	m.refusals = 1
	m.Resume(0)
	if _, err := m.Poll(t.Context()); err == nil {
		t.Error("the consumer does not fail, and the partition is not the client's")
	}
}

// TestResumeOfALostPartition: the client does not get a lost partition, because it would forget the loss.
func TestResumeOfALostPartition(t *testing.T) {
	m := newMember(t, true)
	m.join(t)
	m.cluster.ControlKey(int16(kmsg.Heartbeat), func(r kmsg.Request) (kmsg.Response, error, bool) {
		refusal := r.ResponseKind().(*kmsg.HeartbeatResponse)
		refusal.ErrorCode = int16(kafka.ErrUnknownMemberID)
		return refusal, nil, true
	})
	for !m.client.AssignmentLost() {
		time.Sleep(time.Millisecond)
	}
	m.Resume(0)
	for len(m.lost) == 0 {
		m.returned += poll(t, m.consumer)
	}
	if !m.lost[0] {
		t.Error("the partition was revoked, and not lost")
	}
}

const memberRecords = 100

type member struct {
	*consumer
	cluster  *kfake.Cluster
	assigned bool
	lost     []bool
	errs     []error
	refusals int // how often the client will still refuse partitions
	calls    int
	returned int
}

func newMember(t *testing.T, pauses bool) *member {
	t.Helper()
	m := new(member)
	m.cluster = newCluster(t)
	fill(t, m.cluster.ListenAddrs(), memberRecords)
	opened, err := New().NewConsumer(driver.ConsumerConfig{
		Brokers: m.cluster.ListenAddrs(), Topic: "t", Group: "g", Protocol: "classic",
		OnAssigned: func(partitions []int32) {
			m.assigned = true
			if pauses {
				m.Pause(partitions...)
			}
		},
		OnRevoked: func(_ []int32, lost bool) { m.lost = append(m.lost, lost) },
		OnError:   func(err error) { m.errs = append(m.errs, err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(opened.Close)
	m.consumer = opened.(*consumer)
	m.takeOn = func(partitions []kafka.TopicPartition) error {
		m.calls++
		if m.refusals > 0 {
			m.refusals--
			partitions = slices.Concat(partitions, partitions) // the client refuses duplicates
		}
		return m.client.IncrementalAssign(partitions)
	}
	return m
}

func (m *member) join(t *testing.T) {
	t.Helper()
	for !m.assigned {
		m.returned += poll(t, m.consumer)
	}
}

func (m *member) readAll(t *testing.T) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); m.returned < memberRecords; m.returned += poll(t, m.consumer) {
		if time.Now().After(deadline) {
			t.Fatalf("%d of %d records were returned", m.returned, memberRecords)
		}
	}
}

func (m *member) wantClient(t *testing.T, partitions int) {
	t.Helper()
	if got, err := m.client.Assignment(); err != nil || len(got) != partitions {
		t.Errorf("the client has the partitions %v (%v), want %d of them", got, err, partitions)
	}
}
