package clock

import (
	"errors"
	"math"
	"slices"
)

// kept is how many proofs are intersected: 16 s of four echoes a second.
const kept = 64

// Estimator holds what the last 64 echoes with one peer prove together. Each proof is
// widened with its distance in time, by 100.1 ppm of it and by the slew seen in between.
//
// If no offset satisfies all proofs, a clock was stepped. The offset is then unknown from the
// newest proof that contradicts the new one until the new one, and nothing before that time
// counts for what comes after. A step is noticed if it is larger than the round trips of the
// fastest echo before it and the first one after it; no error covers a smaller one.
//
// The zero value is ready for use. It is not safe for concurrent use.
type Estimator struct{ proofs []proof } // oldest first

// Add takes an echo in. It returns an error, and the echo proves nothing, if it is
// impossible, out of range, or was sent or received before one that was added earlier.
func (e *Estimator) Add(echo Echo) error {
	p, err := echo.proof()
	if err != nil {
		return err
	}
	if n := len(e.proofs); n > 0 {
		last := e.proofs[n-1]
		if p.sent < last.sent || p.received < last.received {
			return errors.New("an echo was overtaken by a later one")
		}
		p.epoch = last.epoch
	}
	if against := e.contradicted(p); against >= 0 {
		e.proofs = e.proofs[:against+1] // those behind may be of either epoch
		p.epoch++
	}
	if len(e.proofs) == kept {
		e.proofs = slices.Delete(e.proofs, 0, 1)
	}
	e.proofs = append(e.proofs, p)
	return nil
}

// contradicted returns the newest proof of the epoch that no offset satisfies together with
// a later one, or -1. If each two agree, all do: what widens them is a distance.
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

// Over returns how wrong an offset was that was used for all of the time [fromNs, toNs] on
// the own clock: the Bound's OffsetNs is usedNs, in -2^60 to 2^60, and at each moment of that
// time the true offset is within ErrorNs of it. It is known only from proofs on both sides,
// echoes that ended before and began after that time: ask again after the next echo. Beyond
// the last 64 echoes, and across a step, it is unknown.
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

// At returns the offset to use at a moment of the own clock, such as now, from the proofs
// since the last step. It is unknown before the first echo. Its ErrorNs does not cover steps
// and slews after the last echo: what is reported has to come from Over.
func (e *Estimator) At(ns int64) (b Bound, known bool) {
	last := len(e.proofs) - 1
	if last < 0 {
		return Bound{}, false
	}
	low, high := e.within(last, last, ns, ns)
	middle := low + (high-low)/2
	return Bound{OffsetNs: middle, ErrorNs: high - middle}, true
}

// within returns the lowest and the highest offset that the proofs of an epoch allow in
// [from, to]. The proofs from first to last have the slew seen around that time.
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

// apart is how far two times are from one another.
func apart(a, b int64) int64 { return max(a-b, b-a) }
