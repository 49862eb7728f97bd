package markers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"kafka-bench/kmq/internal/engine"
	"kafka-bench/kmq/internal/lease"
	"kafka-bench/kmq/internal/marker"
	"kafka-bench/kmq/internal/step"
	"kafka-bench/kmq/internal/tracker"
	"kafka-bench/kmq/internal/window"
)

// redeliverAtMost is how many records of a partition are redelivered together, if they are
// not large: see readMost.
const redeliverAtMost = 4096

// redeliver works off what is due of a partition.
func (p *part) redeliver() {
	select {
	case p.t.slots <- struct{}{}:
	case <-p.running.Done():
		return
	}
	defer func() {
		<-p.t.slots
		p.t.poke() // for what has become due meanwhile
	}()
	for {
		due := p.due()
		if due == nil {
			return
		}
		if err := p.again(due); err != nil {
			return // broken off: the state is about to be forgotten
		}
	}
}

// due takes what is due; nil: nothing, and the partition is busy no more.
func (p *part) due() []tracker.Due {
	p.mu.Lock()
	defer p.mu.Unlock()
	var due []tracker.Due
	if !p.finishing {
		due = p.state.Due(p.t.now(), redeliverAtMost)
	}
	p.busy = due != nil
	slices.SortFunc(due, func(a, b tracker.Due) int { return cmp.Compare(a.From, b.From) })
	return due
}

// again delivers records again: it reads them, copies them to the tail, or to the
// dead-letter topic, and ends them. What can't be done for now is tried again for ever, and
// what is refused, or not there to be read, is put off, so that it holds up no others; an
// error says that it was broken off.
func (p *part) again(due []tracker.Due) error {
	wait, trouble := engine.NewWait(), engine.NewComplaint(p.t.cfg.Log)
	for wanted := ranges(due); len(wanted) > 0; {
		f, err := p.t.reader.read(p.running, p.partition, wanted)
		if len(f.records) > 0 || len(f.missing) > 0 {
			if err := p.move(f, due); err != nil {
				return err
			}
			wait = engine.NewWait()
		}
		if f.through > wanted[0].From {
			p.seen(f.through)
		}
		wanted = above(wanted, f.through)
		switch {
		case err == nil:
			continue
		case errors.Is(err, errNotYet):
			// Nothing that comes later is there either.
			if p.cut(wanted, err) {
				return p.move(found{missing: wanted, through: wanted[len(wanted)-1].To}, due)
			}
			return nil
		}
		p.t.retried.Add(1)
		trouble.About("read records to be delivered again", err)
		if err := wait.Sleep(p.running); err != nil {
			return err
		}
	}
	return nil
}

// truncatedFor is how long the leader must say that an offset is behind the end of its log
// before it is believed: the log was cut, and the record is lost.
const truncatedFor = 10 * time.Second

// putOff is for how long what could not be delivered again is put off: at first, and at
// most.
const (
	putOffFirst = 500 * time.Millisecond
	putOffMost  = time.Minute
	lookAgain   = 2 * time.Second // at what was behind the end
)

// cut is whether the log was cut below what is wanted. Else that is put off.
func (p *part) cut(wanted []window.Range, err error) bool {
	now := p.t.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if !errors.Is(err, errBehind) {
		p.behind = -1
	} else if p.behind < 0 || wanted[0].From < p.behind {
		p.behind, p.behindSince = wanted[0].From, now
	}
	p.t.retried.Add(1)
	if p.behind >= 0 && now-p.behindSince >= truncatedFor {
		p.t.cfg.Log.Error("kmq: the log of a partition was cut: records that were lent are lost",
			"topic", p.t.cfg.Topic, "partition", p.partition, "offset", wanted[0].From)
		return true
	}
	for _, w := range wanted {
		p.state.Postpone(w.From, w.To, putOffFirst, lookAgain, p.t.now())
	}
	return false
}

// seen notes that records up to an offset are in the log.
func (p *part) seen(through int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if through > p.behind {
		p.behind = -1
	}
}

func ranges(due []tracker.Due) []window.Range {
	all := make([]window.Range, len(due))
	for i, d := range due {
		all[i] = d.Range
	}
	return all
}

// above is what of ranges is not below an offset.
func above(all []window.Range, offset int64) []window.Range {
	for len(all) > 0 && all[0].To <= offset {
		all = all[1:]
	}
	if len(all) > 0 && all[0].From < offset {
		all = slices.Clone(all)
		all[0].From = offset
	}
	return all
}

// ending is the end of one record.
type ending struct {
	offset int64
	why    marker.Reason
}

// moving is a record that is on its way out of the state: what is to be written of it.
type moving struct {
	ending
	copied *kgo.Record // nil where there is nothing to copy, or it is done
	reason string      // of a dead letter
}

// move makes the copies of what was found durable, and then the ends of all that was
// copied: never an end before its copy. What the cluster refuses is put off.
func (p *part) move(f found, due []tracker.Due) error {
	all := p.copies(f, due)
	if len(all) == 0 {
		return nil
	}
	step.At(step.BeforeCopy)
	if p.t.txns == nil {
		return p.moveInTurn(all)
	}
	all, err := p.moveAtOnce(all)
	if err == nil {
		p.moved(all)
	}
	return err
}

// moveInTurn writes copies, and then ends. It waits for the copies alone: what is due next
// need not wait for the ends of what came before.
func (p *part) moveInTurn(all []moving) error {
	var copies []*kgo.Record
	for _, m := range all {
		if m.copied != nil {
			copies = append(copies, m.copied)
		}
	}
	bad, err := p.copy(copies)
	if err != nil {
		return err
	}
	all = p.without(all, len(bad), func(m moving) error { return bad[m.copied] })
	step.At(step.Copied)
	select {
	case p.ending <- struct{}{}:
	case <-p.running.Done():
		return p.running.Err()
	}
	for i := range all {
		all[i].copied = nil // its memory is not needed for the end
	}
	p.work.Go(func() {
		defer func() { <-p.ending }()
		if p.write("end records that were copied", p.records(endings(p.partition, all))) == nil {
			p.moved(all)
			p.t.poke() // there is room
		}
	})
	return nil
}

// copy writes copies until each is durable or refused, also where it is written by itself,
// and returns those with the reasons. The error says that it was broken off.
func (p *part) copy(copies []*kgo.Record) (bad map[*kgo.Record]error, err error) {
	bad, err = p.copyTogether(copies)
	for r, why := range bad {
		if errors.Is(why, kerr.TopicAuthorizationFailed) || len(copies) == 1 || err != nil {
			continue // it is the same for all, or was by itself
		}
		alone, e := p.copyTogether([]*kgo.Record{r})
		if alone[r] == nil && e == nil {
			delete(bad, r) // it was refused for one that was beside it
		}
		err = e
	}
	return bad, err
}

// copyTogether writes copies until each is durable or refused.
func (p *part) copyTogether(left []*kgo.Record) (bad map[*kgo.Record]error, err error) {
	bad = map[*kgo.Record]error{}
	err = p.persist("copy records to be delivered again", func(ctx context.Context) (err error) {
		var again []*kgo.Record
		for i, e := range p.t.copier.Write(ctx, left...) {
			switch {
			case e == nil:
			case refused(e):
				bad[left[i]] = e
			default:
				again, err = append(again, left[i]), e
			}
		}
		left = again
		return err
	})
	return bad, err
}

// refused is whether an error is about what was written, or where to: others can be.
func refused(err error) bool {
	return engine.Refused(err) || errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.InvalidTopicException)
}

// without puts off what was refused, as why says, and returns the others.
func (p *part) without(all []moving, bad int, why func(moving) error) []moving {
	if bad == 0 {
		return all
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept := all[:0]
	for _, m := range all {
		err := why(m)
		if err == nil {
			kept = append(kept, m)
			continue
		}
		p.t.retried.Add(1)
		if now := p.t.now(); p.scolded == 0 || now-p.scolded >= time.Minute {
			p.scolded = now
			to := p.t.cfg.MarkersTopic
			if m.copied != nil {
				to = m.copied.Topic
			}
			p.t.cfg.Log.Error("kmq: the cluster refuses the copy of a record that is to be delivered again, or its end; it stays lent, holds up no others, and is tried again",
				"topic", p.t.cfg.Topic, "partition", p.partition, "offset", m.offset, "to", to, "refused", bad, "error", err)
		}
		p.state.Postpone(m.offset, m.offset+1, putOffFirst, putOffMost, p.t.now())
	}
	return kept
}

// copies are the records to be produced, and the ends to be written then. What is not ours
// to deliver any more is left out: it ended meanwhile, or was lent again.
func (p *part) copies(f found, due []tracker.Due) (all []moving) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range f.records {
		if !p.state.Taken(r.Offset) {
			continue
		}
		for r.Offset >= due[0].To {
			due = due[1:]
		}
		c, why := p.next(r, due[0].Undelivered)
		all = append(all, moving{ending{r.Offset, why}, c, lease.Reason(c)})
	}
	for _, m := range f.missing {
		for offset := m.From; offset < m.To; offset++ {
			if p.state.Taken(offset) {
				all = append(all, moving{ending: ending{offset, marker.Missing}})
			}
		}
	}
	slices.SortFunc(all, func(a, b moving) int { return cmp.Compare(a.offset, b.offset) })
	return all
}

// next is the record for the next delivery, or the dead letter. One that this group was not
// handed is none, however often others were.
func (p *part) next(r *kgo.Record, undelivered bool) (*kgo.Record, marker.Reason) {
	cfg := &p.t.cfg
	l := lease.FromRecord(r)
	deliveries := l.Attempt
	if undelivered {
		deliveries--
	}
	if !undelivered && cfg.MaxDeliveries > 0 && deliveries >= cfg.MaxDeliveries {
		reason := "delivered " + strconv.Itoa(deliveries) + " times"
		return lease.DeadLetter(r, l.Origin, deliveries, reason, cfg.Group, cfg.DeadLetterTopic, p.t.topics.DeadLetterPartitions), marker.DeadLettered
	}
	return lease.Copy(r, l.Origin, cfg.Topic, deliveries), marker.Copied
}

// endings are end markers: one for each run of offsets that end for the same reason.
func endings(partition int32, ends []moving) []marker.Marker {
	var all []marker.Marker
	for _, e := range ends {
		if n := len(all) - 1; n >= 0 && all[n].Reason == e.why && all[n].Offset+int64(all[n].Count) == e.offset {
			all[n].Count++
			continue
		}
		all = append(all, marker.Marker{Partition: partition, Offset: e.offset, Type: marker.End, Count: 1, Reason: e.why})
	}
	return all
}

func (p *part) records(markers []marker.Marker) []*kgo.Record {
	records := make([]*kgo.Record, len(markers))
	for i, m := range markers {
		records[i] = p.t.scribe.record(m)
	}
	return records
}

// write writes records until all are durable.
func (p *part) write(what string, records []*kgo.Record) error {
	return p.persist(what, func(ctx context.Context) (err error) {
		records, err = write(ctx, p.t.writer, records)
		return err
	})
}

// moveAtOnce writes copies and ends in one transaction; where that is refused, those of
// each record in one of their own. It returns what was moved.
func (p *part) moveAtOnce(all []moving) ([]moving, error) {
	err := p.transact(func() (*transactions, error) { return p.t.txns, nil }, all)
	if err == nil {
		step.At(step.Copied)
		return all, nil
	}
	bad := map[int64]error{}
	for _, m := range all {
		if broken := p.running.Err(); broken != nil {
			return nil, broken
		}
		if err := p.transact(p.t.alone, []moving{m}); err != nil {
			bad[m.offset] = err
		}
	}
	if broken := p.running.Err(); broken != nil {
		return nil, broken
	}
	step.At(step.Copied)
	return p.without(all, len(bad), func(m moving) error { return bad[m.offset] }), nil
}

// transact moves records in one transaction. An error says that one is refused, or that it
// was broken off.
func (p *part) transact(in func() (*transactions, error), all []moving) error {
	var final error
	err := p.persist("copy and end records, in a transaction", func(ctx context.Context) error {
		records := p.records(endings(p.partition, all))
		for _, m := range all {
			if m.copied != nil {
				again := *m.copied
				records = append(records, &again)
			}
		}
		txns, err := in()
		if err == nil {
			err = txns.write(ctx, records, nil)
		}
		if refused(err) {
			final = err
			return nil
		}
		return err
	})
	return errors.Join(final, err)
}

// persist tries for ever, whatever the error: one that no waiting mends is somebody's to
// mend, and until then nothing is lost. It ends with an error when it is broken off.
func (p *part) persist(what string, f func(context.Context) error) error {
	wait, trouble := engine.NewWait(), engine.NewComplaint(p.t.cfg.Log)
	for {
		err := f(p.running)
		if err == nil {
			return nil
		}
		if broken := p.running.Err(); broken != nil {
			return fmt.Errorf("%w: %w", broken, err)
		}
		p.t.retried.Add(1)
		trouble.About(what, err)
		if err := wait.Sleep(p.running); err != nil {
			return err
		}
	}
}

// moved takes out what has durable ends, and counts it.
func (p *part) moved(all []moving) {
	if len(all) == 0 {
		return
	}
	step.At(step.CopyEnded)
	for _, m := range all {
		if m.why == marker.DeadLettered {
			p.t.givenUp.Record(lease.ID{Partition: p.partition, Offset: m.offset}, m.reason)
		}
	}
	markers := endings(p.partition, all)
	now := p.t.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range markers {
		switch n := int64(m.Count); m.Reason {
		case marker.Copied:
			p.t.tailed.Add(n)
		case marker.DeadLettered:
			p.t.deadLettered.Add(n)
		case marker.Missing:
			p.t.missing.Add(n)
		}
		p.state.Ended(m, now)
	}
}
