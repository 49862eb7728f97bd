package share

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

const (
	// sendEvery is how long an acknowledgement waits for others; it may be sent with an earlier fetch. A release is sent at
	// once, because another member may wait for the record.
	sendEvery = 100 * time.Millisecond
	// answerWithin is for how long the client is told to send again what a broker asks for.
	answerWithin = 10 * time.Second
	// flushFor bounds how long a flush delays other acknowledgements.
	flushFor = time.Second
)

var errLate = errors.New("the lock had expired")

// settle sends nothing if the lock has expired, because the broker would refuse all acknowledgements of that partition
// in the request.
func (m *member) settle(l *lease.Lease, as kgo.AckStatus) {
	held := l.Private.(*brokerLock)
	if as != kgo.AckRelease { // a release may come from the set, which must not wait
		m.waitForFlush()
	}
	m.mu.Lock()
	now := time.Now()
	late := !now.Before(held.until)
	if !late {
		m.lastAck = now
	} else if as != kgo.AckRelease {
		m.noteRefusal(l.At.Partition, errLate)
	}
	m.mu.Unlock()
	if late {
		return
	}
	held.record.Ack(as)
	if as == kgo.AckRelease {
		wake(m.nudge)
	}
}

// keep sends acknowledgements and checks the locks, up to eight times in their duration.
func (m *member) keep() {
	ctx := m.e.ctx
	every := time.NewTicker(sendEvery)
	defer every.Stop()
	for check := time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-m.nudge:
		case <-every.C:
		}
		now := time.Now()
		m.mu.Lock()
		waits := now.Sub(m.lastAck) < answerWithin
		m.mu.Unlock()
		if waits {
			m.send()
		}
		if !now.Before(check) {
			m.checkLocks(now)
			check = now.Add(min(time.Second, m.lockDuration()/8))
		}
	}
}

// send makes the client send what waits, without waiting for answers.
func (m *member) send() {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	_ = m.client.FlushAcks(ended)
}

// answers are those of a partition.
type answers struct {
	refused int // also those lost with a connection or session
	last    error
	next    chan struct{} // closed by the next answer; or nil
}

// answersOf requires m.mu.
func (m *member) answersOf(partition int32) *answers {
	if m.answers[partition] == nil {
		m.answers[partition] = &answers{}
	}
	return m.answers[partition]
}

// noteRefusal requires m.mu.
func (m *member) noteRefusal(partition int32, err error) {
	m.refused++
	m.lastRefusal = fmt.Errorf("partition %d of topic %s: %w", lease.NumberInTopic(partition), m.e.cfg.TopicOf(partition), err)
}

// answered counts brokers' answers, which name partitions, not records: records of a refused request stay locked until
// their locks expire. With a connection's error the result is unknown.
func (m *member) answered(_ *kgo.Client, results kgo.ShareAckResults) {
	m.mu.Lock()
	accepted := false
	for _, r := range results {
		number := m.e.numberOf(r.Topic, r.Partition)
		a := m.answersOf(number)
		if r.Err != nil {
			m.noteRefusal(number, r.Err)
			a.refused++
			a.last = r.Err
			m.ackTrouble.About("acknowledge: records may be delivered again", m.lastRefusal)
		} else {
			accepted = true
		}
		if a.next != nil {
			close(a.next)
			a.next = nil
		}
	}
	m.mu.Unlock()
	if accepted {
		step.At(step.Ended)
	}
}

// flush waits for the answers to all acknowledgements. It returns an error if any was refused and not reported before;
// concurrent flushes all report the same refusal.
func (m *member) flush(ctx context.Context) error {
	m.mu.Lock()
	told := m.told
	m.mu.Unlock()
	err := m.flushOnce(ctx)
	for err != nil && ctx.Err() == nil && m.client.Context().Err() == nil {
		err = m.flushOnce(ctx)
	}
	if err != nil {
		err = fmt.Errorf("kmq: acknowledgements are not answered yet: %w", err)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.told = m.refused
	if m.refused != told {
		err = errors.Join(err, fmt.Errorf("%w: acknowledgements were refused or not answered, and their records may be "+
			"delivered again; the last: %w", lease.ErrLost, m.lastRefusal))
	}
	return err
}

// flushOnce waits until no acknowledgement is outstanding. On a busy queue that never happens, so others wait meanwhile.
func (m *member) flushOnce(ctx context.Context) error {
	m.flushes.Lock()
	defer m.flushes.Unlock()
	done := make(chan struct{})
	m.setFlushing(done)
	defer func() {
		m.setFlushing(nil)
		close(done)
	}()
	within, cancel := context.WithTimeout(ctx, flushFor)
	defer cancel()
	return m.client.FlushAcks(within)
}

func (m *member) setFlushing(done chan struct{}) {
	m.mu.Lock()
	m.flushing = done
	m.mu.Unlock()
}

func (m *member) waitForFlush() {
	m.mu.Lock()
	done := m.flushing
	m.mu.Unlock()
	if done != nil {
		<-done
	}
}
