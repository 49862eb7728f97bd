package backpressure

import (
	"sync"
	"sync/atomic"
	"time"
)

// Gate counts what was admitted against the ceiling that a controller sets.
// Admit may be called from any number of goroutines and never waits; Report is
// called by whoever reads the lag. A new gate is open.
type Gate struct {
	// The producers' two words, alone on their cache line.
	_        [64]byte
	admitted atomic.Int64
	ceiling  atomic.Int64
	_        [48]byte

	mu         sync.Mutex // guards what Report keeps
	controller Controller
	closedAt   time.Duration
	stats      Stats
}

// Stats are what a gate did since it was made.
type Stats struct {
	// Reports is the number of observations; Changes of those that opened or
	// closed the gate.
	Reports, Changes int64
	// Closed is how long the gate was closed, on the observations' axis.
	Closed time.Duration
	// MaxAge is the oldest reading that a decision rested on.
	MaxAge time.Duration
}

// Sub returns what happened since an earlier reading. MaxAge has no difference
// and stays as it is.
func (s Stats) Sub(earlier Stats) Stats {
	s.Reports -= earlier.Reports
	s.Changes -= earlier.Changes
	s.Closed -= earlier.Closed
	return s
}

// Change is a decision that opened or closed a gate.
type Change struct {
	At     time.Duration
	Open   bool
	Lag    int64
	Age    time.Duration
	Reason string
}

// NewGate returns an open gate under the controller.
func NewGate(c Controller) *Gate {
	g := &Gate{controller: c}
	g.ceiling.Store(Unlimited)
	return g
}

// Admit asks for n records and returns how many of them may be sent, from 0 to
// n. What it grants is counted as admitted.
func (g *Gate) Admit(n int64) int64 {
	for {
		ceiling, admitted := g.ceiling.Load(), g.admitted.Load()
		grant := min(n, ceiling-admitted)
		if grant <= 0 {
			return 0
		}
		if g.admitted.CompareAndSwap(admitted, admitted+grant) {
			return grant
		}
	}
}

// Open tells whether Admit would grant a record now.
func (g *Gate) Open() bool { return g.admitted.Load() < g.ceiling.Load() }

// Admitted is the number of records admitted so far.
func (g *Gate) Admitted() int64 { return g.admitted.Load() }

// Report gives the controller a reading of the lag, taken age ago, and puts its
// decision into force. It returns the change if the decision opened or closed
// the gate, and nil otherwise. Times must not run backwards.
func (g *Gate) Report(at time.Duration, lag int64, age time.Duration) *Change {
	g.mu.Lock()
	defer g.mu.Unlock()
	wasOpen := g.Open()
	d := g.controller.Decide(Observation{At: at, Lag: lag, Age: age, Admitted: g.Admitted(), Open: wasOpen})
	g.ceiling.Store(d.Ceiling)
	open := g.Open()

	g.stats.Reports++
	g.stats.MaxAge = max(g.stats.MaxAge, age)
	if open == wasOpen {
		return nil
	}
	g.stats.Changes++
	if open {
		g.stats.Closed += at - g.closedAt
	} else {
		g.closedAt = at
	}
	return &Change{At: at, Open: open, Lag: lag, Age: age, Reason: d.Reason}
}

// Stats returns what the gate did up to the given time.
func (g *Gate) Stats(at time.Duration) Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	if !g.Open() {
		s.Closed += at - g.closedAt
	}
	return s
}
