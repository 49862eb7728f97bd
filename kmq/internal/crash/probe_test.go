package crash

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafka-bench/kmq"
	"kafka-bench/kmq/internal/marker"
)

// A probe looks at what stands in the log in the middle of the work and asks whether it
// would be right if everything ended here. It reads in an order in which what it compares
// can only be righter than what it saw: a commit before the markers that justify it, an
// end before the journal that does.

// probeState is how far earlier probes have come.
type probeState struct {
	ends map[int32]int // markers whose reason was looked at, by partition
	seen int           // probes made
}

// probe makes those of the engine.
func (v *world) probe() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var err error
	switch v.spec.Engine {
	case kmq.Plain, kmq.OffsetMap:
		err = v.probeCommits(ctx)
	case kmq.Markers:
		err = v.probeMarkers(ctx)
	case kmq.Share:
		err = v.probeShare(ctx)
	}
	if err != nil {
		v.t.Errorf("probe: %v", err)
	}
	v.probes.seen++
}

// readAll reads what may justify a commit: the topics and the journal.
func (v *world) readAll(ctx context.Context) error {
	for _, f := range []*follower{v.queue, v.dead} {
		if err := f.sync(ctx); err != nil {
			return err
		}
	}
	return v.book.read()
}

// owed says why the queue still owes the record at a place; empty if it does not:
// it is processed, or a dead letter, or there is a copy of it further on.
func (v *world) owed(partition int32, offset int64, dead map[int]int, copies map[kmq.ID]int64) string {
	r := v.queue.at(partition, offset)
	if r == nil {
		return "" // an offset without a record
	}
	n := numberOf(r.Value)
	if v.book.processed(n) || dead[n] > 0 || copies[origin(r)] > offset {
		return ""
	}
	return fmt.Sprintf("record %d at %d/%d is neither processed nor copied:%s", n, partition, offset, v.book.story(n))
}

// origin is where a record or a copy was first.
func origin(r *kgo.Record) kmq.ID {
	if id, copied := originOf(r); copied {
		return id
	}
	return kmq.ID{Partition: r.Partition, Offset: r.Offset}
}

// originOf reads where a copy's record was first.
func originOf(r *kgo.Record) (kmq.ID, bool) {
	b := header(r, "kmq-origin")
	if len(b) != 12 {
		return kmq.ID{}, false
	}
	return kmq.ID{Partition: int32(binary.BigEndian.Uint32(b)), Offset: int64(binary.BigEndian.Uint64(b[4:]))}, true
}

// copies are the offsets of the last copy of each record.
func (v *world) copies() map[kmq.ID]int64 {
	last := make(map[kmq.ID]int64)
	for _, records := range v.queue.records {
		for _, r := range records {
			if id, copied := originOf(r); copied {
				last[id] = max(last[id], r.Offset)
			}
		}
	}
	return last
}

// probeCommits: what is below a committed offset is settled, and so is what its metadata
// says is done beyond it.
func (v *world) probeCommits(ctx context.Context) error {
	committed, err := v.committed(ctx, v.spec.Group, v.spec.Topic)
	if err != nil {
		return err
	}
	if err := v.readAll(ctx); err != nil {
		return err
	}
	dead, copies := v.deadLetters(), v.copies()
	for p, o := range committed {
		for offset := range o.At {
			if why := v.owed(p, offset, dead, copies); why != "" {
				v.t.Errorf("LOST: partition %d is committed to %d, but %s", p, o.At, why)
				return nil
			}
		}
		if v.spec.Engine == kmq.OffsetMap {
			v.probeMap(p, o.At, o.Metadata, dead, copies)
		}
	}
	return nil
}

// probeShare: what is below the start of a share partition is settled. (The broker gives
// up a record that was delivered too often; these tests keep below that.)
func (v *world) probeShare(ctx context.Context) error {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	group := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	group.GroupID = v.spec.Group
	req.Groups = append(req.Groups, group)
	resp, err := req.RequestWith(ctx, v.client)
	if err != nil {
		return err
	}
	if err := v.readAll(ctx); err != nil {
		return err
	}
	dead := v.deadLetters()
	for _, g := range resp.Groups {
		for _, topic := range g.Topics {
			for _, p := range topic.Partitions {
				for offset := range p.StartOffset {
					if why := v.owed(p.Partition, offset, dead, nil); why != "" {
						v.t.Errorf("LOST: share partition %d begins at %d, but %s", p.Partition, p.StartOffset, why)
						return nil
					}
				}
			}
		}
	}
	return nil
}

// probeMarkers: a commit of the queue's group passes no record without a start marker; a
// commit of the tracker's group passes no start without an end; and each end has its
// reason.
func (v *world) probeMarkers(ctx context.Context) error {
	if v.markers == nil {
		v.markers, v.probes.ends = v.follow(v.spec.Topic+"-markers"), make(map[int32]int)
	}
	queue, err := v.committed(ctx, v.spec.Group, v.spec.Topic)
	if err != nil {
		return err
	}
	tracker, err := v.committed(ctx, v.spec.Group+"-tracker", v.markers.topic)
	if err != nil {
		return err
	}
	if err := v.markers.sync(ctx); err != nil {
		return err
	}
	if err := v.readAll(ctx); err != nil {
		return err
	}
	dead, copies := v.deadLetters(), v.copies()
	for p := range v.spec.Partitions {
		log, err := readMarkers(v.markers.records[p])
		if err != nil {
			v.t.Errorf("markers of partition %d: %v", p, err)
			continue
		}
		v.checkStarted(p, queue[p].At, log)
		v.checkOpen(p, tracker[p].At, log)
		v.checkEnds(p, log, dead, copies)
		v.checkEarly(p, log)
	}
	return nil
}

// logged is a marker and where it is.
type logged struct {
	marker.Marker
	at   int64
	time time.Time // of the log
}

func readMarkers(records []*kgo.Record) ([]logged, error) {
	log := make([]logged, 0, len(records))
	for _, r := range records {
		m, err := marker.Parse(r.Key, r.Value)
		if err != nil {
			return nil, fmt.Errorf("at %d: %w", r.Offset, err)
		}
		if m.Partition != r.Partition {
			return nil, fmt.Errorf("at %d of partition %d: a marker of partition %d", r.Offset, r.Partition, m.Partition)
		}
		log = append(log, logged{m, r.Offset, r.Timestamp})
	}
	return log, nil
}

func (v *world) checkStarted(p int32, committed int64, log []logged) {
	v.t.Helper()
	started := make(map[int64]bool)
	for _, m := range log {
		for i := range int64(m.Count) {
			if m.Type == marker.Start {
				started[m.Offset+i] = true
			}
		}
	}
	for _, r := range v.queue.records[p] {
		if r.Offset < committed && !started[r.Offset] {
			v.t.Errorf("INVARIANT 1: partition %d is committed to %d, but record %d at %d has no start marker", p, committed, numberOf(r.Value), r.Offset)
			return
		}
	}
}

func (v *world) checkOpen(p int32, committed int64, log []logged) {
	v.t.Helper()
	last := make(map[int64]logged) // the last start or end of each record
	for _, m := range log {
		for i := range int64(m.Count) {
			if m.Type == marker.Start || m.Type == marker.End {
				last[m.Offset+i] = m
			}
		}
	}
	for offset, m := range last {
		if m.Type == marker.Start && m.at < committed {
			v.t.Errorf("INVARIANT 2: markers of partition %d are committed to %d, but the start at %d of the record at %d has no end", p, committed, m.at, offset)
			return
		}
	}
}

// checkEnds looks at the ends that are new since the last probe.
func (v *world) checkEnds(p int32, log []logged, dead map[int]int, copies map[kmq.ID]int64) {
	v.t.Helper()
	from := v.probes.ends[p]
	v.probes.ends[p] = len(log)
	for _, m := range log[from:] {
		if m.Type != marker.End {
			continue
		}
		for i := range int64(m.Count) {
			r := v.queue.at(p, m.Offset+i)
			if r == nil {
				if m.Reason != marker.Missing && !v.spec.Transactions {
					v.t.Errorf("an end (%d) of a record at %d/%d, where there is none", m.Reason, p, m.Offset+i)
				}
				continue
			}
			n, justified := numberOf(r.Value), false
			switch m.Reason {
			case marker.Acked:
				justified = v.book.processed(n)
			case marker.Copied:
				justified = copies[origin(r)] > r.Offset
			case marker.DeadLettered:
				justified = dead[n] > 0
			}
			if !justified {
				v.t.Errorf("INVARIANT 3: the record %d at %d/%d has an end of reason %d without it:%s", n, p, r.Offset, m.Reason, v.book.story(n))
				return
			}
		}
	}
}

// clockGrain is by how much the time of the log may be less than the one at which a record
// was appended: it has milliseconds, cut off.
const clockGrain = 2 * time.Millisecond

// meanwhile is how long a tracker may take from reading that a record is due to the end
// that follows its copy. Who lends the record again in between, because it took over from
// somebody who died, comes too late.
const meanwhile = time.Second

// checkEarly looks, for each record that was copied to be delivered again, whether its
// lock had run out by the time of the log, or it had been given back.
func (v *world) checkEarly(p int32, log []logged) {
	v.t.Helper()
	until := make(map[int64][]logged) // what says when the record's lock ends
	due := func(m logged) time.Time { return m.time.Add(m.Duration) }
	for _, m := range log {
		for offset := m.Offset; offset < m.Offset+int64(m.Count); offset++ {
			lent := until[offset]
			switch m.Type {
			case marker.Start:
				until[offset] = append(lent, m)
			case marker.Extend, marker.Release:
				if n := len(lent); n > 0 && lent[n-1].Holder == m.Holder {
					until[offset] = append(lent[:n-1:n-1], m)
				}
			case marker.End:
				delete(until, offset)
				for len(lent) > 1 && m.time.Sub(lent[len(lent)-1].time) < meanwhile {
					lent = lent[:len(lent)-1]
				}
				for _, before := range lent {
					if early := due(before).Sub(m.time); m.Reason == marker.Copied && early > clockGrain {
						v.t.Errorf("INVARIANT 8: the record at %d/%d was copied %v before its lock ran out (%v at %d, end at %d)", p, offset, early, before.Type, before.at, m.at)
						return
					}
				}
			}
		}
	}
}
