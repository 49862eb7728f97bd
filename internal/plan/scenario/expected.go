package scenario

import (
	"math"
	"math/big"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Expected is what one run offers by its schedule, with warm-up and fill. It includes records that
// a controller sheds or the end of the run cuts off.
type Expected struct {
	Records int64
	Bytes   int64 // of values, by their mean size
	// Known is false for a closed loop with a warm-up or without a bound.
	Known bool
	// Unbounded reports that Records and Bytes lack what a closed loop sends. If neither Known nor
	// Unbounded is set, they lack only the warm-up.
	Unbounded bool
}

// Expected returns what one run of s offers; s must be resolved and valid. The number of records
// differs by at most one from what package arrival schedules. For Poisson arrivals it is the mean.
func (s Scenario) Expected() Expected {
	mean := s.Load.Record.Size.Mean()
	fill := s.filled(mean)
	total := func(records int64, known bool) Expected {
		if records += fill; records < 0 {
			records = math.MaxInt64
		}
		bytes := int64(math.MaxInt64)
		if exact := math.Round(float64(records) * mean); exact < math.MaxInt64 {
			bytes = int64(exact)
		}
		return Expected{Records: records, Bytes: bytes, Known: known}
	}
	if s.Load.Producers == 0 {
		return total(0, true)
	}
	bound := s.bound(mean)
	if s.Load.Rate.IsMax() {
		if most := s.most(); most > 0 && (bound == 0 || bound > most) {
			bound = most
		}
		if bound == 0 {
			e := total(0, false)
			e.Unbounded = true
			return e
		}
		return total(bound, s.Phases.Warmup == 0 || bound == s.most())
	}
	warm, measured := s.scheduled()
	if bound > 0 {
		measured = min(measured, bound)
	}
	if warm > math.MaxInt64-measured {
		warm = math.MaxInt64 - measured
	}
	return total(warm+measured, true)
}

func (s Scenario) filled(mean float64) int64 {
	if s.Topic.Fill <= 0 || mean <= 0 {
		return s.FillCount()
	}
	return int64(math.Ceil(float64(s.Topic.Fill) / mean))
}

// 0 is no bound. With a volume, each producer stops after the record that reaches its part of it.
func (s Scenario) bound(mean float64) int64 {
	if s.Load.Volume <= 0 || mean <= 0 {
		return s.Load.Count()
	}
	producers := float64(s.Load.Producers)
	return int64(producers * math.Ceil(float64(s.Load.Volume)/producers/mean))
}

// Peak returns the highest rate of the schedule; the bound of its rate for a closed loop.
func (s Scenario) Peak() unit.Rate {
	if s.Load.Producers == 0 || s.Load.Rate.IsMax() {
		return s.Load.MaxRate
	}
	peak := s.Load.Rate
	for _, part := range s.Load.stretches() {
		for _, rate := range []unit.Rate{part.from, part.to} {
			if rate.PerSecond() > peak.PerSecond() {
				peak = rate
			}
		}
	}
	return peak
}

// Unpaced reports whether the run sends records without a schedule: in a closed loop or a fill.
func (s Scenario) Unpaced() bool { return s.Load.Producers > 0 && s.Load.Rate.IsMax() || s.Filled() }

// FillTime returns how long the fill takes at least; 0 if nothing bounds its rate.
func (s Scenario) FillTime() time.Duration {
	const longest = 10 * 365 * 24 * time.Hour
	if s.Load.MaxRate.Records <= 0 {
		return 0
	}
	seconds := float64(s.filled(s.Load.Record.Size.Mean())) / s.Load.MaxRate.PerSecond()
	return time.Duration(min(seconds, longest.Seconds()) * float64(time.Second))
}

// most is what a closed loop with a bounded rate offers at most, with its warm-up; 0 is no bound.
func (s Scenario) most() int64 {
	if s.Load.MaxRate.Records == 0 {
		return 0
	}
	flat := []stretch{{math.MaxInt64, s.Load.MaxRate, s.Load.MaxRate}}
	return up(earned(flat, s.Phases.Warmup+s.Phases.Measure))
}

// The rate of a stretch is constant or linear.
type stretch struct {
	length   unit.Duration
	from, to unit.Rate
}

// scheduled rounds the integrals of the rate up, because a window includes its start and excludes
// its end.
func (s Scenario) scheduled() (warm, measured int64) {
	d, over := s.Load.stretches(), s.Phases.Measure
	sum := new(big.Rat)
	if period := s.Load.Arrival.Period; s.Load.Arrival.Process == "burst" { // all whole periods
		sum.SetInt64(int64(over / period))
		sum.Mul(sum, earned(d, period))
		over %= period
	}
	first := d[slices.IndexFunc(d, func(s stretch) bool { return s.length > 0 })]
	first = stretch{s.Phases.Warmup, first.from, first.from}
	return up(earned([]stretch{first}, s.Phases.Warmup)), up(sum.Add(sum, earned(d, over)))
}

// stretches begin with the measured window; for bursts, they are one period.
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

// earned returns the integral of the rate over d.
func earned(stretches []stretch, d unit.Duration) *big.Rat {
	sum := new(big.Rat)
	for _, s := range stretches {
		part := min(d, s.length)
		if part <= 0 {
			continue
		}
		// The mean rate is the rate at the middle of the part: from + (to - from) × part / 2 length
		mean := new(big.Rat).Sub(fraction(s.to), fraction(s.from))
		mean.Mul(mean, big.NewRat(int64(part), 1))
		mean.Quo(mean, new(big.Rat).SetInt(new(big.Int).Mul(big.NewInt(2), big.NewInt(int64(s.length)))))
		mean.Add(mean, fraction(s.from))
		sum.Add(sum, mean.Mul(mean, big.NewRat(int64(part), 1)))
		d -= part
	}
	return sum
}

func fraction(r unit.Rate) *big.Rat { return big.NewRat(r.Records, int64(r.Per)) }

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

// Mean returns the mean size. For normal sizes it ignores the cut of Bounds, which matters only for
// a large deviation.
func (s Size) Mean() float64 {
	if len(s.Values) == 0 {
		return 0
	}
	switch {
	case s.Distribution == "normal":
		return float64(s.Values[0])
	case s.Distribution == fileSizes && len(s.Values) > 1:
		return float64(s.Values[1])
	}
	sum := 0.0
	for _, size := range s.Values {
		sum += float64(size)
	}
	return sum / float64(len(s.Values))
}
