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

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
	"kafkabench.example/kafka-bench/kmq/internal/step"
	"kafkabench.example/kafka-bench/kmq/internal/tracker"
	"kafkabench.example/kafka-bench/kmq/internal/window"
)

// redeliverAtMost is how many records of a partition are redelivered together, if they are
// not large: see readMost.
const redeliverAtMost = 4096

// redeliver works off what is due of a partition.
func (p *part) redeliver() {
	defer p.t.poke() // for what has become due meanwhile
	for due := p.due(); due != nil; due = p.due() {
		if p.again(due) != nil {
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
		due = p.state.Due(redeliverAtMost)
	}
	p.busy = due != nil
	slices.SortFunc(due, func(a, b tracker.Due) int { return cmp.Compare(a.From, b.From) })
	return due
}

// How long a turn may take to read, and to write copies that are refused for now or can't be
// sent: what was sent is waited for, or it might be written twice. A partition that is in
// trouble is given more time, for nobody who is not waits for it.
const (
	readFor       = 10 * time.Second
	writeFor      = time.Second
	writeTroubled = 2 * time.Second
)

// again delivers records again: it reads them, copies them to the tail, or to the
// dead-letter topic, and ends them. What can't be done for now, is refused, or is not there to
// be read, is put off, so that it holds up no others, and who holds it can still extend it; an
// error says that it was broken off.
func (p *part) again(due []tracker.Due) error {
	for wanted := ranges(due); len(wanted) > 0; {
		left, err := p.turn(wanted, due)
		if p.running.Err() != nil || errors.Is(err, errGoing) {
			return errGoing
		}
		if p.troubled = err != nil; p.troubled {
			p.t.retried.Add(1)
			p.trouble.About("deliver records again", err)
			p.postpone(left)
			return nil
		}
		wanted = left
	}
	return nil
}

// postpone puts off what could not be delivered again: for a while first, and longer each
// time.
func (p *part) postpone(left []window.Range) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range left {
		p.state.Postpone(w.From, w.To, putOffFirst, lookAgain, p.t.now())
	}
}

// errGoing: the partition is being taken away.
var errGoing = errors.New("the partition goes to another tracker")

// turn waits for a turn, and has a try in it. Those of partitions whose last try failed are
// others. Before that it waits for room among the ends: a partition whose ends can't be
// written has no turn.
func (p *part) turn(wanted []window.Range, due []tracker.Due) (left []window.Range, err error) {
	turns := p.t.turns
	if p.troubled {
		turns = p.t.troubled
	}
	select {
	case p.ending <- struct{}{}:
		<-p.ending // nobody else fills it
	case <-p.running.Done():
		return nil, errGoing
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-p.running.Done():
		return nil, errGoing
	}
	p.mu.Lock()
	going := p.finishing
	p.mu.Unlock()
	if going {
		return nil, errGoing
	}
	return p.try(wanted, due)
}

// try reads as much as one read has of what is wanted, and moves it. It returns what is still
// wanted, and why something could not be done for now.
func (p *part) try(wanted []window.Range, due []tracker.Due) (left []window.Range, err error) {
	f, err := p.read(wanted)
	if f.through > wanted[0].From {
		p.seen(f.through)
	}
	left = above(wanted, f.through)
	if errors.Is(err, errNotYet) {
		// Nothing that comes later is there either.
		if p.cut(left, err) {
			f.missing = append(f.missing, left...)
		}
		left, err = nil, nil
	}
	failed, why := p.move(f, due)
	return append(failed, left...), errors.Join(why, err)
}

func (p *part) read(wanted []window.Range) (found, error) {
	ctx, cancel := context.WithTimeout(p.running, readFor)
	defer cancel()
	return p.t.reader.read(ctx, p.partition, wanted)
}

// truncatedFor is how long the leader must say that an offset is behind the end of its log
// before it is believed: the log was cut, and the record is lost.
const truncatedFor = 10 * time.Second

// putOff is for how long what could not be delivered again is put off: at first, and at
// most.
const (
	putOffFirst = 500 * time.Millisecond
	putOffMost  = time.Minute
	lookAgain   = 2 * time.Second // at what was behind the end, or could not be done for now
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
// copied: never an end before its copy. What the cluster refuses is put off. It returns what
// could not be moved for now, with a reason why.
func (p *part) move(f found, due []tracker.Due) (failed []window.Range, why error) {
	all := p.copies(f, due)
	if len(all) == 0 {
		return nil, nil
	}
	step.At(step.BeforeCopy)
	if p.t.txns == nil {
		return p.moveInTurn(all)
	}
	return p.moveAtOnce(all)
}

// moveInTurn writes copies, and then ends. It waits for the copies alone: what is due next
// need not wait for the ends of what came before.
func (p *part) moveInTurn(all []moving) (failed []window.Range, why error) {
	var copies []*kgo.Record
	for _, m := range all {
		if m.copied != nil {
			copies = append(copies, m.copied)
		}
	}
	bad := p.copy(copies)
	all, failed, why = p.without(all, len(bad), func(m moving) error { return bad[m.copied] })
	if len(all) == 0 {
		return failed, why
	}
	step.At(step.Copied)
	for i := range all {
		all[i].copied = nil // its memory is not needed for the end
	}
	p.ending <- struct{}{} // there is room: see turn
	p.work.Go(func() {
		defer func() { <-p.ending }()
		if p.write("end records that were copied", p.records(endings(p.partition, all))) == nil {
			p.moved(all)
			p.t.poke() // there is room
		}
	})
	return failed, why
}

// copy writes copies until each is durable or refused, also where it is written by itself,
// or until it has taken too long, and returns the others with the reasons.
func (p *part) copy(copies []*kgo.Record) (bad map[*kgo.Record]error) {
	bad = p.copyTogether(copies)
	for r, why := range bad {
		if !refused(why) || errors.Is(why, kerr.TopicAuthorizationFailed) || len(copies) == 1 {
			continue // it is the same for all, or was by itself
		}
		alone := p.copyTogether([]*kgo.Record{r})[r]
		if alone == nil {
			delete(bad, r) // it was refused for one that was beside it
			continue
		}
		if bad[r] = alone; !refused(alone) {
			break // so would be the next
		}
	}
	return bad
}

func (p *part) writeFor() time.Duration {
	if p.troubled {
		return writeTroubled
	}
	return writeFor
}

// copyTogether writes copies until each is durable or refused, or it has taken too long.
func (p *part) copyTogether(copies []*kgo.Record) (bad map[*kgo.Record]error) {
	ctx, cancel := context.WithTimeout(p.running, p.writeFor())
	defer cancel()
	bad = map[*kgo.Record]error{}
	for i, err := range p.t.copier.Write(ctx, copies...) {
		if err != nil {
			bad[copies[i]] = fmt.Errorf("kmq: copy to partition %d of topic %s: %w", copies[i].Partition, copies[i].Topic, err)
		}
	}
	return bad
}

// refused is whether an error is about what was written, or where to: others can be.
func refused(err error) bool {
	return engine.Refused(err) || errors.Is(err, kerr.TopicAuthorizationFailed) || errors.Is(err, kerr.InvalidTopicException)
}

// without sorts out what went wrong, as why says: it puts off what was refused, and returns
// what may be tried again, with a reason, and the others.
func (p *part) without(all []moving, bad int, why func(moving) error) (kept []moving, failed []window.Range, last error) {
	if bad == 0 {
		return all, nil, nil
	}
	refusals := 0
	for _, m := range all {
		if refused(why(m)) {
			refusals++
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	kept = all[:0]
	for _, m := range all {
		switch err := why(m); {
		case err == nil:
			kept = append(kept, m)
		case refused(err):
			p.putOff(m, refusals, err)
		default:
			failed, last = append(failed, window.Range{From: m.offset, To: m.offset + 1}), err
		}
	}
	return kept, failed, last
}

// putOff puts off a record that was refused, one of so many, and says so from time to time.
func (p *part) putOff(m moving, refusals int, why error) {
	p.t.retried.Add(1)
	now := p.t.now()
	if p.scolded == 0 || now-p.scolded >= time.Minute {
		p.scolded = now
		to := p.t.cfg.MarkersTopic
		if m.copied != nil {
			to = m.copied.Topic
		}
		p.t.cfg.Log.Error("kmq: the cluster refuses the copy of a record that is to be delivered again, or its end; it stays lent, holds up no others, and is tried again",
			"topic", p.t.cfg.Topic, "partition", p.partition, "offset", m.offset, "to", to, "refused", refusals, "error", why)
	}
	p.state.Postpone(m.offset, m.offset+1, putOffFirst, putOffMost, now)
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
// each record in one of their own.
func (p *part) moveAtOnce(all []moving) (failed []window.Range, why error) {
	bad := map[int64]error{}
	err := p.moveTogether(all)
	for _, m := range all {
		why := err
		if refused(err) {
			if why = p.moveAlone(m); why != nil && !refused(why) {
				err = why // it is the same for the next
			}
		}
		if why != nil {
			bad[m.offset] = why
		}
	}
	all, failed, why = p.without(all, len(bad), func(m moving) error { return bad[m.offset] })
	if len(all) > 0 {
		step.At(step.Copied)
		p.moved(all)
	}
	return failed, why
}

// moveTogether moves records in one transaction. Those of partitions that are in trouble take
// the time that they take beside the others.
func (p *part) moveTogether(all []moving) error {
	if !p.troubled {
		return p.transact(p.t.txns, all)
	}
	txns, err := p.t.apart()
	if err != nil {
		return err
	}
	return p.transact(txns, all)
}

// moveAlone moves a record that was refused among others.
func (p *part) moveAlone(m moving) error {
	txns, err := p.t.alone()
	if err != nil {
		return err
	}
	return p.transact(txns, []moving{m})
}

// transact moves records in one transaction.
func (p *part) transact(txns *transactions, all []moving) error {
	records := p.records(endings(p.partition, all))
	for _, m := range all {
		if m.copied != nil {
			again := *m.copied
			records = append(records, &again)
		}
	}
	return txns.write(p.running, p.writeFor(), records, nil)
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
