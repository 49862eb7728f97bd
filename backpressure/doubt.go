package backpressure

import "time"

// doubt holds the records whose fate the client does not know, until they can no
// longer come into the log. What was given up within a hundredth of the time of
// doubt counts as given up at its end, so it holds about a hundred entries
// however many records there are.
type doubt struct {
	entries []doubtful // oldest first
}

// doubtful are records that are in doubt until a time.
type doubtful struct {
	until time.Duration
	n     int64
}

// add takes n records that are in doubt from now on.
func (d *doubt) add(now time.Duration, n int64, length time.Duration) {
	step := length/100 + 1
	until := now + length
	if last := len(d.entries) - 1; last >= 0 && until <= d.entries[last].until {
		d.entries[last].n += n
		return
	}
	d.entries = append(d.entries, doubtful{until: until + step, n: n})
}

// over takes out the records that are beyond doubt, and returns their number.
func (d *doubt) over(now time.Duration) int64 {
	var n int64
	gone := 0
	for _, e := range d.entries {
		if e.until > now {
			break
		}
		n += e.n
		gone++
	}
	d.entries = append(d.entries[:0], d.entries[gone:]...)
	return n
}

// Doubt is how long after Unsure a record may still reach the log.
func (g *Gate) Doubt() time.Duration { return g.cfg.Doubt }

// Inherit is for how long a new gate counts all that the group has not committed as its
// own, as Config.Inherit says; 0 if it does not.
func (g *Gate) Inherit() time.Duration { return max(g.cfg.Inherit, 0) }

// Doubt is that of all partitions' gates, as [Gate.Doubt].
func (p *Partitioned) Doubt() time.Duration { return p.cfg.Doubt }

// Inherit is that of all partitions' gates, as [Gate.Inherit].
func (p *Partitioned) Inherit() time.Duration { return max(p.cfg.Inherit, 0) }
