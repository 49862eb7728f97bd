package shares

import "time"

// Meter computes rates from a gate's counts. The last interval has a weight of one half, so three
// intervals after a sudden change of the rate, the result shows seven eighths of the change.
type Meter struct {
	at                time.Duration
	admitted, refused int64
	demand, served    float64
	begun             bool
}

// Read takes the counts since the gate was made, and how many callers wait now. It returns the
// records per second that are asked for and that are admitted. A caller that waits asks only once.
// So while any caller waits, the demand does not fall, and is at least the admitted records plus
// the waiting callers.
func (m *Meter) Read(at time.Duration, admitted, refused, waiting int64) (demand, served float64) {
	seconds := (at - m.at).Seconds()
	if !m.begun || seconds <= 0 {
		if !m.begun {
			m.at, m.admitted, m.refused, m.begun = at, admitted, refused, true
		}
		return m.demand, m.served
	}
	got := float64(admitted - m.admitted)
	asked := got + float64(refused-m.refused)
	m.at, m.admitted, m.refused = at, admitted, refused
	asked = max(asked, got+float64(waiting)) / seconds
	if waiting > 0 {
		asked = max(asked, m.demand)
	}
	m.demand += (asked - m.demand) / 2
	m.served += (got/seconds - m.served) / 2
	return m.demand, m.served
}
