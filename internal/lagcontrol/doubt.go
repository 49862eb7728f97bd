package lagcontrol

import "time"

// doubt counts records of unknown fate until they can no longer reach the log. Records that the
// client gives up within a hundredth of Config.Doubt share one entry. It ends when none of them can
// reach the log any more. So there are about a hundred entries.
type doubt struct {
	entries []doubtful // oldest first
}

type doubtful struct {
	until time.Duration
	n     int64
}

func (d *doubt) add(now time.Duration, n int64, length time.Duration) {
	step := length/100 + 1
	until := now + length
	if last := len(d.entries) - 1; last >= 0 && until <= d.entries[last].until {
		d.entries[last].n += n
		return
	}
	d.entries = append(d.entries, doubtful{until: until + step, n: n})
}

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

// Doubt returns how long after Unsure a record may still reach the log.
func (g *Gate) Doubt() time.Duration { return g.cfg.Doubt }

// Inherit returns for how long a new gate counts everything uncommitted as its own: see
// Config.Inherit; 0 if it does not.
func (g *Gate) Inherit() time.Duration { return max(g.cfg.Inherit, 0) }
