package lagcontrol

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Gate counts admitted records against the ceiling that a controller sets.
//
// A producer calls Admit, TryAcquire or Acquire before it sends, and Done when the fate of a record
// is known. A reader of the lag takes a [Mark] first, then reads the lag, then gives mark and
// reading to Report. Watch does all this in a loop. All methods may be called from any number of
// goroutines.
//
// A new gate whose controller is a [Limiter] is closed until the first reading; any other new gate
// is open.
type Gate struct {
	// Producers use these fields for each record, so fields that change often have a cache line
	// each.
	_        [64]byte
	limit    atomic.Int64 // the ceiling, or 0 while calls of Acquire wait, so that no other call overtakes them
	closedAt atomic.Int64 // time of the first refusal since there was room; 0: no refusal
	_        [48]byte
	admitted counter
	settled  counter
	refused  counter

	cfg   Config
	pacer Pacer // nil: the ceiling stays constant between two readings
	most  int64 // highest possible bound; Unlimited if unknown
	own   *ownRecords
	epoch time.Time

	mu    sync.Mutex // guards all fields below, and is held whenever limit changes
	queue waiters
	doubt doubt
	// ceiling is the one in force: the controller's, unless the gate is blind.
	ceiling int64
	marks   uint64
	sight   sight
	ruling  ruling
	flow    flow
	small   smallBound
	probe   probe
	stats   Stats
	misused bool
	notes   []Change
	inherit inheritance
	alarm   *time.Timer // detects blindness if nothing calls Watch
}

type counter struct {
	atomic.Int64
	_ [56]byte
}

// New returns a gate. The error joins all mistakes of the config.
func New(cfg Config) (*Gate, error) {
	if cfg.Controller == nil {
		cfg.Controller = unbounded{}
	}
	cfg, err := cfg.completed()
	if err = errors.Join(err, cfg.checkShare()); err != nil {
		return nil, err
	}
	g := &Gate{cfg: cfg, epoch: time.Now(), most: Unlimited, small: smallBound{group: NewGroup()}}
	g.pacer, _ = cfg.Controller.(Pacer)
	if cfg.Share.given {
		g.own = newOwnRecords()
	}
	g.ruling = ruling{ceiling: Unlimited, bound: Unlimited, told: Unlimited}
	if l, ok := cfg.Controller.(Limiter); ok {
		g.most = part(cfg.Share.part(), l.Limit())
		g.ruling.ceiling, g.ruling.bound = 0, 0
	}
	g.ceiling = g.ruling.ceiling
	g.limit.Store(g.ceiling)
	g.sight.known = g.now()
	g.inherit = inheritance{goesOn: g.Inherit() > 0, until: g.sight.known + g.Inherit()}
	return g, nil
}

// Admit asks for n records and returns how many may be sent, from 0 to n; these count as admitted.
// It never waits. It returns 0 while calls of Acquire wait.
func (g *Gate) Admit(n int64) int64 {
	for {
		limit, admitted := g.limit.Load(), g.admitted.Load()
		grant := min(n, limit-admitted)
		if grant <= 0 {
			g.refuse(n, 1)
			return 0
		}
		if g.admitted.CompareAndSwap(admitted, admitted+grant) {
			g.refuse(n-grant, 1)
			return grant
		}
	}
}

// TryAcquire asks for n records, all or none, and reports whether they may be sent. It never waits.
// It returns false while calls of Acquire wait.
func (g *Gate) TryAcquire(n int64) bool {
	if n <= 0 || g.Take(n) {
		return true
	}
	g.refuse(n, n)
	return false
}

// refuse counts n refused records. If the closed time has not begun, and the gate still has less
// room than need, the closed time begins now. Only then refuse reads the clock.
func (g *Gate) refuse(n, need int64) {
	if n <= 0 {
		return
	}
	g.refused.Add(n)
	if g.closedAt.Load() != 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.limit.Load()-g.admitted.Load() < need {
		g.closeNow()
	}
}

// Done reports that the fate of n admitted records is known: acknowledged, or failed and never in
// the log. Use it also to return records that were not sent. Report each record once, with Done or
// Unsure; otherwise the lag could exceed the bound. The gate ignores reports beyond the number of
// admitted records, and reports [Misused] once.
//
// The bound holds only if each record that Done reports is below the high watermark or not in the
// log. An acknowledgement with acks=all ensures that. With acks=1 on a replicated topic this
// becomes true a moment later: for an exact bound, use [Fixed] and Acked. With acks=0 the fate is
// never known.
func (g *Gate) Done(n int64) {
	if n <= 0 {
		return
	}
	if g.settled.Add(n) > g.admitted.Load() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.trimSettled()
	}
}

// The lock is held.
func (g *Gate) settle(n int64) {
	g.settled.Add(n)
	g.trimSettled()
}

// The lock is held.
func (g *Gate) trimSettled() {
	over := g.settled.Load() - g.admitted.Load() // read settled first: admitted may grow meanwhile
	if over <= 0 {
		return
	}
	g.settled.Add(-over)
	if !g.misused {
		g.misused = true
		g.note(g.change(g.now(), Misused,
			fmt.Sprintf("Done and Unsure reported %d more records than were admitted: report each record once, or the lag may exceed the bound", over)))
	}
}

// Unsure reports that the client gave up n admitted records without knowing their fate, for example
// after a timeout. They count as settled after Config.Doubt.
func (g *Gate) Unsure(n int64) {
	if n <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doubt.add(g.now(), n, g.cfg.Doubt)
}

// Acked reports the offset of an admitted record. Only a gate with a share needs it. Call it before
// Done for the same record: otherwise the record does not count between the two calls.
func (g *Gate) Acked(topic string, partition int32, offset int64) {
	if g.own != nil {
		g.own.acked(topic, partition, offset)
	}
}

// Open reports whether Admit would admit a record now.
func (g *Gate) Open() bool { return g.admitted.Load() < g.limit.Load() }

// Admitted is the number of records admitted so far.
func (g *Gate) Admitted() int64 { return g.admitted.Load() }

// Stats returns the gate's counters and its present state.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	s := g.stats
	s.Settled = g.settled.Load()
	s.Admitted, s.Refused = g.admitted.Load(), g.refused.Load()
	s.Settled = min(s.Settled, s.Admitted)
	if at := g.closedAt.Load(); at != 0 {
		s.Closed += now - time.Duration(at)
	}
	if g.sight.blind {
		s.Blind += now - g.sight.blindAt
	}
	s.Ceiling, s.Bound = g.ceiling, g.boundInForce()
	s.Lag, s.Share = g.ruling.seen.Lag, g.cfg.Share.part()
	s.Outstanding = s.Lag + s.Admitted - g.ruling.seen.Settled
	s.Waiting = g.queue.len()
	s.Open, s.BlindNow = g.Open(), g.sight.blind
	return s
}

// The lock is held.
func (g *Gate) boundInForce() int64 {
	if g.sight.blind && g.cfg.FailOpen {
		return Unlimited
	}
	return g.ruling.bound
}

// The lock is held.
func (g *Gate) closeNow() {
	// 0 means no refusal, so a refusal at time 0 is stored as 1.
	if at := int64(g.now()); g.closedAt.Load() == 0 {
		g.closedAt.Store(cmp.Or(at, 1))
		g.setAlarm()
	}
}

// The lock is held.
func (g *Gate) setAlarm() {
	if g.sight.blind {
		return
	}
	in := max(g.sight.known+g.cfg.Grace-g.now(), 0) + time.Millisecond
	if g.alarm == nil {
		g.alarm = time.AfterFunc(in, g.lookUp)
		return
	}
	g.alarm.Reset(in)
}

func (g *Gate) lookUp() {
	g.Missed(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closedAt.Load() != 0 {
		g.setAlarm()
	}
}

// setCeiling puts a ceiling into force. Waiting calls of Acquire that now have room go first. The
// lock is held.
func (g *Gate) setCeiling(ceiling int64) {
	g.ceiling = max(ceiling, 0)
	g.letWaitersGo()
	if at := g.closedAt.Load(); at != 0 && g.Open() {
		g.stats.Closed += g.now() - time.Duration(at)
		g.closedAt.Store(0)
		if g.alarm != nil {
			g.alarm.Stop()
		}
	}
}

func (g *Gate) now() time.Duration {
	if g.cfg.Now != nil {
		return g.cfg.Now()
	}
	return time.Since(g.epoch)
}
