package markers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/reread"
	"kafkabench.example/kafka-bench/kmq/internal/step"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
)

const (
	redeliverAtMost = 4096 // records of a partition at a time
	tryFor          = 10 * time.Second
	copyFor         = time.Second
	// What cannot be redelivered now is tried again after putOffFirst, doubled up to putOffMost.
	putOffFirst = 500 * time.Millisecond
	putOffMost  = 10 * time.Second
	// The leader must say for so long that a record is behind the end of its log: then the log was cut.
	cutFor = 10 * time.Second
)

// redeliver redelivers what is due of a lane.
func (l *lane) redeliver() {
	for due := l.due(); len(due) > 0; due = l.due() {
		select {
		case l.t.turns <- struct{}{}:
		case <-l.running.Done():
			return
		}
		done := l.try(due)
		<-l.t.turns
		l.end(done)
		l.putOff(due, done)
	}
}

// due takes what is due; nothing: the partition is not busy any more.
func (l *lane) due() (due []tracker.Due) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.finishing && l.running.Err() == nil {
		due = l.state.Due(redeliverAtMost)
	}
	l.busy = len(due) > 0
	slices.SortFunc(due, func(a, b tracker.Due) int { return cmp.Compare(a.Offset, b.Offset) })
	return due
}

// putOff puts off the records that are not done, so that they hold up no others.
func (l *lane) putOff(due []tracker.Due, done []redelivery) {
	isDone := make(map[int64]bool, len(done))
	for _, r := range done {
		isDone[r.Offset] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range due {
		if !isDone[d.Offset] {
			l.state.Postpone(d.Offset, putOffFirst, putOffMost, l.t.now())
		}
	}
}

// redelivery is a record whose lock has expired, and what is to be written of it.
type redelivery struct {
	tracker.Due
	why    marker.Reason
	copied *kgo.Record // nil: it is not in the log
	origin lease.ID    // of a dead letter
}

// try reads records and writes their copies. It returns those whose end is to be written.
func (l *lane) try(due []tracker.Due) (done []redelivery) {
	ctx, cancel := context.WithTimeout(l.running, tryFor)
	defer cancel()
	for len(due) > 0 && ctx.Err() == nil {
		found, rest, err := l.read(ctx, due)
		if errors.Is(err, reread.ErrBehind) && l.wasCut(rest[0].Offset) {
			for _, d := range rest {
				found = append(found, redelivery{Due: d, why: marker.Missing})
			}
			rest, err = nil, nil
		}
		copied, failed := l.copy(ctx, l.current(found))
		done = append(done, copied...)
		if err = cmp.Or(failed, err); err != nil {
			l.t.retried.Add(1)
			if l.running.Err() == nil {
				l.trouble.About("deliver records again", err)
			}
			break
		}
		due = rest
	}
	return done
}

// read reads some of the due records, which are in the order of their offsets, and returns the rest. One whose offset has
// another record by now is missing.
func (l *lane) read(ctx context.Context, due []tracker.Due) (found []redelivery, rest []tracker.Due, err error) {
	offsets := make([]int64, len(due))
	for i, d := range due {
		offsets[i] = d.Offset
	}
	reader := reread.Reader{Client: l.t.client, Topic: l.t.cfg.TopicOf(l.number)}
	records, err := reader.Read(ctx, l.partition, offsets)
	for i, r := range records {
		one := redelivery{Due: due[i], why: marker.Missing}
		if r != nil && (due[i].Epoch < 0 || r.LeaderEpoch == due[i].Epoch) {
			one.copied = r
		}
		found = append(found, one)
	}
	return found, due[len(records):], err
}

// wasCut reports whether the log was cut below a wanted offset.
func (l *lane) wasCut(offset int64) bool {
	now := l.t.now()
	if l.behind < 0 || offset != l.behind {
		l.behind, l.behindSince = offset, now
	}
	if now-l.behindSince < cutFor {
		return false
	}
	l.t.cfg.Log.Error("kmq: the log of a partition was cut: records that were lent are lost",
		"topic", l.t.cfg.TopicOf(l.number), "partition", l.partition, "offset", offset)
	return true
}

// current adds the copies of what was read. It leaves out what is not to be redelivered any more: it
// has ended meanwhile, or was locked again.
func (l *lane) current(found []redelivery) (all []redelivery) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range found {
		if !l.state.Taken(r.Offset) {
			continue
		}
		if r.copied != nil {
			l.next(&r)
		}
		all = append(all, r)
	}
	return all
}

// next makes of a record that was read its copy for the next delivery, in the retry topic, or its dead letter. A record that
// nobody was handed is none, however often it was delivered before.
func (l *lane) next(r *redelivery) {
	cfg, topics := &l.t.cfg, &l.t.topics
	r.copied.Partition = l.number
	of := lease.FromRecord(r.copied)
	deliveries := of.Attempt
	if r.Undelivered {
		deliveries--
	} else if cfg.MaxDeliveries > 0 && deliveries >= cfg.MaxDeliveries {
		reason := fmt.Sprintf("delivered %d times", deliveries)
		r.copied = of.DeadLetter(deliveries, reason, cfg.Group, cfg.DeadLetterTopic, topics.DeadLetterPartitions)
		r.why, r.origin = marker.DeadLettered, of.Origin()
		return
	}
	r.copied = of.RetryCopy(deliveries, time.Time{}, cfg.Group, cfg.RetryTopic, topics.RetryPartitions)
	r.why = marker.Copied
}

// copy writes copies. It returns the records whose copies are durable, or that need none, and an error of
// the others. A copy that is refused with others in its batch is written alone.
func (l *lane) copy(ctx context.Context, all []redelivery) (done []redelivery, failed error) {
	var copies []*kgo.Record
	for _, r := range all {
		if r.copied != nil {
			copies = append(copies, r.copied)
		}
	}
	if len(all) > 0 {
		step.At(step.BeforeCopy)
	}
	ctx, cancel := context.WithTimeout(ctx, copyFor)
	defer cancel()
	errs := l.t.copier.Write(ctx, copies...)
	for _, r := range all {
		var err error
		if r.copied != nil {
			if err, errs = errs[0], errs[1:]; engine.Refused(err) && len(copies) > 1 {
				err = l.t.copier.Write(ctx, r.copied)[0]
			}
		}
		if err == nil {
			done = append(done, r)
		} else {
			failed = fmt.Errorf("kmq: copy offset %d to partition %d of topic %s: %w", r.Offset, r.copied.Partition, r.copied.Topic, err)
		}
	}
	if len(done) > 0 {
		step.At(step.Copied)
	}
	return done, failed
}

// end counts records whose copies are durable, and has their ends written. They stay open until their ends
// are read.
func (l *lane) end(done []redelivery) {
	for _, r := range done {
		switch r.why {
		case marker.Copied:
			l.t.tailed.Add(1)
		case marker.DeadLettered:
			l.t.deadLettered.Add(1)
			l.t.givenUp.Record(r.origin, lease.Reason(r.copied))
		case marker.Missing:
			l.t.missing.Add(1)
		}
		l.t.out.put(fact{partition: l.number, epoch: r.Epoch, kind: marker.End, reason: r.why}, r.Offset, true)
	}
}
