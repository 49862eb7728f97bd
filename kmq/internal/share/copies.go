package share

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

const (
	// deleteEvery is the time between two deletions of settled records in the retry topic.
	deleteEvery = time.Minute
	// copyFor bounds how long fetching waits for copies.
	copyFor = time.Second
)

// copied is a record that is not delivered, but copied to another topic and then settled.
type copied struct {
	l    *lease.Lease
	copy *kgo.Record
	dead bool // the copy is a dead letter
	last bool // the broker would archive the record after this delivery
}

// copyInstead returns what becomes of a record that was delivered MaxDeliveries times, or about half as often as the broker
// allows: then a copy in the retry topic, which the broker counts anew. So the broker archives a record only if several
// processes in a row die before they have copied it (ADR 0012). It returns nil for a record that is to be delivered.
func (e *Engine) copyInstead(l *lease.Lease, count int) *copied {
	c, done := &copied{l: l, last: count >= e.group.limit}, l.Attempt-1
	switch {
	case e.cfg.MaxDeliveries > 0 && done >= e.cfg.MaxDeliveries:
		c.dead, c.copy = true, e.deadLetter(l, done, fmt.Sprintf("delivered %d times", done))
	case count >= max(2, (e.group.limit+1)/2):
		c.copy = l.RetryCopy(done, time.Time{}, e.cfg.Group, e.cfg.RetryTopic, e.group.topics.RetryPartitions)
	default:
		return nil
	}
	return c
}

func (e *Engine) deadLetter(l *lease.Lease, deliveries int, reason string) *kgo.Record {
	return l.DeadLetter(deliveries, reason, e.cfg.Group, e.cfg.DeadLetterTopic, e.group.topics.DeadLetterPartitions)
}

// copyFirst writes copies before anything fetched with them is delivered, so that no handler of these can end the process
// in between. The brokers know of the accepted records before they are asked for the copies: otherwise a death would
// double the records. What cannot be written is tried again while others are fetched.
func (e *Engine) copyFirst(all []*copied) {
	if len(all) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(e.ctx, copyFor)
	defer cancel()
	complaint := engine.NewComplaint(e.cfg.Log)
	left := e.copy(ctx, all, complaint)
	_ = e.member.flushOnce(ctx)
	if len(left) > 0 {
		e.run.Go(func() { e.copyUntilClosed(left, complaint) })
	}
}

// copyUntilClosed logs the records that the broker archives when the queue releases them.
func (e *Engine) copyUntilClosed(left []*copied, complaint *engine.Complaint) {
	wait := engine.NewWait()
	for len(left) > 0 && wait.Sleep(e.ctx) == nil {
		left = e.copy(e.ctx, left, complaint)
	}
	for _, c := range left {
		if c.last {
			e.cfg.Log.Error("kmq: a record is lost: its copy could not be written, and the brokers deliver it no more",
				"partition", c.l.Origin().Partition, "offset", c.l.Origin().Offset, "copy_to", c.copy.Topic)
		}
	}
}

// copy writes copies, settles the records whose copies are durable, and returns the others. A record whose copy is refused
// is delivered once more, unless the broker would archive it then.
func (e *Engine) copy(ctx context.Context, all []*copied, complaint *engine.Complaint) (left []*copied) {
	to := make([]*kgo.Record, len(all))
	for i, c := range all {
		to[i] = c.copy
	}
	step.At(step.BeforeCopy)
	errs := e.copier.Write(ctx, to...)
	step.At(step.Copied)
	for i, err := range errs {
		c := all[i]
		if err == nil {
			e.endCopied(c)
			continue
		}
		complaint.About(fmt.Sprintf("copy %v to %s", c.l.Origin(), c.copy.Topic), err)
		if !c.last && (engine.Refused(err) || engine.NotThere(err)) {
			e.counts.retried.Add(1)
			e.offer([]*lease.Lease{c.l})
		} else {
			left = append(left, c)
		}
	}
	step.At(step.CopyEnded)
	return left
}

func (e *Engine) endCopied(c *copied) {
	as, how := kgo.AckAccept, lease.Accepted
	if c.dead {
		as, how = kgo.AckReject, lease.Rejected
		e.counts.deadLettered.Add(1)
		e.givenUp.Record(c.l.Origin(), lease.Reason(c.copy))
	} else {
		e.counts.moved.Add(1)
	}
	if e.set.Settle(c.l, how) == nil { // otherwise it was lost meanwhile, and is also delivered again
		e.member.settle(c.l, as)
	}
}

// deleteRetries deletes the records of the retry topic that the group has settled.
func (e *Engine) deleteRetries(ctx context.Context) error {
	described, err := kadm.NewClient(e.copies).DescribeShareGroupOffsets(ctx, e.cfg.Group)
	if err != nil {
		return fmt.Errorf("kmq: read the offsets of share group %s: %w", e.cfg.Group, err)
	}
	below := make(map[int32]int64)
	for partition, o := range described[e.cfg.Group].Offsets[e.cfg.RetryTopic] {
		if o.Err == nil {
			below[partition] = o.StartOffset
		}
	}
	return e.deletes.DeleteBelow(ctx, below)
}

// numberOf returns the number of a partition of the topic or the retry topic, as [lease.Retry] has it.
func (e *Engine) numberOf(topic string, partition int32) int32 {
	if topic == e.cfg.RetryTopic {
		return lease.Retry(partition)
	}
	return partition
}
