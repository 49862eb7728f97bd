package shares

import (
	"maps"
	"slices"
	"time"
)

type peer struct {
	entry Entry
	since time.Duration // when its last record was read

	ends    map[place]int64         // ends of the log when no record of the peer could arrive any more
	gone    map[place]time.Duration // since when a partition is missing
	drained bool
}

type place struct {
	topic string
	id    int32
}

// Partition is a consumer group's position in one partition. Read Committed before End.
type Partition struct {
	Topic          string
	ID             int32
	Committed, End int64
}

func (m *Member) seePeers(at time.Duration, s *State) {
	maps.DeleteFunc(m.peers, func(id string, _ *peer) bool {
		_, known := s.Member(id)
		return !known
	})
	for _, e := range s.Members() {
		if e.Member == m.cfg.ID {
			continue
		}
		if p := m.peers[e.Member]; p == nil || p.entry.Seq != e.Seq {
			m.peers[e.Member] = &peer{entry: e, since: at}
		}
	}
}

// quiet returns the time after which nothing more can come from a peer. A new log record of the
// peer moves that time.
func (m *Member) quiet(p *peer) time.Duration {
	switch {
	case p.entry.Left && !p.entry.Unsettled:
		return p.since
	case p.entry.Left:
		return p.since + m.cfg.Grace
	case p.entry.Held == 0:
		return p.since + m.cfg.Lease
	}
	return p.since + m.cfg.Lease + m.cfg.Grace
}

// Undrained reports whether a reading of the group would help to reclaim a part.
func (m *Member) Undrained(at time.Duration) bool {
	for _, p := range m.peers {
		if p.entry.Held > 0 && !p.drained && at >= m.quiet(p) {
			return true
		}
	}
	return false
}

// Drain takes a reading of the group, and when it was requested (asked). The first reading after a
// peer became quiet gives the ends of the log. The peer is drained when all records below these
// ends are committed.
//
// A partition that is missing, or whose end is lower than before, counts as not committed. After
// the lease and the grace time it counts as deleted, and its records as gone.
func (m *Member) Drain(asked time.Duration, partitions []Partition) {
	if len(partitions) == 0 {
		return
	}
	now := make(map[place]Partition, len(partitions))
	for _, p := range partitions {
		now[place{p.Topic, p.ID}] = p
	}
	for _, p := range m.peers {
		if asked < m.quiet(p) {
			continue
		}
		if p.ends == nil {
			p.began(now)
		}
		p.forget(asked, now, m.cfg.Lease+m.cfg.Grace)
		p.drained = p.drained || p.passed(now)
	}
}

func (p *peer) began(now map[place]Partition) {
	p.ends, p.gone = make(map[place]int64, len(now)), make(map[place]time.Duration)
	for at, partition := range now {
		p.ends[at] = partition.End
	}
}

func (p *peer) forget(asked time.Duration, now map[place]Partition, wait time.Duration) {
	for at, end := range p.ends {
		if partition, known := now[at]; known && partition.End >= end {
			delete(p.gone, at)
			continue
		}
		since, missed := p.gone[at]
		if !missed {
			since, p.gone[at] = asked, asked
		}
		if asked-since >= wait {
			delete(p.ends, at)
		}
	}
}

func (p *peer) passed(now map[place]Partition) bool {
	for at, end := range p.ends {
		if partition, known := now[at]; !known || partition.Committed < end {
			return false
		}
	}
	return true
}

// Reclaims returns the records to append for peers that are gone and drained. It repeats a record
// until that is in the log.
func (m *Member) Reclaims(at time.Duration) []Record {
	var records []Record
	for _, id := range slices.Sorted(maps.Keys(m.peers)) {
		p := m.peers[id]
		if at >= m.quiet(p) && (p.drained || p.entry.Held == 0) {
			records = append(records, Record{Kind: Reclaim, Member: id, Seq: p.entry.Seq})
		}
	}
	return records
}
