package arrival

import (
	"errors"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

type profile struct {
	initial    unit.Rate
	recordCost uint64
	startNs    int64 // 0, or negative with a warm-up
	pieces     []piece
	// cycle is the number of last pieces that repeat; 0: the last has no end.
	cycle       int
	cycleLength int64
	cycleCredit credits
}

// Constant has a record due every 1/rate, the first at zero.
func Constant(rate unit.Rate) (Process, error) {
	p, err := newProfile(false, span{from: rate, to: rate})
	return p, wrap("constant", err)
}

// Burst has a base rate, and a peak rate of the given length at the end of every period.
func Burst(base, peak unit.Rate, length, period time.Duration) (Process, error) {
	switch {
	case length <= 0:
		return nil, fmt.Errorf("arrival: burst: length %s: must be above zero", length)
	case length > period:
		return nil, fmt.Errorf("arrival: burst: length %s: longer than its period of %s", length, period)
	}
	p, err := newProfile(true, flat("period", base, period-length), flat("length", peak, length))
	return p, wrap("burst", err)
}

// Ramp changes linearly from one rate to another, and stays there.
func Ramp(from, to unit.Rate, over time.Duration) (Process, error) {
	if over <= 0 {
		return nil, fmt.Errorf("arrival: ramp: over %s: must be above zero", over)
	}
	p, err := newProfile(false, span{"over", from, to, over}, span{from: to, to: to})
	return p, wrap("ramp", err)
}

// Step is a constant rate for a time.
type Step struct {
	Rate unit.Rate
	For  time.Duration
}

// Steps has a list of constant rates. The last one stays, and its For is ignored.
func Steps(steps []Step) (Process, error) {
	spans := make([]span, len(steps))
	for i, s := range steps {
		if s.For <= 0 && i < len(steps)-1 {
			return nil, fmt.Errorf("arrival: steps: step %d: for %s: must be above zero", i+1, s.For)
		}
		spans[i] = flat(fmt.Sprintf("step %d: for", i+1), s.Rate, s.For)
	}
	if len(steps) == 0 {
		return nil, errors.New("arrival: steps: the list is empty; give at least one step")
	}
	p, err := newProfile(false, spans...)
	return p, wrap("steps", err)
}

// Spike has a base rate, and once, from at, a peak rate of the given length.
func Spike(base, peak unit.Rate, at, length time.Duration) (Process, error) {
	if length <= 0 {
		return nil, fmt.Errorf("arrival: spike: length %s: must be above zero", length)
	}
	p, err := newProfile(false, flat("at", base, at), flat("length", peak, length), span{from: base, to: base})
	return p, wrap("spike", err)
}

var errNothingDue = errors.New("the rate is always 0/s, so no record would ever be due")

func wrap(process string, err error) error {
	if err != nil {
		return fmt.Errorf("arrival: %s: %w", process, err)
	}
	return nil
}

type span struct {
	name     string
	from, to unit.Rate
	length   time.Duration
}

func flat(name string, rate unit.Rate, length time.Duration) span {
	return span{name, rate, rate, length}
}

func newProfile(cyclic bool, spans ...span) (*profile, error) {
	var rates []unit.Rate
	for _, s := range spans {
		rates = append(rates, s.from, s.to)
	}
	recordCost, perNs, err := scale(rates...)
	if err != nil {
		return nil, err
	}
	p := &profile{recordCost: recordCost}
	var earns bool
	for i, s := range spans {
		from, to := perNs[2*i], perNs[2*i+1]
		earns = earns || from > 0 || to > 0
		if len(p.pieces) == 0 && (s.length > 0 || i == len(spans)-1) {
			p.initial = s.from
		}
		if !cyclic && i == len(spans)-1 {
			p.pieces = append(p.pieces, foreverPiece(to))
			break
		}
		if err := checkTime(s.name, s.length); err != nil {
			return nil, err
		}
		if s.length == 0 {
			continue
		}
		next, err := newPiece(from, to, int64(s.length))
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", s.name, s.length, err)
		}
		p.pieces = append(p.pieces, next)
	}
	if !earns {
		return nil, errNothingDue
	}
	if cyclic {
		p.repeat()
	}
	return p, nil
}

func (p *profile) repeat() {
	p.cycle = len(p.pieces)
	for _, q := range p.pieces {
		p.cycleLength += q.length
		p.cycleCredit = p.cycleCredit.add(q.credit)
	}
}

func (p *profile) Initial() unit.Rate { return p.initial }

func (p *profile) Expected(d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	earned, left := 0.0, int64(d)
	pieces := p.pieces
	if p.startNs < 0 {
		pieces = pieces[1:]
	}
	if p.cycle > 0 {
		earned = float64(left/p.cycleLength) * p.cycleCredit.float()
		left %= p.cycleLength
	}
	for _, q := range pieces {
		part := min(left, q.length)
		earned += q.earned(part)
		left -= part
	}
	return earned / float64(p.recordCost)
}

func (p *profile) withWarmup(d time.Duration) Process {
	d = min(d, horizonNs/2)
	warm := *p
	warm.startNs = -int64(d)
	first := p.pieces[0]
	// Rounded up, so that a record is due at zero (whole-warm-up).
	lead := piece{length: int64(d), from: first.from, to: first.from}
	records, rest := mul(lead.from, uint64(d)).divide(p.recordCost)
	if rest > 0 {
		records++
	}
	lead.credit = mul(records, p.recordCost)
	warm.pieces = append([]piece{lead}, p.pieces...)
	return &warm
}
