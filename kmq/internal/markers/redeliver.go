package markers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"

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
// dead-letter topic, and ends them. Whatever fails is tried again for ever; an error says
// that it was broken off.
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
		wanted = above(wanted, f.through)
		if err == nil {
			continue
		}
		p.t.retried.Add(1)
		trouble.About("read records to be delivered again", err)
		if err := wait.Sleep(p.running); err != nil {
			return err
		}
	}
	return nil
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

// move makes the copies of what was found durable, and then the ends of all: never an end
// before its copy.
func (p *part) move(f found, due []tracker.Due) error {
	copies, ends := p.copies(f, due)
	if len(ends) == 0 {
		return nil
	}
	step.At(step.BeforeCopy)
	markers := endings(p.partition, ends)
	if p.t.txns != nil {
		if err := p.moveAtOnce(copies, markers); err != nil {
			return err
		}
	} else {
		if err := p.write("copy records to be delivered again", copies); err != nil {
			return err
		}
		step.At(step.Copied)
		if err := p.write("end records that were copied", p.records(markers)); err != nil {
			return err
		}
	}
	step.At(step.CopyEnded)
	p.moved(markers)
	return nil
}

// copies are the records to be produced, and the ends to be written then. What is not ours
// to deliver any more is left out: it ended meanwhile, or was lent again.
func (p *part) copies(f found, due []tracker.Due) (copies []*kgo.Record, ends []ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, r := range f.records {
		if !p.state.Taken(r.Offset) {
			continue
		}
		for r.Offset >= due[0].To {
			due = due[1:]
		}
		c, why := p.copy(r, due[0].Undelivered)
		copies, ends = append(copies, c), append(ends, ending{r.Offset, why})
	}
	for _, m := range f.missing {
		for offset := m.From; offset < m.To; offset++ {
			if p.state.Taken(offset) {
				ends = append(ends, ending{offset, marker.Missing})
			}
		}
	}
	slices.SortFunc(ends, func(a, b ending) int { return cmp.Compare(a.offset, b.offset) })
	return copies, ends
}

// copy is the record for the next delivery, or the dead letter.
func (p *part) copy(r *kgo.Record, undelivered bool) (*kgo.Record, marker.Reason) {
	cfg := &p.t.cfg
	l := lease.FromRecord(r)
	deliveries := l.Attempt
	if undelivered {
		deliveries--
	}
	if cfg.MaxDeliveries > 0 && deliveries >= cfg.MaxDeliveries {
		reason := "delivered " + strconv.Itoa(deliveries) + " times"
		return lease.DeadLetter(r, l.Origin, deliveries, reason, cfg.Group, cfg.DeadLetterTopic, p.t.topics.DeadLetterPartitions), marker.DeadLettered
	}
	return lease.Copy(r, l.Origin, cfg.Topic, deliveries), marker.Copied
}

// endings are end markers: one for each run of offsets that end for the same reason.
func endings(partition int32, ends []ending) []marker.Marker {
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
		records[i] = record(p.t.cfg.MarkersTopic, m)
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

// moveAtOnce writes copies and ends in one transaction.
func (p *part) moveAtOnce(copies []*kgo.Record, markers []marker.Marker) error {
	err := p.persist("copy and end records, in a transaction", func(ctx context.Context) error {
		all := p.records(markers)
		for _, c := range copies {
			again := *c
			all = append(all, &again)
		}
		return p.t.txns.write(ctx, all, nil)
	})
	if err == nil {
		step.At(step.Copied)
	}
	return err
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
func (p *part) moved(markers []marker.Marker) {
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
