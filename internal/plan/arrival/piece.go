package arrival

import (
	"errors"
	"math"
	"math/bits"
)

type piece struct {
	length   int64  // ns
	from, to uint64 // credits per ns
	credit   credits
}

// newPiece returns an error if a ramp needs more than 128 bits.
func newPiece(from, to uint64, length int64) (piece, error) {
	p := piece{length: length, from: from, to: to}
	p.credit = mul(from+to, uint64(length)).half()
	double := 2 * uint64(length)
	if from != to && bits.Len64(double)+bits.Len64(double)+bits.Len64(max(from, to)) > 127 {
		return piece{}, errors.New("too long to be scheduled exactly at these rates; shorten it, or round the rates")
	}
	return p, nil
}

func foreverPiece(perNs uint64) piece {
	p := piece{length: horizonNs, from: perNs, to: perNs}
	if perNs > 0 {
		p.credit = endless
	}
	return p
}

func (p *piece) earned(ns int64) float64 {
	t := float64(ns)
	slope := (float64(p.to) - float64(p.from)) / float64(p.length)
	return t * (float64(p.from) + t*slope/2)
}

// passes returns the last whole ns of a ramp at which at most due is earned. due is below p.credit.
// The floating-point estimate is within a ns; integers decide.
func (p *piece) passes(due credits) int64 {
	t := max(0, min(int64(p.estimate(due)), p.length-1))
	double := due.times(2 * uint64(p.length))
	for double.less(p.doubled(t)) {
		t--
	}
	for t+1 < p.length && !double.less(p.doubled(t+1)) {
		t++
	}
	return t
}

// doubled returns the credits that the first t ns of a ramp earn, times twice the ramp's length L,
// so that the product is whole. The integral of the rate
//
//	from + (to - from) u/L over u in [0, t], times 2L, is t (from (2L - t) + to t).
func (p *piece) doubled(t int64) credits {
	return mul(p.from, uint64(2*p.length-t)).add(mul(p.to, uint64(t))).times(uint64(t))
}

// estimate solves doubled(t) = 2L due. It solves a falling ramp from its end, so that all terms are positive and
// none cancel.
func (p *piece) estimate(due credits) float64 {
	length := float64(p.length)
	if p.to > p.from {
		return rise(float64(p.from), float64(p.to-p.from)/length, due.float())
	}
	return length - rise(float64(p.to), float64(p.from-p.to)/length, p.credit.sub(due).float())
}

// rise returns the positive root of slope/2 t² + from t = amount.
func rise(from, slope, amount float64) float64 {
	if amount == 0 {
		return 0 // and not 0/0 if from is zero
	}
	return 2 * amount / (from + math.Sqrt(from*from+2*slope*amount))
}
