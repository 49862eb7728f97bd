package share

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// Ack accepts a record. The acknowledgement is sent after acceptLinger, or with an earlier fetch.
func (e *Engine) Ack(_ context.Context, l *lease.Lease) error {
	if err := e.set.Settle(l, lease.Accepted); err != nil {
		return err
	}
	e.counts.acked.Add(1)
	e.member.settle(l, kgo.AckAccept)
	step.At(step.Acked)
	return nil
}

// Nack releases a record. For a delay, which the protocol lacks, this process keeps the record and
// renews its lock. The record counts against MaxInFlight, and is released if this process ends.
func (e *Engine) Nack(_ context.Context, l *lease.Lease, delay time.Duration) error {
	if delay <= 0 {
		if err := e.set.Settle(l, lease.Released); err != nil {
			return err
		}
		e.counts.nacked.Add(1)
		e.member.settle(l, kgo.AckRelease)
		return nil
	}
	now := time.Now()
	if err := e.renewable(l, now.Add(delay)); err != nil {
		return err
	}
	if _, err := e.withhold(l, lease.Released, now.Add(delay)); err != nil {
		return err
	}
	e.counts.nacked.Add(1)
	return nil
}

// Extend renews the lock now and, if d is longer than the lock, repeatedly. It returns after the broker's first
// answer.
func (e *Engine) Extend(ctx context.Context, l *lease.Lease, d time.Duration) error {
	if err := e.set.Check(l); err != nil {
		return err
	}
	if !e.group.renews {
		return errNoRenewal
	}
	until := time.Now().Add(d)
	if err := e.member.renew(ctx, l.At.Partition, []*lease.Lease{l}); err != nil {
		if settled := e.set.Check(l); settled != nil {
			return settled
		}
		return err
	}
	return e.set.Extend(l, until)
}

var errNoRenewal = fmt.Errorf("%w: these brokers cannot renew locks (Kafka 4.2 can); "+
	"set a longer share.record.lock.duration.ms for the group", lease.ErrUnsupported)

// Reject copies a record to the dead-letter topic and rejects it.
func (e *Engine) Reject(ctx context.Context, l *lease.Lease, reason string) error {
	kept, err := e.withhold(l, lease.Rejected, time.Time{})
	if err != nil {
		return err
	}
	step.At(step.BeforeCopy)
	dead := l.DeadLetter(l.Attempt, reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.group.deadLetterPartitions)
	if err := e.copier.Bury(ctx, dead); err != nil {
		_ = e.set.Settle(kept, lease.Released)
		e.member.settle(kept, kgo.AckRelease)
		return fmt.Errorf("kmq: the record could not be written to %s and is released: %w", e.cfg.DeadLetterTopic, err)
	}
	step.At(step.Copied)
	e.counts.deadLettered.Add(1)
	e.givenUp.Record(l.Origin(), reason)
	e.counts.rejected.Add(1)
	if err := e.set.Settle(kept, lease.Rejected); err != nil {
		return nil // lost meanwhile: the record is also delivered again
	}
	e.member.settle(kept, kgo.AckReject)
	step.At(step.CopyEnded)
	return nil
}

// withhold settles a lease for the application but keeps its lock until a time; zero: until the caller settles the
// returned lease.
func (e *Engine) withhold(l *lease.Lease, as lease.State, until time.Time) (*lease.Lease, error) {
	h := l.Private.(*hold)
	kept := l.Again()
	kept.Attempt = l.Attempt
	kept.Private = &hold{lent: h.lent, kept: true}
	m := e.member
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := e.set.Swap(l, as, kept, until); err != nil {
		return nil, err
	}
	m.held[h.place] = kept
	return kept, nil
}

func (e *Engine) renewable(l *lease.Lease, until time.Time) error {
	if e.group.renews || until.Before(e.member.lockOf(l)) {
		return nil
	}
	return fmt.Errorf("%w: a delay longer than the lock needs renewals, and these brokers cannot renew locks "+
		"(Kafka 4.2 can)", lease.ErrUnsupported)
}

func (e *Engine) expired(l *lease.Lease) {
	h := l.Private.(*hold)
	if !h.kept && h.handed.Load() {
		e.counts.expired.Add(1)
		e.counts.mu.Lock()
		e.counts.lateness.Add(time.Since(l.Deadline()))
		e.counts.mu.Unlock()
	}
	e.member.settle(l, kgo.AckRelease)
}

func (e *Engine) lose(leases []*lease.Lease) {
	gone := make(map[*lease.Lease]bool, len(leases))
	for _, l := range leases {
		gone[l] = true
	}
	for _, l := range e.set.LoseAll(func(l *lease.Lease) bool { return gone[l] }) {
		if h := l.Private.(*hold); h.kept || h.handed.Load() {
			e.counts.lost.Add(1)
		}
		e.member.settle(l, kgo.AckRelease)
	}
}

// doomed is a record that becomes a dead letter.
type doomed struct {
	l    *lease.Lease
	dead *kgo.Record
	last bool // the broker would archive the record after another delivery
}

// instead returns the dead letter of a record that was delivered MaxDeliveries times, or as often as the broker allows but
// once: this delivery is for the dead letter; nil: deliver the record.
func (e *Engine) instead(l *lease.Lease, count, before int) *doomed {
	last := count >= e.group.limit
	if !last && (e.cfg.MaxDeliveries == 0 || l.Attempt <= e.cfg.MaxDeliveries || before == 0) {
		return nil
	}
	done := l.Attempt - 1
	reason := fmt.Sprintf("delivered %d times", done)
	if last && (e.cfg.MaxDeliveries == 0 || done < e.cfg.MaxDeliveries) {
		reason += fmt.Sprintf(", and the brokers allow %d deliveries", e.group.limit)
	}
	return &doomed{l: l, dead: l.DeadLetter(done, reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.group.deadLetterPartitions), last: last}
}

// bury writes dead letters and settles the records whose dead letters are durable. It keeps the locks and retries until
// the queue closes.
//
// A record whose dead letter is refused is delivered once more, unless the broker would archive it then.
func (e *Engine) bury(all []*doomed) {
	wait, complaint := engine.NewWait(), engine.NewComplaint(e.cfg.Log)
	for len(all) > 0 {
		step.At(step.BeforeCopy)
		var left []*doomed
		for i, err := range e.write(all) {
			d := all[i]
			if err == nil {
				e.counts.deadLettered.Add(1)
				e.givenUp.Record(d.l.Origin(), lease.Reason(d.dead))
				e.member.settle(d.l, kgo.AckReject)
				continue
			}
			complaint.About(fmt.Sprintf("copy of partition %d, offset %d to %s", d.l.At.Partition, d.l.At.Offset, d.dead.Topic), err)
			if !d.last && (engine.Refused(err) || engine.NotThere(err)) {
				e.counts.retried.Add(1)
				e.member.handOut(d.l)
			} else {
				left = append(left, d)
			}
		}
		step.At(step.CopyEnded)
		if all = left; len(all) > 0 && wait.Sleep(e.ctx) != nil {
			e.abandon(all)
			return
		}
	}
}

// abandon logs the records that the broker archives when the queue releases them.
func (e *Engine) abandon(all []*doomed) {
	for _, d := range all {
		if d.last {
			e.cfg.Log.Error("kmq: a record is lost: its dead letter could not be written, and the brokers deliver it no more",
				"partition", d.l.At.Partition, "offset", d.l.At.Offset, "dead_letter_topic", d.dead.Topic)
		}
	}
}

func (e *Engine) write(all []*doomed) []error {
	to := make([]*kgo.Record, len(all))
	for i, d := range all {
		to[i] = d.dead
	}
	errs := e.copier.Write(e.ctx, to...)
	step.At(step.Copied)
	return errs
}

func (m *member) handOut(le *lease.Lease) {
	h := le.Private.(*hold)
	m.mu.Lock()
	h.kept = false
	end := h.until
	m.mu.Unlock()
	m.e.wait([]*lease.Lease{le}, end)
}

// wait gives leases no deadline until they are delivered, if locks can be renewed.
func (e *Engine) wait(leases []*lease.Lease, end time.Time) {
	if e.group.renews {
		end = time.Time{}
	}
	e.set.AddAll(leases, end)
	e.offer(leases)
}
