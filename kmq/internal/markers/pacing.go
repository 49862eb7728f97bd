package markers

import "time"

// The bounds of a pacing.
const (
	// unhurried is how many times as long as at its best the cluster may take for a start
	// before it is spared.
	unhurried  = 4
	restAtMost = 20 * time.Millisecond
	// bestOf is how long the best is remembered, and at most twice as long.
	bestOf = 30 * time.Second
	// smooth is the share of what was seen last in the mean, as one of so many.
	smooth = 8
)

// pacing says how long to rest between polls. While the cluster answers about as fast as it
// can, that is not at all: nothing is gained by later records. Where requests queue, it is
// for as long as they do, so that there are fewer of them: the time that starts take, over
// what they would take unhurried, as congestion controls by delay have it (Brakmo and
// Peterson, TCP Vegas, 1995).
type pacing struct {
	rest  time.Duration // after each poll; 0: the cluster need not be spared
	last  time.Time     // when a poll was started last
	usual time.Duration // the mean of how long starts take

	best, before time.Duration // of this while and of that before; 0: none
	since        time.Time     // this while
}

// until is when a poll may follow.
func (p *pacing) until() time.Time { return p.last.Add(p.rest) }

// took notes at now that the starts of a poll took so long. After a poll that was full there
// is no rest: the next would not have more.
func (p *pacing) took(now time.Time, d time.Duration, full bool) {
	if p.best > 0 && now.Sub(p.since) > bestOf {
		p.before, p.best, p.since = p.best, 0, now
	}
	if p.best == 0 {
		p.best, p.since = d, now
	}
	p.best = min(p.best, d)
	best := p.best
	if p.before > 0 {
		best = min(best, p.before)
	}
	if p.usual == 0 {
		p.usual = d
	}
	p.usual += (d - p.usual) / smooth
	p.last, p.rest = now, 0
	if !full {
		p.rest = min(restAtMost, max(0, p.usual-unhurried*best))
	}
}
