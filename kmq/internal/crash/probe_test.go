package crash

import (
	"context"
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"kafkabench.example/kafka-bench/kmq"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/marker"
)

// A probe checks whether the log would be correct if everything ended now. It reads in a safe order: a commit before
// the markers that justify it, and an end before the journal that justifies it.

type probeState struct {
	ends map[int32]int
}

func (v *world) probe() {
	v.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	var err error
	switch v.spec.Engine {
	case plainEngine, offsetMapEngine:
		err = v.probeCommits(ctx)
	case markersEngine:
		err = v.probeMarkers(ctx)
	case shareEngine:
		err = v.probeShare(ctx)
	}
	if err != nil {
		v.t.Errorf("probe: %v", err)
	}
}

func (v *world) readAll(ctx context.Context) error {
	for _, f := range []*follower{v.queue, v.retries, v.dead} {
		if f == nil {
			continue
		}
		if err := f.sync(ctx); err != nil {
			return err
		}
	}
	return v.book.read()
}

// at returns a record of the topic, or of the retry topic for a partition below zero, as lease.Retry has it.
func (v *world) at(partition int32, offset int64) *kgo.Record {
	if lease.IsRetry(partition) {
		return v.retries.at(lease.Retry(partition), offset)
	}
	return v.queue.at(partition, offset)
}

// copied reports whether the retry topic has a later copy of a record.
func copied(r *kgo.Record, partition int32, copies map[kmq.ID]int64) bool {
	last, any := copies[origin(r)]
	return any && (!lease.IsRetry(partition) || last > r.Offset)
}

// owed says why a record must still be delivered; empty if it is processed, a dead letter, or copied further on.
func (v *world) owed(partition int32, offset int64, dead map[int]int, copies map[kmq.ID]int64) string {
	r := v.at(partition, offset)
	if r == nil {
		return ""
	}
	n := numberOf(r.Value)
	if v.book.processed(n) || dead[n] > 0 || copied(r, partition, copies) {
		return ""
	}
	return fmt.Sprintf("record %d at %d/%d is neither processed nor copied:%s", n, partition, offset, v.book.story(n))
}

func origin(r *kgo.Record) kmq.ID {
	if id, copied := originOf(r); copied {
		return id
	}
	return kmq.ID{Partition: r.Partition, Offset: r.Offset}
}

func originOf(r *kgo.Record) (id kmq.ID, copied bool) {
	n, _ := fmt.Sscanf(string(header(r, "kmq-origin")), "%d@%d", &id.Partition, &id.Offset)
	return id, n == 2
}

func (v *world) copies() map[kmq.ID]int64 {
	last := make(map[kmq.ID]int64)
	if v.retries == nil {
		return last
	}
	for _, records := range v.retries.records {
		for _, r := range records {
			if id, copied := originOf(r); copied {
				last[id] = max(last[id], r.Offset)
			}
		}
	}
	return last
}

// Records below a commit, or done by its metadata, must be settled.
func (v *world) probeCommits(ctx context.Context) error {
	committed, err := v.committedOfBoth(ctx)
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
		if v.spec.Engine == offsetMapEngine {
			v.probeMap(p, o.At, o.Metadata, dead, copies)
		}
	}
	return nil
}

// committedOfBoth returns the commits of the topic and of the retry topic.
func (v *world) committedOfBoth(ctx context.Context) (map[int32]kadm.Offset, error) {
	all, err := v.committed(ctx, v.spec.Group, v.spec.Topic)
	if err != nil || v.retries == nil {
		return all, err
	}
	retries, err := v.committed(ctx, v.spec.Group, v.spec.retryTopic())
	for p, o := range retries {
		all[lease.Retry(p)] = o
	}
	return all, err
}

// Records below the start of a share partition are settled, because the queue copies a record before the broker archives
// it.
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
	dead, copies := v.deadLetters(), v.copies()
	for _, g := range resp.Groups {
		for _, topic := range g.Topics {
			for _, p := range topic.Partitions {
				number := p.Partition
				if topic.Topic == v.spec.retryTopic() {
					number = lease.Retry(number)
				}
				for offset := range p.StartOffset {
					if why := v.owed(number, offset, dead, copies); why != "" {
						v.t.Errorf("LOST: share partition %d begins at %d, but %s", number, p.StartOffset, why)
						return nil
					}
				}
			}
		}
	}
	return nil
}

// A commit of the queue's group passes only records that have a start marker. A commit of the
// tracker's group passes no start without an end, and each end has its reason.
func (v *world) probeMarkers(ctx context.Context) error {
	if v.markers == nil {
		v.markers, v.probes.ends = v.follow(v.spec.Topic+"-markers"), make(map[int32]int)
	}
	queue, err := v.committedOfBoth(ctx)
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
		for _, p := range []int32{p, lease.Retry(p)} {
			log := of(p, log)
			if missing := v.unstarted(p, queue[p].At, log); missing != nil {
				v.t.Errorf("INVARIANT 1: partition %d is committed to %d, but record %d at %d has no start marker:%s",
					p, queue[p].At, numberOf(missing.Value), missing.Offset, v.historyOf(p, missing.Offset, log))
			}
			if open := v.unended(p, tracker[lease.NumberInTopic(p)].At, log); open != "" {
				v.t.Errorf("INVARIANT 2: markers of partition %d are committed to %d, but %s", p, tracker[lease.NumberInTopic(p)].At, open)
			}
			v.checkEnds(p, log, dead, copies)
			v.checkEarly(p, log)
		}
	}
	return nil
}

// of returns the markers of a partition's records.
func of(p int32, log []logged) (mine []logged) {
	for _, m := range log {
		if m.Partition == p || m.Type == marker.Tick {
			mine = append(mine, m)
		}
	}
	return mine
}

type logged struct {
	marker.Marker
	at   int64
	time time.Time
}

func readMarkers(records []*kgo.Record) ([]logged, error) {
	log := make([]logged, 0, len(records))
	for _, r := range records {
		m, err := marker.Parse(r.Key, r.Value)
		if err != nil {
			return nil, fmt.Errorf("at %d: %w", r.Offset, err)
		}
		if lease.NumberInTopic(m.Partition) != r.Partition {
			return nil, fmt.Errorf("at %d of partition %d: a marker of partition %d", r.Offset, r.Partition, m.Partition)
		}
		log = append(log, logged{m, r.Offset, r.Timestamp})
	}
	return log, nil
}

func (v *world) unstarted(p int32, below int64, log []logged) *kgo.Record {
	started := make(map[int64]bool)
	for _, m := range log {
		for i := range int64(m.Count) {
			if m.Type == marker.Start {
				started[m.Offset+i] = true
			}
		}
	}
	records := v.queue.records[p]
	if lease.IsRetry(p) {
		records = v.retries.records[lease.Retry(p)]
	}
	for _, r := range records {
		if r.Offset < below && !started[r.Offset] {
			return r
		}
	}
	return nil
}

// unended describes a start that is below an offset and has no end before or after it; empty: none.
func (v *world) unended(p int32, below int64, log []logged) string {
	last := make(map[int64]logged)
	for _, m := range log {
		for i := range int64(m.Count) {
			if m.Type == marker.Start && last[m.Offset+i].Type != marker.End || m.Type == marker.End {
				last[m.Offset+i] = m
			}
		}
	}
	for offset, m := range last {
		if m.Type == marker.Start && m.at < below {
			return fmt.Sprintf("the start at %d of the record at %d has no end:%s", m.at, offset, v.historyOf(p, offset, log))
		}
	}
	return ""
}

func (v *world) checkEnds(p int32, log []logged, dead map[int]int, copies map[kmq.ID]int64) {
	v.t.Helper()
	look := log[v.probes.ends[p]:]
	v.probes.ends[p] = len(log)
	for _, m := range look {
		if m.Type != marker.End {
			continue
		}
		for offset := m.Offset; offset < m.Offset+int64(m.Count); offset++ {
			if !v.justified(m, offset, dead, copies) {
				v.t.Errorf("INVARIANT 3: the record at %d/%d has an end of reason %d without it:%s", p, offset, m.Reason, v.historyOf(p, offset, log))
				return
			}
		}
	}
}

func (v *world) justified(m logged, offset int64, dead map[int]int, copies map[kmq.ID]int64) bool {
	r := v.at(m.Partition, offset)
	if r == nil {
		return m.Reason == marker.Missing
	}
	switch n := numberOf(r.Value); m.Reason {
	case marker.Acked:
		return v.book.processed(n)
	case marker.Copied:
		return copied(r, m.Partition, copies)
	case marker.DeadLettered:
		return dead[n] > 0
	}
	return false
}

// The log's time has truncated milliseconds.
const clockGrain = 2 * time.Millisecond

// meanwhile is how long a tracker may take from reading that a record is due, through the copy, to
// the append of the end marker. A member that locks the record in this time is too late.
const meanwhile = time.Second

// A redelivered record was released, or its lock had expired by the log's time.
func (v *world) checkEarly(p int32, log []logged) {
	v.t.Helper()
	open := make(map[int64][]logged)
	for _, m := range log {
		for offset := m.Offset; offset < m.Offset+int64(m.Count); offset++ {
			said := open[offset]
			if m.Type != marker.End {
				open[offset] = append(said, m)
				continue
			}
			delete(open, offset)
			if len(said) == 0 || m.Reason != marker.Copied {
				continue
			}
			known := said
			for len(known) > 1 && m.time.Sub(known[len(known)-1].time) < meanwhile {
				known = known[:len(known)-1]
			}
			early := min(lockEnd(said).Sub(m.time), lockEnd(known).Sub(m.time), lockEnd(inTime(said)).Sub(m.time))
			if early > clockGrain {
				v.t.Errorf("INVARIANT 8: the record at %d/%d was copied %v before its lock ran out (end at %d):%s", p, offset, early, m.at, v.historyOf(p, offset, log))
				return
			}
		}
	}
}

// inTime returns a record's markers up to the first expiry of its lock. The tracker may have been
// writing the copy since then, so a later extension does not count.
func inTime(said []logged) []logged {
	for i, m := range said {
		if i > 0 && m.time.Sub(lockEnd(said[:i])) > clockGrain {
			return said[:i]
		}
	}
	return said
}

// lockEnd returns when a record's lock ends. A start can only make it later. An extension or a
// release sets it, if it is by the newest holder.
func lockEnd(said []logged) time.Time {
	var until time.Time
	var holder uint32
	for _, m := range said {
		end := m.time.Add(m.Duration)
		switch {
		case m.Type == marker.Start:
			if holder = m.Holder; end.After(until) {
				until = end
			}
		case m.Holder == holder:
			until = end
		}
	}
	return until
}

func (v *world) historyOf(p int32, offset int64, log []logged) string {
	var s string
	for _, m := range log {
		if m.Offset <= offset && offset < m.Offset+int64(m.Count) {
			s += fmt.Sprintf("\n  %d at %v: %v of %d from %d, %v, holder %x, reason %d", m.at, m.time.Format("05.000"), m.Type, m.Count, m.Offset, m.Duration, m.Holder, m.Reason)
		}
	}
	if r := v.at(p, offset); r != nil {
		s += v.book.story(numberOf(r.Value))
	}
	return s
}
