package lagcontrol

import "time"

// probeEvery is the time between two records that a gate admits to find out whether the lag has records.
const probeEvery = 30 * time.Second

// probe admits one record through a closed gate if the source cannot tell whether the lag has a record. When the consumers
// get it, they commit past the offsets without one. A probe that raised the lag and was not consumed is the last.
type probe struct {
	wanted  bool  // the last reading was Unreadable
	offered int64 // the ceiling for the probe; 0: none is offered
	at      time.Duration

	lag, committed int64 // when it was offered
}

// probeCeiling returns the ceiling that admits a probe, or 0. The lock is held.
func (g *Gate) probeCeiling(now time.Duration, o Observation) int64 {
	p := &g.probe
	if p.offered > 0 && o.Admitted >= p.offered { // it went
		g.stats.Probes++
		p.offered, p.at = 0, now
	}
	idle := o.Admitted == o.Settled && g.admitted.Load() == g.settled.Load()
	switch {
	case !p.wanted || !idle && p.offered == 0:
		p.offered = 0
	case p.offered == 0 && (p.at == 0 || now-p.at >= probeEvery && (o.Committed != p.committed || o.Lag <= p.lag)):
		p.offered, p.lag, p.committed = o.Admitted+1, o.Lag, o.Committed
	}
	return p.offered
}
