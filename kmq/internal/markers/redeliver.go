package markers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
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

// redeliver redelivers what is due of a partition.
func (p *part) redeliver() {
	for due := p.due(); len(due) > 0; due = p.due() {
		select {
		case p.t.turns <- struct{}{}:
		case <-p.running.Done():
			return
		}
		done := p.try(due)
		<-p.t.turns
		p.end(done)
		p.putOff(without(due, done))
	}
}

// without returns the records that are not done. Both are in the order of their offsets.
func without(due []tracker.Due, done []redelivery) []tracker.Due {
	return slices.DeleteFunc(due, func(d tracker.Due) bool {
		for len(done) > 0 && done[0].Offset < d.Offset {
			done = done[1:]
		}
		return len(done) > 0 && done[0].Offset == d.Offset
	})
}

// due takes what is due; nothing: the partition is not busy any more.
func (p *part) due() (due []tracker.Due) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.finishing && p.running.Err() == nil {
		due = p.state.Due(redeliverAtMost)
	}
	p.busy = len(due) > 0
	slices.SortFunc(due, func(a, b tracker.Due) int { return cmp.Compare(a.Offset, b.Offset) })
	return due
}

// putOff puts off records, so that they hold up no others.
func (p *part) putOff(due []tracker.Due) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, d := range due {
		p.state.Postpone(d.Offset, putOffFirst, putOffMost, p.t.now())
	}
}

// redelivery is a record whose lock has expired, and what is to be written of it.
type redelivery struct {
	tracker.Due
	why    marker.Reason
	copied *kgo.Record // nil: it is not in the log
}

// try reads records and writes their copies. It returns those whose end is to be written.
func (p *part) try(due []tracker.Due) (done []redelivery) {
	ctx, cancel := context.WithTimeout(p.running, tryFor)
	defer cancel()
	for len(due) > 0 && ctx.Err() == nil {
		found, rest, err := p.read(ctx, due)
		if errors.Is(err, reread.ErrBehind) && p.wasCut(rest[0].Offset) {
			for _, d := range rest {
				found = append(found, redelivery{Due: d, why: marker.Missing})
			}
			rest, err = nil, nil
		}
		copied, failed := p.copy(ctx, p.current(found))
		done = append(done, copied...)
		if err = cmp.Or(failed, err); err != nil {
			p.t.retried.Add(1)
			if p.running.Err() == nil {
				p.trouble.About("deliver records again", err)
			}
			break
		}
		due = rest
	}
	return done
}

// read reads some of the due records, which are in the order of their offsets, and returns the rest. One whose offset has
// another record by now is missing.
func (p *part) read(ctx context.Context, due []tracker.Due) (found []redelivery, rest []tracker.Due, err error) {
	offsets := make([]int64, len(due))
	for i, d := range due {
		offsets[i] = d.Offset
	}
	records, err := p.t.reader.Read(ctx, p.partition, offsets)
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
func (p *part) wasCut(offset int64) bool {
	now := p.t.now()
	if p.behind < 0 || offset != p.behind {
		p.behind, p.behindSince = offset, now
	}
	if now-p.behindSince < cutFor {
		return false
	}
	p.t.cfg.Log.Error("kmq: the log of a partition was cut: records that were lent are lost",
		"topic", p.t.cfg.Topic, "partition", p.partition, "offset", offset)
	return true
}

// current adds the copies of what was read. It leaves out what is not to be redelivered any more: it
// has ended meanwhile, or was locked again.
func (p *part) current(found []redelivery) (all []redelivery) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range found {
		if !p.state.Taken(r.Offset) {
			continue
		}
		if r.copied != nil {
			r.copied, r.why = p.next(r.copied, r.Undelivered)
		}
		all = append(all, r)
	}
	return all
}

// next returns the record for the next delivery, or the dead letter. A record that this group was not
// handed is none, however often others were.
func (p *part) next(r *kgo.Record, undelivered bool) (*kgo.Record, marker.Reason) {
	cfg := &p.t.cfg
	l := lease.FromRecord(r)
	if undelivered {
		return p.t.retry(l, l.Attempt-1), marker.Copied
	}
	if cfg.MaxDeliveries > 0 && l.Attempt >= cfg.MaxDeliveries {
		reason := "delivered " + strconv.Itoa(l.Attempt) + " times"
		dead := lease.DeadLetter(l.Original(), l.Origin, l.Attempt, reason, cfg.Group, cfg.DeadLetterTopic, p.t.topics.DeadLetterPartitions)
		return dead, marker.DeadLettered
	}
	return p.t.retry(l, l.Attempt), marker.Copied
}

// retry decides where a record goes for its next delivery: to the end of its partition.
func (t *Tracker) retry(l *lease.Lease, deliveries int) *kgo.Record {
	return lease.Copy(l.Original(), l.Origin, t.cfg.Topic, deliveries)
}

// copy writes copies. It returns the records whose copies are durable, or that need none, and an error of
// the others. A copy that is refused with others in its batch is written alone.
func (p *part) copy(ctx context.Context, all []redelivery) (done []redelivery, failed error) {
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
	errs := p.t.copier.Write(ctx, copies...)
	for _, r := range all {
		var err error
		if r.copied != nil {
			if err, errs = errs[0], errs[1:]; engine.Refused(err) && len(copies) > 1 {
				err = p.t.copier.Write(ctx, r.copied)[0]
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
func (p *part) end(done []redelivery) {
	for _, r := range done {
		switch r.why {
		case marker.Copied:
			p.t.tailed.Add(1)
		case marker.DeadLettered:
			p.t.deadLettered.Add(1)
			p.t.givenUp.Record(lease.ID{Partition: p.partition, Offset: r.Offset}, lease.Reason(r.copied))
		case marker.Missing:
			p.t.missing.Add(1)
		}
		p.t.out.put(fact{partition: p.partition, epoch: r.Epoch, kind: marker.End, reason: r.why}, r.Offset, true)
	}
}
