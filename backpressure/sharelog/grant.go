package sharelog

import (
	"time"

	"kafkabench.example/kafka-bench/backpressure"
	"kafkabench.example/kafka-bench/backpressure/shares"
)

// Gate gives a member its demand and its outstanding records: a *[backpressure.Gate] or a
// *[backpressure.Partitioned].
type Gate interface {
	Advance()
	Stats() backpressure.Stats
}

// grant ends when either clock is past the end. The monotonic clock may stop while the machine is
// suspended, and the wall clock may be set back.
type grant struct {
	part        float64
	until, wall time.Time
}

// Part implements [backpressure.Share]. It takes no lock and is 0 as soon as the lease has ended.
func (m *Member) Part() float64 {
	now := time.Now()
	g := m.now.Load()
	if !now.Before(g.until) || !now.Round(0).Before(g.wall) {
		return 0
	}
	return g.part
}

type stamp struct {
	at   time.Duration
	wall time.Time
}

// stampsMax is for how many of its last beats a member knows the sending time. An older beat does
// not renew its part.
const stampsMax = 64

// The lock is held.
func (m *Member) stamped(at time.Duration) {
	if len(m.sent) == stampsMax {
		m.sent = append(m.sent[:0], m.sent[1:]...)
	}
	m.sent = append(m.sent, stamp{at: at, wall: time.Now().Round(0)})
}

// The lock is held.
func (m *Member) publish() {
	part, until := m.self.Grant()
	g := &grant{until: m.epoch.Add(until)}
	if m.gate.Load() != nil && m.broken == nil {
		g.part = part.Of(1)
	}
	hold := m.cfg.Lease - m.cfg.Margin
	for _, s := range m.sent {
		if s.at == until-hold {
			g.wall = s.wall.Add(hold)
		}
	}
	m.now.Store(g)
}

func (m *Member) lower() {
	m.mu.Lock()
	m.self.Aim(m.clock())
	m.publish()
	m.mu.Unlock()
	if a := m.gate.Load(); a != nil {
		a.gate.Advance()
	}
}

func (m *Member) load() shares.Load {
	a := m.gate.Load()
	if a == nil {
		return shares.Load{}
	}
	stats := a.gate.Stats()
	m.mu.Lock()
	demand, served := m.meter.Read(m.clock(), stats.Admitted, stats.Refused, stats.Waiting)
	m.mu.Unlock()
	return shares.Load{
		Demand: demand, Served: served, Unsettled: stats.Admitted > stats.Settled,
		Outstanding: m.outstanding(a.gate, stats),
	}
}

// outstanding covers the uncommitted records that may be in the log, or may come into it before the
// gate asks for its share again. With a gate for each partition, it is the largest partition's.
func (m *Member) outstanding(gate Gate, stats backpressure.Stats) shares.Part {
	each, ok := gate.(*backpressure.Partitioned)
	if !ok {
		return m.partOf(stats)
	}
	var part shares.Part
	for p := range each.Partitions() {
		part = max(part, m.partOf(each.PartitionStats(int32(p))))
	}
	return part
}

func (m *Member) partOf(s backpressure.Stats) shares.Part {
	records := s.Outstanding + max(0, s.Ceiling-s.Admitted)
	bound := m.cfg.Records
	switch {
	case s.Ceiling == backpressure.Unlimited:
		return shares.Whole
	case bound == 0 && s.Bound == backpressure.Unlimited:
		return shares.PartOf(records, 0)
	case bound == 0 && s.Share > 0:
		bound = int64(float64(s.Bound) / s.Share)
	}
	return shares.PartOf(records, bound)
}

func (m *Member) clock() time.Duration { return time.Since(m.epoch) }
