package member

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"

	"kafkabench.example/kafka-bench/kmq/internal/engine"
	"kafkabench.example/kafka-bench/kmq/internal/lease"
	"kafkabench.example/kafka-bench/kmq/internal/step"
)

// pump fetches as much as there is room for, and has it begun, until the member ends.
//
// It waits until half of the bound is free, so that records are begun in large groups
// while there is still something to hand out; if somebody waits to receive, any room will
// do. Of that it begins no more than keeps those busy who receive: what waits long as a lease is
// out of a processor's caches when it is handed out, and the collector looks at it again and again;
// in the client it is bytes.
func (m *Member) pump() {
	trouble := engine.NewComplaint(m.cfg.Log)
	wait, denied := engine.NewWait(), new(denials)
	for {
		enough := m.ready.waitLow(m.running)
		if m.cfg.Set.WaitRoom(m.running, (m.cfg.MaxInFlight+1)/2) != nil {
			return
		}
		room := min(m.cfg.Set.Room(), enough)
		if room == 0 {
			continue
		}
		fetches := m.client.PollRecords(m.running, room)
		err := m.poll(fetches, trouble)
		m.client.AllowRebalance()
		switch {
		case err == nil:
			wait, denied = engine.NewWait(), new(denials)
		case denied.endMember(err):
			m.finish(err)
			return
		default:
			if wait.Sleep(m.running) != nil {
				return
			}
		}
	}
}

// poll has the records of a poll begun, after what its errors say. An error says that there were none, or that they
// could not be begun.
func (m *Member) poll(fetches kgo.Fetches, trouble *engine.Complaint) error {
	cuts, failed := m.errors(fetches, trouble)
	cuts = append(cuts, m.checkTurns(fetches)...)
	p := m.records(fetches)
	if p.cuts = append(cuts, p.cuts...); len(p.records)+len(p.passed)+len(p.cuts) == 0 {
		return failed
	}
	if err := m.begin(p); err != nil || !engine.Fatal(failed) {
		return err
	}
	return failed
}

// errors returns where the client found that logs were truncated, and another error of the poll.
func (m *Member) errors(fetches kgo.Fetches, trouble *engine.Complaint) (cuts []cut, failed error) {
	fetches.EachError(func(topic string, partition int32, err error) {
		if lost, ok := errors.AsType[*kgo.ErrDataLoss](err); ok {
			if number := m.number(topic, partition); m.offsets.of(number).readBeyond(lost.ResetTo) {
				cuts = append(cuts, m.offsets.cut(number, lost.ResetTo))
			}
			return
		}
		if m.running.Err() != nil || errors.Is(err, context.Canceled) {
			return
		}
		if failed == nil || engine.Fatal(err) {
			failed = fmt.Errorf("kmq: fetch partition %d of topic %s: %w", partition, topic, err)
		}
		if !engine.Fatal(err) || engine.Denied(err) { // else it ends the member, which says so
			trouble.About("fetch", err)
		}
	})
	return cuts, failed
}

// polled is what a poll has of the partitions that the member owns.
type polled struct {
	records []*kgo.Record   // in the order of each partition, without control records
	gaps    []gap           // deleted before them
	passed  map[int32]int64 // where a partition's fetch ended, if that was behind its last record
	cuts    []cut           // in the order in which they happened, before the gaps
	turned  []int32         // partitions with their first records, or those of a new leader epoch
}

func (m *Member) records(fetches kgo.Fetches) polled {
	all := polled{records: make([]*kgo.Record, 0, fetches.NumRecords())}
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		n := len(p.Records)
		if n == 0 {
			return
		}
		number := m.number(p.Topic, p.Partition)
		if lease.IsRetry(number) {
			for _, r := range p.Records {
				r.Partition = number
			}
			if !m.checkRetries(p.Records) {
				return
			}
		}
		first, next := p.Records[0].Offset, p.Records[n-1].Offset+1
		if m.offsets.of(number).readBeyond(first) {
			all.cuts = append(all.cuts, m.offsets.cut(number, first))
		}
		lost, owned := m.offsets.read(number, first, next, p.LogStartOffset)
		if lost.to > lost.from {
			all.gaps = append(all.gaps, lost)
		}
		if !owned {
			return
		}
		if m.offsets.note(number, p.Records, p.HighWatermark) {
			all.turned = append(all.turned, number)
		}
		if p.Records[n-1].Attrs.IsControl() {
			if all.passed == nil {
				all.passed = make(map[int32]int64)
			}
			all.passed[number] = next
		}
		all.records = append(all.records, slices.DeleteFunc(p.Records, func(r *kgo.Record) bool { return r.Attrs.IsControl() })...)
	})
	return all
}

func (m *Member) begin(p polled) error {
	step.At(step.Polled)
	m.turn.Lock()
	for _, c := range p.cuts {
		m.tellCut(c)
	}
	for _, partition := range p.turned {
		m.tellEpochs(partition)
	}
	if d, ok := m.cfg.Handler.(Deleter); ok {
		for _, g := range p.gaps {
			d.Deleted(g.partition, g.from, g.to)
		}
	}
	leases, err := m.cfg.Handler.Begin(m.running, p.records)
	if h, ok := m.cfg.Handler.(Passer); ok && err == nil {
		for partition, next := range p.passed {
			h.Passed(partition, next)
		}
	}
	m.turn.Unlock()
	if len(leases) > 0 {
		m.ready.append(leases)
	}
	switch {
	case err == nil:
		return nil
	case m.running.Err() != nil:
		return lease.ErrClosed
	case !engine.Fatal(err):
		// Records that were fetched are never fetched again by this member: going on
		// would leave them out.
		err = fmt.Errorf("kmq: records could not be begun: %w", err)
	}
	m.finish(err)
	return err
}
