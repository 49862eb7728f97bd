package share

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

const (
	// acceptLinger is how long an acknowledgement waits for others; it may be sent with an earlier fetch.
	acceptLinger  = 100 * time.Millisecond
	releaseLinger = 5 * time.Millisecond // another member may wait for the record
	sendAgain     = time.Second

	answerWithin = 10 * time.Second
	// quietFor bounds how long a flush delays other acknowledgements.
	quietFor = time.Second
)

type ack struct {
	*lent
	as        kgo.AckStatus
	partition int32
}

// settle sends nothing if the lock has expired, because the broker would refuse all acknowledgements of that partition
// in the request.
func (m *member) settle(le *lease.Lease, as kgo.AckStatus) {
	h, now := le.Private.(*hold), time.Now()
	linger := acceptLinger
	if as == kgo.AckRelease {
		linger = releaseLinger
	}
	if as != kgo.AckRelease {
		m.e.forget(le.At)
	} else if !h.kept && !h.handed.Load() {
		m.e.overlooked(le.At)
	}
	m.mu.Lock()
	m.drop(le)
	a := ack{h.lent, as, le.At.Partition}
	send := m.inTime(a, now)
	if send {
		m.lastAck = now
		if at := now.Add(linger); m.sendAt.IsZero() || at.Before(m.sendAt) {
			m.sendAt = at
			wake(m.nudge)
		}
		if m.quiet {
			m.later = append(m.later, a)
			send = false
		}
	}
	m.mu.Unlock()
	if send {
		h.record.Ack(as)
	}
}

// inTime records an Ack or a Reject that is too late. It requires m.mu.
func (m *member) inTime(a ack, now time.Time) bool {
	if now.Before(a.end) {
		return true
	}
	if a.as != kgo.AckRelease {
		of := m.answersOf(a.partition)
		of.late++
		of.last = errLate
	}
	return false
}

var errLate = errors.New("the lock had expired")

// drop requires m.mu.
func (m *member) drop(le *lease.Lease) {
	last, place := len(m.held)-1, le.Private.(*hold).place
	if place > last || m.held[place] != le {
		return
	}
	moved := m.held[last]
	moved.Private.(*hold).place = place
	m.held[place], m.held[last] = moved, nil
	m.held = m.held[:last]
	wake(m.room)
}

func (m *member) send() {
	_ = m.client.FlushAcks(ended())
}

func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

type answers struct {
	times, refused int // refused includes those lost with a connection or session
	late           int // not sent because their locks had expired
	told           int
	last           error
	more           chan struct{} // closed by the next answer; or nil
}

// answersOf requires m.mu.
func (m *member) answersOf(partition int32) *answers {
	a := m.answers[partition]
	if a == nil {
		a = &answers{}
		m.answers[partition] = a
	}
	return a
}

// answered counts brokers' answers, which name partitions, not records: records of a refused request stay locked until
// their locks expire. With a connection's error the result is unknown.
func (m *member) answered(_ *kgo.Client, results kgo.ShareAckResults) {
	var last error
	taken := false
	m.mu.Lock()
	for _, r := range results {
		a := m.answersOf(r.Partition)
		a.times++
		if r.Err != nil {
			last = fmt.Errorf("partition %d: %w", r.Partition, r.Err)
			a.refused++
			a.last = r.Err
		} else {
			taken = true
		}
		if a.more != nil {
			close(a.more)
			a.more = nil
		}
	}
	m.mu.Unlock()
	if taken {
		step.At(step.Ended)
	}
	if last != nil {
		// The client blocks until this callback returns.
		go m.complain("kmq: acknowledgements were refused or not answered; their records may be delivered again", last)
	}
}

// flush serves all callers that ask while an earlier flush runs.
type flush struct {
	done chan struct{}
	err  error
}

func (m *member) flush(ctx context.Context) error {
	told := m.alreadyTold()
	for {
		mine := m.join()
		select {
		case <-mine.done:
		case <-ctx.Done():
			return fmt.Errorf("kmq: acknowledgements are not answered yet: %w", ctx.Err())
		}
		if mine.err == nil {
			break
		}
		if m.e.ctx.Err() != nil {
			return fmt.Errorf("kmq: acknowledgements are not answered yet: %w", mine.err)
		}
	}
	return m.refusedSince(told)
}

// alreadyTold returns how many refusals were reported, by partition. Concurrent flushes all report
// the same refusal.
func (m *member) alreadyTold() map[int32]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := make(map[int32]int)
	for p, a := range m.answers {
		counts[p] = a.told
	}
	return counts
}

func (m *member) refusedSince(told map[int32]int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	partitions, one, last := 0, int32(0), error(nil)
	for p, a := range m.answers {
		a.told = a.refused + a.late
		if a.told != told[p] {
			partitions, one, last = partitions+1, p, a.last
		}
	}
	if partitions == 0 {
		return nil
	}
	return fmt.Errorf("%w: acknowledgements of %d partitions were refused or not answered, "+
		"and their records may be delivered again; of partition %d: %w", lease.ErrLost, partitions, one, last)
}

// sendAll waits for the answers; no record may be settled meanwhile. It resends what a broker asks
// for, and leaves half of the time for the rest of Close.
func (m *member) sendAll(ctx context.Context) error {
	most := answerWithin
	if end, ok := ctx.Deadline(); ok {
		most = min(most, time.Until(end)/2)
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		within, cancel := context.WithTimeout(ctx, sendAgain)
		err := m.client.FlushAcks(within)
		cancel()
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("kmq: acknowledgements are not answered yet: %w", ctx.Err())
		}
	}
}

func (m *member) join() *flush {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.next == nil {
		m.next = &flush{done: make(chan struct{})}
	}
	if m.flushed == nil {
		m.flushed = make(chan struct{})
		go m.flushes()
	}
	return m.next
}

// FlushAcks succeeds only when no acknowledgement is outstanding, which never happens on a busy
// queue. So acknowledgements that come during a flush wait for its end.
func (m *member) flushes() {
	for {
		m.mu.Lock()
		f := m.next
		m.next, m.quiet = nil, f != nil
		if f == nil {
			close(m.flushed)
			m.flushed = nil
			m.mu.Unlock()
			return
		}
		m.mu.Unlock()

		within, cancel := context.WithTimeout(m.e.ctx, quietFor)
		f.err = m.client.FlushAcks(within)
		cancel()
		m.mu.Lock()
		later := m.later
		m.quiet, m.later = false, nil
		now := time.Now()
		later = slices.DeleteFunc(later, func(a ack) bool { return !m.inTime(a, now) })
		m.mu.Unlock()
		for _, a := range later {
			a.record.Ack(a.as)
		}
		close(f.done)
	}
}
