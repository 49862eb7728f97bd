package member

import (
	"context"
	"errors"
	"fmt"

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
	wait := engine.NewWait()
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
			wait = engine.NewWait()
		case engine.Fatal(err):
			m.finish(err)
			return
		default:
			if wait.Sleep(m.running) != nil {
				return
			}
		}
	}
}

// poll has the records of a poll begun. An error says that there were none, or that they
// could not be begun.
func (m *Member) poll(fetches kgo.Fetches, trouble *engine.Complaint) error {
	records, gaps := m.records(fetches)
	if len(records) > 0 {
		return m.begin(records, gaps)
	}
	var failed error
	fetches.EachError(func(_ string, partition int32, err error) {
		if m.running.Err() != nil || errors.Is(err, context.Canceled) {
			return
		}
		if failed == nil || engine.Fatal(err) {
			failed = fmt.Errorf("kmq: fetch partition %d of topic %s: %w", partition, m.cfg.Topic, err)
		}
		if !engine.Fatal(err) { // else it ends the member, which says so
			trouble.About("fetch", err)
		}
	})
	return failed
}

// records are those of the partitions that the member has, in the order of each, and what
// was deleted before them.
func (m *Member) records(fetches kgo.Fetches) (records []*kgo.Record, gaps []gap) {
	records = make([]*kgo.Record, 0, fetches.NumRecords())
	fetches.EachPartition(func(p kgo.FetchTopicPartition) {
		n := len(p.Records)
		if n == 0 {
			return
		}
		lost, owned := m.offsets.read(p.Partition, p.Records[0].Offset, p.Records[n-1].Offset+1, p.LogStartOffset)
		if owned {
			records = append(records, p.Records...)
		}
		if lost.to > lost.from {
			gaps = append(gaps, lost)
		}
	})
	return records, gaps
}

func (m *Member) begin(records []*kgo.Record, gaps []gap) error {
	step.At(step.Polled)
	m.turn.Lock()
	if d, ok := m.cfg.Handler.(Deleter); ok {
		for _, g := range gaps {
			d.Deleted(g.partition, g.from, g.to)
		}
	}
	leases, err := m.cfg.Handler.Begin(m.running, records)
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
