package search

import "math"

// rungs are multiples of the capacity. The search begins at firstRung and goes down or up. Above
// the last rung it doubles the rate. Below the first rung it gives up: a probe that fails at a
// hundredth of the capacity fails for another reason than its rate. With the defaults, a resolution
// of 3 % and thirteen probes, any answer between the first and the last rung is confirmed by the
// eleventh probe, if every probe is right at the first try.
var rungs = []float64{0.01, 0.024, 0.15, 0.9, 1.1, 2, 5}

const firstRung = 3

// A stalled probe is repeated up to maxRepeats times, a doubtful one up to maxDoubts times. Then
// its rate counts as failed. A closed loop that still stalls ends the search.
const (
	maxRepeats = 2
	maxDoubts  = 1
)

// When a confirmation refutes a rate, the next rate is belowRefuted steps lower. Each further
// refutation doubles the number of steps. If it is the last probe, it goes lastBelow steps lower, for
// a coarse answer is better than none. A step is stepBelow × the resolution, so that rounding leaves
// no gap to bisect.
const (
	belowRefuted = 2
	lastBelow    = 8
	stepBelow    = 0.95
)

// reserve is how many probes are kept: for the confirmation, and for two lower rates if that fails.
const reserve = 3

type edge struct {
	perS  float64
	times int
	tool  bool
}

// Search is the state of a search.
type Search struct {
	o       Options
	probes  []Probe
	pending Step

	capacityPerS float64
	passedPerS   float64 // highest that passed; below every edge
	confirmed    bool
	tooFewPerS   float64 // highest with too few records; below every edge
	// edges are the rates that failed, in falling order.
	edges   []edge
	refuted int
	repeats int
	again   bool
	over    bool
}

// New returns a search before its first probe.
func New(o Options) *Search { return &Search{o: o.WithDefaults()} }

// Next returns the next probe; more is false when the search is over. Further calls before Tell
// return the same probe.
func (s *Search) Next() (step Step, more bool) {
	if s.over || s.left() <= 0 {
		return Step{}, false
	}
	s.pending, more = s.next()
	return s.pending, more
}

func (s *Search) next() (Step, bool) {
	unconfirmed := s.passedPerS > 0 && !s.confirmed
	switch {
	case unconfirmed && s.left() == 1:
		return Step{Confirm, s.passedPerS}, true
	case s.again:
		return s.repeat(), true
	case s.capacityPerS == 0:
		return Step{Capacity, ClosedLoop}, true
	case s.resolved():
		return s.settle()
	case unconfirmed && s.left() <= reserve:
		return Step{Confirm, s.passedPerS}, true
	}
	return s.narrow()
}

func (s *Search) left() int { return s.o.MaxProbes - len(s.probes) }

// long reports whether the next probe is long, and so its own confirmation: after a failed
// confirmation, or if no probe would be left to confirm a short one.
func (s *Search) long() bool { return s.refuted > 0 || s.left() == 1 }

func (s *Search) resolved() bool {
	return s.passedPerS > 0 && s.failedPerS() <= s.passedPerS*(1+s.o.Resolution)
}

func (s *Search) failedPerS() float64 {
	if len(s.edges) == 0 {
		return math.Inf(1)
	}
	return s.edges[len(s.edges)-1].perS
}

// The last probe is a confirmation.
func (s *Search) repeat() Step {
	switch p := s.pending.Phase; {
	case p == Capacity || p == Confirm:
		return s.pending
	case s.long():
		return Step{Confirm, s.pending.PerS}
	}
	return Step{Retry, s.pending.PerS}
}

func (s *Search) settle() (Step, bool) {
	once := s.failedOnce()
	switch {
	case once && s.confirmed:
		return Step{Confirm, s.failedPerS()}, true
	case once && s.left() > reserve:
		return Step{Retry, s.failedPerS()}, true
	}
	return Step{Confirm, s.passedPerS}, !s.confirmed
}

func (s *Search) failedOnce() bool {
	n := len(s.edges)
	return n > 0 && s.edges[n-1].times == 1
}

func (s *Search) narrow() (Step, bool) {
	passed, failed := s.passedPerS, s.failedPerS()
	phase := Bracket
	var perS float64
	switch {
	case passed > 0 && !math.IsInf(failed, 1):
		phase, perS = Bisect, math.Sqrt(passed*failed)
	case passed > 0:
		perS = s.rungAbove(passed)
	case s.refuted > 0:
		perS = s.belowRefuted()
	case s.tooFewPerS > 0:
		phase, perS = Bisect, s.aboveTooFew()
	default:
		perS = s.rungBelow(failed)
	}
	if perS == 0 && s.failedOnce() {
		phase, perS = Retry, failed
	}
	if s.long() {
		phase = Confirm
	}
	return Step{phase, round(perS)}, perS > 0
}

func (s *Search) belowRefuted() float64 {
	steps := belowRefuted * math.Exp2(float64(s.refuted-1))
	if s.left() == 1 {
		steps = max(steps, lastBelow)
	}
	return s.failedPerS() / math.Pow(1+stepBelow*s.o.Resolution, steps)
}

// aboveTooFew returns a higher rate, which has more records; 0 if no such rate is below the rates
// that failed.
func (s *Search) aboveTooFew() float64 {
	if s.failedPerS() <= s.tooFewPerS*(1+s.o.Resolution) {
		return 0
	}
	return math.Sqrt(s.tooFewPerS * s.failedPerS())
}

// rungBelow returns 0 if there is none.
func (s *Search) rungBelow(perS float64) float64 {
	for i := firstRung; i >= 0; i-- {
		if rung := rungs[i] * s.capacityPerS; round(rung) < perS {
			return rung
		}
	}
	return 0
}

func (s *Search) rungAbove(perS float64) float64 {
	for _, share := range rungs[firstRung:] {
		if rung := share * s.capacityPerS; round(rung) > perS {
			return rung
		}
	}
	return 2 * perS
}

// Tell enters the outcome of the probe that Next returned last.
func (s *Search) Tell(o Outcome) {
	step := s.pending
	if step.Phase == Capacity && !(o.ReachedPerS > 0) {
		o.Stalled = true
	}
	s.probes = append(s.probes, Probe{step, o})
	if s.again = s.repeats < repeatsOf(o); s.again {
		s.repeats++
		return
	}
	repeated := s.repeats > 0
	s.repeats = 0
	switch {
	case step.Phase == Capacity:
		s.capacityPerS, s.over = o.ReachedPerS, o.Stalled
	case o.TooFew && !o.Stalled && !o.Passed:
		s.tooFewPerS = step.PerS
		s.over = len(s.edges) == 0 || step.Phase == Confirm
	case o.Passed && !o.Stalled:
		s.pass(step)
	default:
		s.fail(step, o, repeated)
	}
}

func repeatsOf(o Outcome) int {
	switch {
	case o.Stalled:
		return maxRepeats
	case o.Doubtful && !o.Passed:
		return maxDoubts
	}
	return 0
}

func (s *Search) pass(step Step) {
	for s.failedPerS() <= step.PerS {
		s.edges = s.edges[:len(s.edges)-1]
	}
	s.passedPerS, s.confirmed = step.PerS, step.Phase == Confirm
}

// A failure counts twice if the probe was long or repeated, or if the rate had failed before.
func (s *Search) fail(step Step, o Outcome, repeated bool) {
	if step.Phase == Confirm && !s.confirmed {
		s.refuted++
		s.passedPerS = 0
	}
	times := 1
	if repeated || step.Phase == Confirm || s.failedPerS() == step.PerS {
		times = 2
	}
	if s.failedPerS() == step.PerS {
		s.edges = s.edges[:len(s.edges)-1]
	}
	s.edges = append(s.edges, edge{step.PerS, times, o.Tool})
}

// Finding returns what was found so far.
func (s *Search) Finding() Finding {
	f := Finding{
		Probes: s.probes, CapacityPerS: s.capacityPerS, PassedPerS: s.passedPerS,
		Refuted: s.refuted > 0, Resolved: s.confirmed && s.resolved(),
		FailedOnce: s.failedOnce() && s.left() <= 0, TooFewPerS: s.tooFewPerS,
	}
	if s.confirmed {
		f.HighestPerS = s.passedPerS
	}
	if n := len(s.edges); n > 0 {
		f.FailedPerS, f.Tool = s.edges[n-1].perS, s.edges[n-1].tool
	}
	return f
}
