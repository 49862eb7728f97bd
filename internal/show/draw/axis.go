package draw

import "math"

func known(v float64) bool { return math.Abs(v) < 1e200 }

// room is the factor by which an axis may exceed its values. A value is ignored if room times the
// value is not known.
const room = 100

// leastOfLog is the lowest value above 0 on a logarithmic axis.
const leastOfLog = 1e-200

type extent struct {
	low, high float64
	positive  float64 // the lowest above 0
	share     float64 // the highest below 1
	zero, any bool
}

func (e *extent) add(values ...float64) {
	for _, v := range values {
		if !known(v * room) {
			continue
		}
		if !e.any {
			e.low, e.high, e.any = v, v, true
		}
		e.low, e.high = min(e.low, v), max(e.high, v)
		e.zero = e.zero || v == 0
		if v < 1 {
			e.share = max(e.share, v)
		}
		if v >= leastOfLog && (e.positive == 0 || v < e.positive) {
			e.positive = v
		}
	}
}

// axis is an Axis with its ends as values, and later also in pixels.
type axis struct {
	Axis
	low, high         float64 // the ends, as values
	from, to          float64 // the ends, in pixels
	zero              bool    // a logarithmic axis shows 0, at zeroAt
	zeroAt            float64
	empty             bool
	freeLow, freeHigh bool // the end may be moved to a tick
	ticks             []tick
}

type tick struct {
	value, at float64
	label     string
}

// zeroGap is the distance of 0 from the rest of a logarithmic axis, in pixels.
const zeroGap = 26

// newAxis lets free ends move outwards to ticks if round is true.
func newAxis(a Axis, e extent, round bool) *axis {
	if n := len(a.Categories); n > 0 {
		a.Scale = Linear
		return &axis{Axis: a, low: -0.5, high: float64(n) - 0.5}
	}
	r := &axis{Axis: a, low: a.Min, high: a.Max}
	fixedLow, fixedHigh := r.fixed(a.Min), r.fixed(a.Max)
	r.empty = !e.any && !(fixedLow && fixedHigh)
	switch a.Scale {
	case Linear:
		r.linearEnds(e, fixedLow, fixedHigh)
	case Log:
		r.zero = e.zero || a.Min == 0
		r.logEnds(e, fixedLow, fixedHigh, round)
	case Percentile:
		if !fixedLow {
			r.low = 0
		}
		if !fixedHigh {
			r.high = max(r.low, min(e.share, 1-1e-15))
		}
		if r.forward(r.high)-r.forward(r.low) < 0.05 {
			r.high = 1 - (1-r.low)/10
		}
	}
	r.freeLow, r.freeHigh = round && !fixedLow, round && !fixedHigh
	return r
}

func (a *axis) fixed(end float64) bool { return known(end*room) && known(a.forward(end)) }

func (a *axis) linearEnds(e extent, fixedLow, fixedHigh bool) {
	if !fixedLow {
		a.low = min(e.low, 0)
		if fixedHigh {
			a.low = min(a.low, a.high)
		}
	}
	if !fixedHigh {
		a.high = max(e.high, 0)
		if fixedLow {
			a.high = max(e.high, a.low)
		}
	}
	// A range that is too small for the precision of its values has no ticks, so it is widened.
	if size := max(math.Abs(a.low), math.Abs(a.high)); a.high-a.low <= 1e-9*size {
		a.high = a.low + max(size*1e-3, 1e-12)
		if size == 0 {
			a.high = a.low + 1
		}
	}
}

func (a *axis) logEnds(e extent, fixedLow, fixedHigh, round bool) {
	if !fixedLow {
		a.low = e.positive
		if a.low == 0 {
			a.low = 1
		}
		if fixedHigh {
			a.low = min(a.low, a.high)
		}
		if round {
			a.low = below(a.low)
		}
	}
	if !fixedHigh {
		a.high = max(e.high, a.low)
		if round {
			if b := below(a.high); b < a.high {
				a.high = next(b)
			}
		}
	}
	if a.forward(a.high)-a.forward(a.low) < 0.01 {
		a.high = 10 * a.low
	}
}

// below is the highest number of the form 1, 2 or 5 times a power of ten that is at most v.
func below(v float64) float64 {
	power := int(math.Floor(math.Log10(v)))
	found := times(1, power-1)
	for p := power - 1; p <= power+1; p++ {
		for _, m := range []float64{1, 2, 5} {
			if w := times(m, p); w <= v {
				found = w
			}
		}
	}
	return found
}

// next takes a number that below returned, and returns the next higher number of this form.
func next(v float64) float64 {
	const more = 1 + 1e-9
	if b := below(v * 2 * more); b > v {
		return b
	}
	return below(v * 2.5 * more)
}

// times is m·10^power, as exact as a literal.
func times(m float64, power int) float64 {
	if power < 0 {
		return m / math.Pow10(-power)
	}
	return m * math.Pow10(power)
}

// forward is the position of v on the scale; NaN if the scale does not have the value.
func (a *axis) forward(v float64) float64 {
	switch a.Scale {
	case Log:
		if v < leastOfLog {
			return math.NaN()
		}
		return math.Log10(v)
	case Percentile:
		if v < 0 || v >= 1 {
			return math.NaN()
		}
		return -math.Log10(1 - v)
	}
	return v
}

// place sets the ends in pixels. If a logarithmic axis shows 0, then 0 is at from.
func (a *axis) place(from, to float64) {
	a.from, a.to, a.zeroAt = from, to, from
	if a.zero {
		a.from += math.Copysign(min(zeroGap, math.Abs(to-from)/4), to-from)
	}
}

const far = 1e7

// at is the place of v in pixels, which may be beyond the ends; NaN if v is not known.
func (a *axis) at(v float64) float64 {
	if !known(v) {
		return math.NaN()
	}
	if a.zero && v == 0 {
		return a.zeroAt
	}
	low, high := a.forward(a.low), a.forward(a.high)
	share := (a.forward(v) - low) / (high - low)
	return max(-far, min(far, a.from+float64(share*(a.to-a.from))))
}

func (a *axis) span() (first, last float64) { return min(a.zeroAt, a.to), max(a.zeroAt, a.to) }

func (a *axis) within(at float64) bool {
	first, last := a.span()
	return at >= first-0.005 && at <= last+0.005
}

func (a *axis) label(v float64) string {
	switch {
	case v == 0 && a.Scale != Percentile:
		return "0"
	case a.Format != nil:
		return clean(a.Format(v))
	case a.Scale == Percentile:
		return clean(exact(math.Round(v*1e8)/1e6) + " %")
	}
	return exact(v)
}

func (a *axis) data(name string) []Datum {
	all := []Datum{
		{name + "-scale", [...]string{"linear", "log", "percentile"}[a.Scale]},
		{name + "-min", exact(a.low)}, {name + "-max", exact(a.high)},
		{name + "-px-min", exact(round2(a.from))}, {name + "-px-max", exact(round2(a.to))},
	}
	if a.zero {
		all = append(all, Datum{name + "-px-zero", exact(round2(a.zeroAt))})
	}
	return all
}

func round2(v float64) float64 { return math.Round(v*100) / 100 }
