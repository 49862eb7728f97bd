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
	// How long an acknowledgement waits for others before a request of its own. While there
	// is something to fetch it rides on the next fetch instead.
	acceptLinger  = 100 * time.Millisecond
	releaseLinger = 5 * time.Millisecond // somebody waits for the record
	// sendAgain is when it is sent again, should the broker have asked for that.
	sendAgain = time.Second

	// answerWithin is how long a broker may take to answer an acknowledgement.
	answerWithin = 10 * time.Second
	// quietFor is how long a flush keeps others from being sent.
	quietFor = time.Second
)

// ack is an acknowledgement that is sent after a flush.
type ack struct {
	*lent
	as        kgo.AckStatus
	partition int32
}

// settle tells the broker, some time soon, what became of a lease that is settled. If its
// lock has run out there is nothing to tell: a broker refuses with it all that comes for
// the partition at once.
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

// inTime says whether the lock is not over yet, and notes it of what the application takes
// for done. It is called under the lock.
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

var errLate = errors.New("the lock was over")

// drop takes a lease out of what is held. It is called under the lock.
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

// send has the client send what waits, and waits for no answer.
func (m *member) send() {
	_ = m.client.FlushAcks(ended())
}

// ended is a context in which nothing is waited for.
func ended() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// answers is what brokers made of the acknowledgements of a partition.
type answers struct {
	times, refused int           // refused: or lost, with its connection or its session
	late           int           // acknowledgements that were not sent: their locks were over
	told           int           // of refused and late, by an error of Flush
	last           error         // of what was refused, or late
	more           chan struct{} // is closed by the next; nil: nobody waits
}

// answersOf is called under the lock.
func (m *member) answersOf(partition int32) *answers {
	a := m.answers[partition]
	if a == nil {
		a = &answers{}
		m.answers[partition] = a
	}
	return a
}

// answered is told what brokers made of acknowledgements. It knows partitions and not
// records: those of a refused request keep their locks until these run out. An error may be the
// connection's, and then nobody knows whether the broker took them. Releases and renewals come in the
// same requests, and a refusal of one of these counts too.
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
		// Others wait for this to return.
		go m.complain("kmq: acknowledgements were refused or not answered; their records may be delivered again", last)
	}
}

// flush is one for all who ask while another is under way.
type flush struct {
	done chan struct{}
	err  error
}

// flush sends what waits and says whether the brokers took it.
func (m *member) flush(ctx context.Context) error {
	told := m.alreadyTold()
	for {
		mine := m.join()
		select {
		case <-mine.done:
		case <-ctx.Done():
			return fmt.Errorf("kmq: acknowledgements are on their way: %w", ctx.Err())
		}
		if mine.err == nil {
			break
		}
		if m.e.ctx.Err() != nil {
			return fmt.Errorf("kmq: acknowledgements are on their way: %w", mine.err)
		}
	}
	return m.refusedSince(told)
}

// alreadyTold counts, by partition, the answers of which a Flush has told. Who flushes at the same time
// takes the count before, and is told too.
func (m *member) alreadyTold() map[int32]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	counts := make(map[int32]int)
	for p, a := range m.answers {
		counts[p] = a.told
	}
	return counts
}

// refusedSince returns an error if more was refused than was told then, and notes that it is told.
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

// sendAll sends what waits and waits for the answers, once nobody settles any more. It sends again
// what a broker asks for again, and leaves half of the time to what comes after it.
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
			return fmt.Errorf("kmq: acknowledgements are on their way: %w", ctx.Err())
		}
	}
}

// join returns the flush that begins next.
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

// flushes makes one flush after the other for as long as anybody asks. The client says when
// nothing at all is under way, which on a busy queue is never: so what is settled during a
// flush waits for its end.
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
