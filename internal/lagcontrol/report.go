package lagcontrol

import (
	"errors"
	"fmt"
	"time"
)

// Mark holds how many records a gate knew to be settled before the lag was requested. A mark that
// is taken after the reading would break the bound: see [Credit].
type Mark struct {
	at      time.Duration
	number  uint64
	settled int64
}

// Mark returns what Report needs with the next reading. Call it before you request the lag.
func (g *Gate) Mark() Mark {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	if g.own == nil {
		g.settle(g.doubt.over(now))
	}
	g.marks++
	return Mark{at: now, number: g.marks, settled: g.settled.Load()}
}

type ruling struct {
	mark      Mark
	marks     uint64      // number of marks at the decision
	seen      Observation // zero before the first reading
	decided   bool
	ceiling   int64 // the controller's; not in force while the gate is blind
	bound     int64
	committed progress

	told   int64 // the bound that was last reported
	toldAt time.Duration
}

// sight holds whether and when the lag was known.
type sight struct {
	known   time.Duration // when a reading last succeeded
	blind   bool
	blindAt time.Duration
	missed  error
}

// inheritance ends with the first reading that was requested no earlier than until.
type inheritance struct {
	goesOn bool
	until  time.Duration
}

var errNoPartitions = errors.New("the reading has no Partitions, and a gate with a share needs them")

// Report gives the controller a reading and the mark that was taken before it, and puts the
// decision into force. It returns what changed, or nil. It ignores a reading whose mark is older
// than the last reading's.
func (g *Gate) Report(m Mark, r Reading) *Change {
	if g.own != nil && r.Partitions == nil {
		return g.Missed(errNoPartitions)
	}
	change := g.report(m, r)
	if change != nil {
		g.cfg.tell(*change)
	}
	return change
}

func (g *Gate) report(m Mark, r Reading) *Change {
	g.mu.Lock()
	defer g.mu.Unlock()
	if m.number < g.ruling.mark.number {
		return nil
	}
	now := g.now()
	o := g.observe(now, m, r)
	g.ruling.mark, g.ruling.marks, g.ruling.seen = m, g.marks, o
	g.probe.wanted = r.Unreadable
	g.stats.Reports++
	g.stats.MaxAge = max(g.stats.MaxAge, o.Age)
	wasBlind := g.sight.blind
	if wasBlind {
		g.stats.Blind += now - g.sight.blindAt
	}
	away, again := now-g.sight.known, "again "
	if g.stats.Reports == 1 {
		again = ""
	}
	g.sight = sight{known: now}

	change := g.decide(now)
	if wasBlind {
		return g.change(now, Seeing,
			fmt.Sprintf("the lag is known %safter %v: %d records", again, away.Round(time.Millisecond), o.Lag))
	}
	g.watchFlow(now)
	g.watchBound(now)
	return g.orNoted(change)
}

// The lock is held.
func (g *Gate) note(c *Change) { g.notes = append(g.notes, *c) }

// orNoted returns the oldest noted change if change is nil. The lock is held.
func (g *Gate) orNoted(change *Change) *Change {
	if change != nil || len(g.notes) == 0 {
		return change
	}
	noted := g.notes[0]
	g.notes = g.notes[1:]
	return &noted
}

// The lock is held.
func (g *Gate) observe(now time.Duration, m Mark, r Reading) Observation {
	o := Observation{
		At: now, Age: now - m.at, Lag: max(r.Lag, 0), Committed: g.ruling.committed.of(r), Partitions: r.Partitions,
		Settled: m.settled,
	}
	switch {
	case g.own != nil:
		settled, unread := g.own.learn(r.Partitions, g.doubt.over(m.at), m.number > g.ruling.marks, g.inherit.goesOn)
		g.inherit.goesOn = g.inherit.goesOn && m.at < g.inherit.until
		g.settle(settled)
		if unread != nil {
			g.note(g.change(now, Unread, unread.Error()))
		}
		// The gate's own records are counted now, not taken from the reading. Settled is read
		// before them, because Acked comes before Done.
		o.Settled = g.settled.Load()
		o.Lag, o.Committed = g.own.count()
	case r.Partitions != nil:
		o.Lag = r.lag()
	}
	return o
}

// The lock is held.
func (g *Gate) decide(now time.Duration) *Change {
	o := g.ruling.seen
	o.Age += now - o.At
	o.At = now
	o.Admitted, o.Refused = g.admitted.Load(), g.refused.Load()
	o.Share = g.cfg.Share.part()
	o.Open = o.Admitted < g.ruling.ceiling
	d := g.cfg.Controller.Decide(o)
	d.Ceiling = max(d.Ceiling, g.probeCeiling(now, o))

	before, wasOpen, wasDecided := g.ruling.bound, o.Open, g.ruling.decided
	g.ruling.seen, g.ruling.decided = o, true
	g.ruling.ceiling, g.ruling.bound = d.Ceiling, d.Bound
	g.setCeiling(d.Ceiling)
	if !wasDecided {
		g.ruling.told, g.ruling.toldAt = d.Bound, now
	}
	isOpen := o.Admitted < d.Ceiling
	if d.Bound == Unlimited && before == Unlimited {
		if isOpen == wasOpen {
			return nil
		}
		g.stats.Changes++
		if isOpen {
			return g.change(now, Opened, d.Reason)
		}
		return g.change(now, Closed, d.Reason)
	}
	if !moved(g.ruling.told, d.Bound) || now-g.ruling.toldAt < time.Second {
		return nil
	}
	g.ruling.told, g.ruling.toldAt = d.Bound, now
	return g.change(now, Bounded, d.Reason)
}

type flow struct {
	committed int64
	at        time.Duration // when committed last rose
	stalled   bool
}

// watchFlow detects if the gate has refused records for longer than the grace time and nothing was
// committed meanwhile. It also detects the next commit. The lock is held.
func (g *Gate) watchFlow(now time.Duration) {
	o := &g.ruling.seen
	since := now - g.flow.at
	if o.Committed != g.flow.committed || g.flow.at == 0 {
		g.flow.committed, g.flow.at = o.Committed, now
		if g.flow.stalled {
			g.flow.stalled = false
			g.note(g.change(now, Moving,
				fmt.Sprintf("the consumers commit again after %v", since.Round(time.Millisecond))))
		}
		return
	}
	closed := time.Duration(g.closedAt.Load())
	if g.flow.stalled || closed == 0 || min(since, now-closed) <= g.cfg.Grace {
		return
	}
	g.flow.stalled = true
	used := "the gate is closed"
	if g.ruling.bound != Unlimited {
		used = fmt.Sprintf("the bound of %d is used up", g.ruling.bound)
	}
	g.note(g.change(now, Stalled,
		fmt.Sprintf("nothing was committed for %v and %s: lag %d, and %d admitted whose fate Done did not tell",
			since.Round(time.Millisecond), used, o.Lag, o.Admitted-o.Settled)))
}

func moved(told, bound int64) bool {
	if told == Unlimited || bound == Unlimited {
		return told != bound
	}
	return max(bound-told, told-bound) > told/10
}

// The lock is held.
func (g *Gate) change(now time.Duration, kind ChangeKind, reason string) *Change {
	c := &Change{
		At: now, Kind: kind, Open: g.admitted.Load() < g.ceiling,
		Lag: g.ruling.seen.Lag, Bound: g.boundInForce(), Age: now - g.ruling.mark.at, Reason: reason,
		unread: !g.ruling.decided,
	}
	if kind == Blind || c.unread {
		c.Age = now - g.sight.known
	}
	return c
}

// Advance raises the ceiling for the time that has passed since the last reading, if the controller
// is a [Pacer]. Call it about every 10 ms.
func (g *Gate) Advance() {
	if g.pacer == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sight.blind || !g.ruling.decided {
		return
	}
	if ceiling := g.pacer.Ceiling(g.now()); ceiling > g.ruling.ceiling {
		g.ruling.ceiling = ceiling
		g.setCeiling(ceiling)
	}
}

// Missed reports that a reading failed, with its error; nil means only that time has passed. If no
// reading came for the grace time, the gate is blind until the next Report. Missed returns what
// changed, or nil.
func (g *Gate) Missed(err error) *Change {
	change := g.missed(err)
	if change != nil {
		g.cfg.tell(*change)
	}
	return change
}

func (g *Gate) missed(err error) *Change {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err != nil {
		g.stats.Missed++
		g.sight.missed = err
	}
	now := g.now()
	away := now - g.sight.known
	if g.sight.blind || away <= g.cfg.Grace {
		return g.orNoted(nil)
	}
	g.sight.blind, g.sight.blindAt = true, now
	if g.cfg.FailOpen {
		g.setCeiling(Unlimited)
	} else {
		g.setCeiling(0)
	}
	reason := fmt.Sprintf("the lag has not been known for %v", away.Round(time.Millisecond))
	if !g.ruling.decided {
		reason = fmt.Sprintf("the lag was never read, for %v, by Watch or Report", away.Round(time.Millisecond))
	}
	if g.sight.missed != nil {
		reason += ": " + g.sight.missed.Error()
	}
	return g.change(now, Blind, reason)
}
