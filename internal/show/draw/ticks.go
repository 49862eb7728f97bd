package draw

import (
	"iter"
	"math"
)

func (a *axis) setTicks(fits func([]tick) bool) {
	if a.empty || len(a.Categories) > 0 {
		return
	}
	from, to := a.zeroAt, a.to
	for candidate := range a.candidates() {
		a.low, a.high = candidate.low, candidate.high
		a.place(from, to)
		a.ticks = nil
		if a.zero {
			a.ticks = append(a.ticks, tick{0, a.zeroAt, "0"})
		}
		for _, v := range candidate.values {
			a.ticks = append(a.ticks, tick{v, a.at(v), a.label(v)})
		}
		if distinct(a.ticks) && fits(a.ticks) {
			return
		}
	}
	a.ticks = nil
}

// distinct reports whether neighbouring ticks have different labels: the format may have too few
// digits.
func distinct(ticks []tick) bool {
	for i := 1; i < len(ticks); i++ {
		if ticks[i].label == ticks[i-1].label {
			return false
		}
	}
	return true
}

type ticking struct {
	low, high float64
	values    []float64
}

func (a *axis) candidates() iter.Seq[ticking] {
	return func(yield func(ticking) bool) {
		switch a.Scale {
		case Log:
			if !a.logCandidates(yield) {
				return
			}
		case Percentile:
			if !a.percentileCandidates(yield) {
				return
			}
		case Linear:
			if !a.linearCandidates(yield) {
				return
			}
		}
		yield(ticking{a.low, a.high, nil})
	}
}

const mostTicks = 60

func (a *axis) linearCandidates(yield func(ticking) bool) bool {
	low, high := a.low, a.high
	for step := range a.steps(high - low) {
		if (high-low)/step.size() > mostTicks {
			continue
		}
		c := ticking{low, high, nil}
		first, last := step.index(low, math.Ceil), step.index(high, math.Floor)
		if a.freeLow {
			first = step.index(low, math.Floor)
			c.low = min(low, step.value(first))
		}
		if a.freeHigh {
			last = step.index(high, math.Ceil)
			c.high = max(high, step.value(last))
		}
		for i := first; i <= last; i++ {
			c.values = append(c.values, step.value(i))
		}
		if !yield(c) {
			return false
		}
		if step.size() > 2*(high-low) && step.size() > max(math.Abs(low), math.Abs(high)) {
			break
		}
	}
	return true
}

// step is m·10^power, in seconds if an axis of times has a range of two minutes or more, and else
// in the axis' values. The field second is the length of a second on the axis, or 1.
type step struct {
	m      float64
	power  int
	second float64
}

func (s step) size() float64           { return times(s.m, s.power) * s.second }
func (s step) value(i float64) float64 { return times(i*s.m, s.power) * s.second }

// index is the number of steps in v. If v is at a tick, within the precision of the values, it is
// the number of that tick. Else round makes it whole.
func (s step) index(v float64, round func(float64) float64) float64 {
	i := v / s.size()
	if near := math.Round(i); math.Abs(i-near) < 1e-6 {
		return near
	}
	return round(i)
}

// clockSteps are in seconds, for ranges of more than two minutes.
var clockSteps = []float64{15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400}

func (a *axis) steps(size float64) iter.Seq[step] {
	return func(yield func(step) bool) {
		if a.Second > 0 && size >= 120*a.Second {
			for _, seconds := range clockSteps {
				if !yield(step{seconds, 0, a.Second}) {
					return
				}
			}
			for days := 2.0; ; days *= 2 {
				if !yield(step{days * 86400, 0, a.Second}) {
					return
				}
			}
		}
		for power := int(math.Floor(math.Log10(size))) - 2; ; power++ {
			for _, m := range []float64{1, 2, 5} {
				if !yield(step{m, power, 1}) {
					return
				}
			}
		}
	}
}

// logCandidates are 1, 2 and 5 of each decade, then every decade, then every n-th.
func (a *axis) logCandidates(yield func(ticking) bool) bool {
	first, last := int(math.Floor(math.Log10(a.low))), int(math.Ceil(math.Log10(a.high)))
	inside := func(v float64) bool { return v >= a.low*(1-1e-9) && v <= a.high*(1+1e-9) }
	for every := 0; every <= last-first; every++ {
		c := ticking{a.low, a.high, nil}
		for power := first; power <= last; power++ {
			mantissas := []float64{1}
			if every == 0 {
				mantissas = []float64{1, 2, 5}
			} else if power%every != 0 {
				continue
			}
			for _, m := range mantissas {
				if v := times(m, power); inside(v) {
					c.values = append(c.values, v)
				}
			}
		}
		switch {
		case every == 0 && len(c.values) < 2:
			return a.linearWithinLog(yield)
		case every == 0 && last-first > 3:
			continue
		case len(c.values) == 0:
			return true
		}
		if !yield(c) {
			return false
		}
	}
	return true
}

// linearWithinLog is for a logarithmic axis with fewer than two ticks at 1, 2 and 5 of each decade.
func (a *axis) linearWithinLog(yield func(ticking) bool) bool {
	fixed := *a
	fixed.freeLow, fixed.freeHigh = false, false
	return fixed.linearCandidates(yield)
}

// percentileCandidates are 0, 50, 90, 99, 99.9 % and so on; then the same without 50 %; then with
// every second number of nines: 0, 99, 99.99 %; and so on.
func (a *axis) percentileCandidates(yield func(ticking) bool) bool {
	for try := range 16 {
		every := max(1, try)
		c := ticking{a.low, a.high, nil}
		add := func(p float64) {
			if p >= a.low && a.forward(p) <= a.forward(a.high)+1e-9 {
				c.values = append(c.values, p)
			}
		}
		add(0)
		if try == 0 {
			add(0.5)
		}
		for nines := every; nines <= 15; nines += every {
			add(1 - math.Pow10(-nines))
		}
		if !yield(c) {
			return false
		}
	}
	return true
}
