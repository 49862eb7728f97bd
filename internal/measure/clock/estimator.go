package clock

import (
	"errors"
	"math"
	"slices"
)

// 16 s at four echoes a second
const kept = 64

// Estimator holds what the last 64 echoes with one peer prove together. Each proof is widened by 100.1 ppm of its
// distance in time and by the slew seen in between.
//
// If no offset satisfies all proofs, a clock was stepped. The offset is then unknown from the
// newest contradicted proof to the new one. The Estimator notices a step larger than the round
// trips of two echoes: the fastest before the step and the first after it. Errors do not cover
// smaller steps.
//
// The zero value is ready to use. It is not safe for concurrent use.
type Estimator struct{ proofs []proof } // oldest first

// Add adds an echo. It ignores the echo and returns an error if its times are impossible, out of range or before
// those of an earlier echo.
func (e *Estimator) Add(echo Echo) error {
	p, err := echo.proof()
	if err != nil {
		return err
	}
	if n := len(e.proofs); n > 0 {
		last := e.proofs[n-1]
		if p.sent < last.sent || p.received < last.received {
			return errors.New("an echo was added after a later one")
		}
		p.epoch = last.epoch
	}
	if against := e.contradicted(p); against >= 0 {
		e.proofs = e.proofs[:against+1] // later proofs may be of either epoch
		p.epoch++
	}
	if len(e.proofs) == kept {
		e.proofs = slices.Delete(e.proofs, 0, 1)
	}
	e.proofs = append(e.proofs, p)
	return nil
}

// contradicted returns the index of the newest proof of p's epoch that contradicts p, or -1. Pairs suffice,
// because proofs widen with distance.
func (e *Estimator) contradicted(p proof) int {
	seen := spreadOf(p)
	for i, q := range slices.Backward(e.proofs) {
		if q.epoch != p.epoch {
			break
		}
		seen.add(q)
		if q.atMost+seen.ns()+drift(p.received-q.sent) < p.atLeast ||
			p.atMost+seen.ns()+drift(apart(p.sent, q.received)) < q.atLeast {
			return i
		}
	}
	return -1
}

// Over returns the error of an offset that was used for all of [fromNs, toNs] on the own clock.
// OffsetNs is usedNs, within ±2^60, and the true offset was always within ErrorNs of it. Call Over
// after the next echo: it needs an echo that ended before fromNs and one that began after toNs.
// known is false before the last 64 echoes and across a step.
func (e *Estimator) Over(fromNs, toNs, usedNs int64) (b Bound, known bool) {
	before, after := -1, -1
	for i, p := range e.proofs {
		if p.received <= fromNs {
			before = i
		}
		if after < 0 && p.sent >= toNs {
			after = i
		}
	}
	if fromNs > toNs || before < 0 || after < 0 || e.proofs[before].epoch != e.proofs[after].epoch {
		return Bound{}, false
	}
	low, high := e.within(min(before, after), max(before, after), fromNs, toNs)
	return Bound{OffsetNs: usedNs, ErrorNs: max(high-usedNs, usedNs-low)}, true
}

// At returns the offset to use at a time of the own clock, such as now. It is unknown before the first echo.
// ErrorNs does not cover later steps and slews: report errors from Over.
func (e *Estimator) At(ns int64) (b Bound, known bool) {
	last := len(e.proofs) - 1
	if last < 0 {
		return Bound{}, false
	}
	low, high := e.within(last, last, ns, ns)
	middle := low + (high-low)/2
	return Bound{OffsetNs: middle, ErrorNs: high - middle}, true
}

// within returns the range of offsets in [from, to] that an epoch's proofs allow, with the slews of the proofs
// from first to last.
func (e *Estimator) within(first, last int, from, to int64) (low, high int64) {
	low, high = math.MinInt64, math.MaxInt64
	narrow := func(p proof, seen spread) {
		low = max(low, p.atLeast-seen.ns()-drift(max(apart(p.received, from), apart(p.received, to))))
		high = min(high, p.atMost+seen.ns()+drift(max(apart(p.sent, from), apart(p.sent, to))))
	}
	around := spreadOf(e.proofs[first])
	for _, p := range e.proofs[first : last+1] {
		around.add(p)
	}
	for _, p := range e.proofs[first : last+1] {
		narrow(p, around)
	}
	epoch, seen := e.proofs[first].epoch, around
	for _, p := range slices.Backward(e.proofs[:first]) {
		if p.epoch == epoch {
			seen.add(p)
			narrow(p, seen)
		}
	}
	seen = around
	for _, p := range e.proofs[last+1:] {
		if p.epoch == epoch {
			seen.add(p)
			narrow(p, seen)
		}
	}
	return low, high
}

func apart(a, b int64) int64 { return max(a-b, b-a) }
