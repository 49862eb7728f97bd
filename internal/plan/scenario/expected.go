package scenario

import (
	"math"
	"math/big"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Expected is what one run writes by its schedule, warm-up and the fill of its topic
// included. What a controller sheds or the end of the run cuts off is part of it.
type Expected struct {
	Records int64
	Bytes   int64 // of the records' values, by their mean size; no keys, no overhead
	// Known is false for a closed loop, which has no schedule. If it has a
	// volume, Records and Bytes are the most that its measured window offers and the
	// fill, and what the warm-up offers is not known; else they are 0.
	Known bool
}

// Expected is what one run of s offers. s is resolved and valid. The records are
// those of package arrival, within one; of Poisson arrivals, their mean.
func (s Scenario) Expected() Expected {
	mean := s.Load.Record.Size.Mean()
	fill := s.filled(mean)
	total := func(records int64, known bool) Expected {
		records += fill
		return Expected{Records: records, Bytes: int64(math.Round(float64(records) * mean)), Known: known}
	}
	if s.Load.Producers == 0 {
		return total(0, true)
	}
	bound := s.bound(mean)
	if s.Load.Rate.IsMax() {
		if bound == 0 {
			return Expected{}
		}
		return total(bound, s.Phases.Warmup == 0)
	}
	warm, measured := s.scheduled()
	if bound > 0 {
		measured = min(measured, bound)
	}
	return total(warm+measured, true)
}

// filled is the number of records that the topic is filled with.
func (s Scenario) filled(mean float64) int64 {
	if s.Topic.Fill <= 0 || mean <= 0 {
		return s.FillCount()
	}
	return int64(math.Ceil(float64(s.Topic.Fill) / mean))
}

// bound is the number of records that the volume or the number of records lets the
// measured window offer; 0 is no bound. By a volume each producer stops with the record
// that reaches its share.
func (s Scenario) bound(mean float64) int64 {
	if s.Load.Volume <= 0 || mean <= 0 {
		return s.Load.Count()
	}
	producers := float64(s.Load.Producers)
	return int64(producers * math.Ceil(float64(s.Load.Volume)/producers/mean))
}

// A stretch is a time in which the rate is constant or changes in a straight
// line.
type stretch struct {
	length   unit.Duration
	from, to unit.Rate
}

// scheduled is the number of records that are due in the warm-up and in the
// measured window: the integrals of the rate over them, rounded up, because the
// record at the very beginning of a window is in it and that at its end is not.
func (s Scenario) scheduled() (warm, measured int64) {
	d, over := s.Load.stretches(), s.Phases.Measure
	sum := new(big.Rat)
	if period := s.Load.Arrival.Period; s.Load.Arrival.Process == "burst" { // again and again
		sum.SetInt64(int64(over / period))
		sum.Mul(sum, earned(d, period))
		over %= period
	}
	first := d[slices.IndexFunc(d, func(s stretch) bool { return s.length > 0 })]
	first = stretch{s.Phases.Warmup, first.from, first.from}
	return up(earned([]stretch{first}, s.Phases.Warmup)), up(sum.Add(sum, earned(d, over)))
}

// stretches are the rate from the beginning of the measured window on; of bursts,
// those of one period.
func (l Load) stretches() []stretch {
	const forever = math.MaxInt64
	flat := func(length unit.Duration, r unit.Rate) stretch { return stretch{length, r, r} }
	a := l.Arrival
	switch a.Process {
	case "burst":
		return []stretch{flat(a.Period-a.Length, l.Rate), flat(a.Length, a.Peak)}
	case "ramp":
		return []stretch{{a.Over, l.Rate, a.To}, flat(forever, a.To)}
	case "spike":
		return []stretch{flat(a.At, l.Rate), flat(a.Length, a.Peak), flat(forever, l.Rate)}
	case "steps":
		var all []stretch
		for _, step := range a.Steps {
			all = append(all, flat(step.For, step.Rate))
		}
		all[len(all)-1].length = forever
		return all
	default:
		return []stretch{flat(forever, l.Rate)}
	}
}

// earned is the integral of the rate over the first d of the stretches.
func earned(stretches []stretch, d unit.Duration) *big.Rat {
	sum := new(big.Rat)
	for _, s := range stretches {
		part := min(d, s.length)
		if part <= 0 {
			continue
		}
		// The mean rate over the part is that at its middle: from + (to - from) × part / 2 length.
		mean := new(big.Rat).Sub(fraction(s.to), fraction(s.from))
		mean.Mul(mean, big.NewRat(int64(part), 1))
		mean.Quo(mean, new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(2), big.NewInt(int64(s.length)))))
		mean.Add(mean, fraction(s.from))
		sum.Add(sum, mean.Mul(mean, big.NewRat(int64(part), 1)))
		d -= part
	}
	return sum
}

// fraction is r in records per nanosecond.
func fraction(r unit.Rate) *big.Rat { return big.NewRat(r.Records, int64(r.Per)) }

// up rounds up.
func up(r *big.Rat) int64 {
	whole, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	if !whole.IsInt64() {
		return math.MaxInt64
	}
	return whole.Int64()
}

// Mean is the mean size. That of normal sizes is not corrected for the cut, which
// matters only where the deviation is a good part of the mean.
func (s Size) Mean() float64 {
	if len(s.Values) == 0 {
		return 0
	}
	if s.Distribution == "normal" {
		return float64(s.Values[0])
	}
	sum := 0.0
	for _, size := range s.Values {
		sum += float64(size)
	}
	return sum / float64(len(s.Values))
}
