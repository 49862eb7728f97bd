package backpressure

import (
	"cmp"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// Gate counts what was admitted against the ceiling that a controller sets.
//
// A producer asks it with Admit, TryAcquire or Acquire, tells it with Done when
// the fate of a record is known, and sends nothing that was not admitted. Who
// reads the lag takes a [Mark] first, then reads, then gives both to Report;
// Watch does so by itself. All methods may be called from any number of
// goroutines.
//
// A new gate whose controller is a [Limiter] is closed until the first reading: of
// a lag that nobody has read, no bound can be kept. With any other it is open.
type Gate struct {
	// What producers touch for each record, each alone on its cache line: limit
	// is read by all and seldom written, the others are written all the time.
	_        [64]byte
	limit    atomic.Int64 // the ceiling, or 0 while calls of Acquire wait: nobody overtakes them
	closedAt atomic.Int64 // when the first record was refused since there was room; 0: none was
	_        [48]byte
	admitted counter
	settled  counter
	refused  counter

	cfg   Config
	pacer Pacer // nil: the ceiling stands between two readings
	most  int64 // the highest that the bound can become; Unlimited where not known
	own   *ownRecords
	epoch time.Time
	id    int32 // the partition whose gate it is, or WholeGate

	// deciding is held while a decision is made. It is apart from mu so that a share
	// may look at Stats under a lock of its own, which Part takes too.
	deciding sync.Mutex

	mu    sync.Mutex // guards all below, and is held whenever limit changes
	queue waiters
	doubt doubt
	// ceiling is in force; it is the controller's unless the gate is blind.
	ceiling int64
	marks   uint64 // taken so far
	sight   sight
	ruling  ruling
	flow    flow
	stats   Stats // those that are counted here
	misused bool  // and told
	notes   []Change
	inherit inheritance
	alarm   *time.Timer // goes off when records are refused and nobody has read the lag for the grace time
}

// counter is a count alone on its cache line.
type counter struct {
	atomic.Int64
	_ [56]byte
}

// New returns a gate. An error names every fault of the config.
func New(cfg Config) (*Gate, error) {
	if cfg.Controller == nil {
		cfg.Controller = Off{}
	}
	cfg, err := cfg.completed()
	if err = errors.Join(err, cfg.held()); err != nil {
		return nil, err
	}
	g := &Gate{cfg: cfg, epoch: time.Now(), id: WholeGate, most: Unlimited}
	g.pacer, _ = cfg.Controller.(Pacer)
	if cfg.Share != nil {
		g.own = newOwnRecords()
	}
	g.ruling = ruling{ceiling: Unlimited, bound: Unlimited, told: Unlimited, share: 1}
	fixed, isFixed := cfg.Share.(Fixed)
	if cfg.Share != nil {
		g.ruling.share = fixed.Part() // of one that moves, none is in force yet
	}
	if l, ok := cfg.Controller.(Limiter); ok {
		g.most = l.Limit()
		if isFixed {
			g.most = part(fixed.Part(), g.most)
		}
		g.ruling.ceiling, g.ruling.bound = 0, 0
	}
	g.ceiling = g.ruling.ceiling
	g.limit.Store(g.ceiling)
	g.sight.known = g.now()
	g.inherit = inheritance{goesOn: g.Inherit() > 0, until: g.sight.known + g.Inherit()}
	return g, nil
}

// Admit asks for n records and returns how many of them may be sent, from 0 to
// n. What it grants is counted as admitted. It never waits, and gets nothing
// while calls of Acquire wait.
func (g *Gate) Admit(n int64) int64 {
	for {
		limit, admitted := g.limit.Load(), g.admitted.Load()
		grant := min(n, limit-admitted)
		if grant <= 0 {
			g.refuse(n, 1)
			return 0
		}
		if !g.admitted.CompareAndSwap(admitted, admitted+grant) {
			continue
		}
		if !g.stands(admitted + grant) {
			g.giveBack(grant)
			grant = 0
		}
		if grant < n {
			g.refuse(n-grant, 1)
		}
		return grant
	}
}

// TryAcquire asks for n records, all or none, and never waits. It gets nothing
// while calls of Acquire wait.
func (g *Gate) TryAcquire(n int64) bool {
	if n <= 0 {
		return true
	}
	for {
		limit, admitted := g.limit.Load(), g.admitted.Load()
		if limit-admitted < n {
			g.refuse(n, n)
			return false
		}
		if !g.admitted.CompareAndSwap(admitted, admitted+n) {
			continue
		}
		if g.stands(admitted + n) {
			return true
		}
		g.giveBack(n)
		g.refuse(n, n)
		return false
	}
}

// stands tells whether what was just granted is still within the limit. Without
// this second look a producer that was held up after the first could take room
// by a ceiling that is long gone; whoever lowered it, to hand a share to another
// process or because the gate went blind, relies on its being obeyed from then on.
func (g *Gate) stands(admitted int64) bool { return admitted <= g.limit.Load() }

// giveBack takes back a grant that nobody has seen yet.
func (g *Gate) giveBack(n int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.admitted.Add(-n)
	g.stats.Returned += n
	g.setCeiling(g.ceiling) // somebody may have found it taken, and wait
}

// refuse counts n records that were not granted because there was no room for
// need of them. The clock is read only for the first since there was room.
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

// Done tells that the fate of n admitted records is known: they were
// acknowledged, or they failed and will never be in the log. It is also how
// records are given back that were admitted and not sent. Each record is told of
// once, with Done or Unsure: what is told twice stands for another one that is still
// on its way, and the bound may be passed by it. As far as more is told than
// was admitted the gate leaves it aside, and says so once ([Misused]).
//
// The guarantee rests on it: a record that is done must be below the high
// watermark or nowhere. With acks=all an acknowledgement says so. With acks=1
// on a replicated topic it is true a moment later, and with acks=0 it is never
// known; there, keep the bound with [Fixed] and Acked, or take it as a little
// soft.
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

// settle counts n records whose fate is known. The lock is held.
func (g *Gate) settle(n int64) {
	g.settled.Add(n)
	g.trimSettled()
}

// trimSettled leaves aside what was told of beyond what was admitted. The lock is held.
func (g *Gate) trimSettled() {
	over := g.settled.Load() - g.admitted.Load() // in this order: neither falls otherwise
	if over <= 0 {
		return
	}
	g.settled.Add(-over)
	if !g.misused {
		g.misused = true
		g.note(g.change(g.now(), Misused,
			fmt.Sprintf("Done and Unsure were told of %d more records than were admitted: each is to be told of once, or the bound may be passed", over)))
	}
}

// Unsure tells that the client gave up n admitted records without knowing their
// fate: a delivery that timed out may still be in the log, or come into it. They
// count as settled once Config.Doubt has passed.
func (g *Gate) Unsure(n int64) {
	if n <= 0 {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.doubt.add(g.now(), n, g.cfg.Doubt)
}

// Acked tells where an admitted record went. Only gates with a share need it;
// it must be called before Done of that record, or the record is counted nowhere
// between the two.
func (g *Gate) Acked(topic string, partition int32, offset int64) {
	if g.own != nil {
		g.own.acked(topic, partition, offset)
	}
}

// Open tells whether Admit would grant a record now.
func (g *Gate) Open() bool { return g.admitted.Load() < g.limit.Load() }

// Admitted is the number of records admitted so far.
func (g *Gate) Admitted() int64 { return g.admitted.Load() }

// Stats returns what the gate did up to now, and how it stands.
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
	s.Lag, s.Share = g.ruling.seen.Lag, g.ruling.share
	s.Outstanding = s.Lag + s.Admitted - g.ruling.seen.Settled
	s.Waiting = g.queue.len()
	s.Open, s.BlindNow = g.Open(), g.sight.blind
	return s
}

// boundInForce is the lag that is held now. The lock is held.
func (g *Gate) boundInForce() int64 {
	if g.sight.blind && g.cfg.FailOpen {
		return Unlimited
	}
	return g.ruling.bound
}

// closeNow remembers when records were first refused. The lock is held.
func (g *Gate) closeNow() {
	// An axis may start anywhere, and 0 says that nothing was refused.
	if at := int64(g.now()); g.closedAt.Load() == 0 {
		g.closedAt.Store(cmp.Or(at, 1))
		g.setAlarm()
	}
}

// setAlarm has the gate look for itself whether the lag is still known when the
// grace time is over: perhaps nobody watches. The lock is held.
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

// lookUp is what the alarm does.
func (g *Gate) lookUp() {
	g.Missed(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closedAt.Load() != 0 {
		g.setAlarm()
	}
}

// setCeiling puts a ceiling into force: who waits and has room now goes first,
// in order, and each alone is woken. The lock is held.
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

// now is the time on the gate's axis.
func (g *Gate) now() time.Duration {
	if g.cfg.Now != nil {
		return g.cfg.Now()
	}
	return time.Since(g.epoch)
}
