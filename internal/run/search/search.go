package search

import (
	"context"
	"fmt"
	"math"
)

// Phase says why a rate is tried.
type Phase string

// The phases, as written to files.
const (
	Capacity Phase = "capacity" // closed loop: the upper end of the search
	Bracket  Phase = "bracket"  // until one rate has passed and one has failed
	Bisect   Phase = "bisect"   // between the two
	Retry    Phase = "retry"    // a rate that was tried before
	Confirm  Phase = "confirm"  // a longer run
	Curve    Phase = "curve"    // not part of the search, see CurveRates
)

// ClosedLoop is the rate of a probe without a schedule.
var ClosedLoop = math.Inf(1)

// Step is the next probe.
type Step struct {
	Phase Phase
	PerS  float64 // offered load, records/s, to four digits; or ClosedLoop
}

// Outcome is the result of a probe.
type Outcome struct {
	// Passed reports whether the rate met the expectations. It means nothing for a closed loop.
	Passed bool
	// Stalled reports that no record was acked or delivered, so the probe decides nothing.
	Stalled bool
	// Doubtful reports that the probe failed because the tool could not measure.
	Doubtful bool
	// TooFew reports that the probe failed only because it had too few records for its
	// expectations. Lower rates have fewer still.
	TooFew bool
	// Tool reports that the tool or its machine, and not only Kafka, made the probe fail.
	Tool bool
	// ReachedPerS is the rate of a closed loop, records/s.
	ReachedPerS float64
}

// Probe is a probe with its outcome.
type Probe struct {
	Step
	Outcome
}

// Prober makes probes. An error ends the search.
type Prober interface {
	Probe(ctx context.Context, s Step) (Outcome, error)
}

// Defaults of Options.
const (
	DefaultResolution = 0.03
	DefaultMaxProbes  = 13
)

// Bounds of Options.
const (
	minResolution = 0.005 // ten times the precision of a rate of four digits
	maxResolution = 0.5
	minProbes     = 4 // capacity, one that passes, one that fails, confirmation
	maxProbes     = 1000
)

// Options says how far to search.
type Options struct {
	// Resolution is the relative distance of the answer to the lowest rate that failed, at which
	// the search ends: 0.005 to 0.5. 0 is DefaultResolution.
	Resolution float64
	// MaxProbes bounds the probes of all phases together: 4 to 1,000. 0 is DefaultMaxProbes.
	MaxProbes int
}

// WithDefaults returns o with its zero fields set to the defaults.
func (o Options) WithDefaults() Options {
	if o.Resolution == 0 {
		o.Resolution = DefaultResolution
	}
	if o.MaxProbes == 0 {
		o.MaxProbes = DefaultMaxProbes
	}
	return o
}

// Check returns what is wrong with o.
func (o Options) Check() error {
	o = o.WithDefaults()
	switch {
	case !(o.Resolution >= minResolution && o.Resolution <= maxResolution): // NaN too
		return fmt.Errorf("a resolution of %.3g %% is out of range; give 0.5%% to 50%%", o.Resolution*100)
	case o.MaxProbes < minProbes || o.MaxProbes > maxProbes:
		return fmt.Errorf("a search of at most %d probes is out of range; give %d to %d", o.MaxProbes, minProbes, maxProbes)
	}
	return nil
}

// Finding is what a search has found so far.
type Finding struct {
	Probes []Probe // in the order in which they were made
	// CapacityPerS is the rate of the closed loop; 0 if it delivered nothing.
	CapacityPerS float64
	// HighestPerS is the highest rate that passed and was confirmed; 0 if none.
	HighestPerS float64
	// PassedPerS is the highest rate that passed, confirmed or not; 0 if none.
	PassedPerS float64
	// FailedPerS is the lowest rate that failed; 0 if none. It is above HighestPerS and PassedPerS.
	FailedPerS float64
	// FailedOnce reports whether FailedPerS failed only one short probe.
	FailedOnce bool
	// TooFewPerS is the highest rate with too few records; 0 if none. If no higher rate passed,
	// this ended the search.
	TooFewPerS float64
	// Tool reports that the tool or its machine made FailedPerS fail.
	Tool bool
	// Refuted reports whether a confirmation failed. Results of short probes do not count then.
	Refuted bool
	// Resolved reports whether FailedPerS is within the resolution of HighestPerS.
	Resolved bool
}

// Find makes the probes of a search, one after another. An error is the prober's; Find returns it
// with the finding so far.
func Find(ctx context.Context, p Prober, o Options) (Finding, error) {
	s := New(o)
	for {
		step, more := s.Next()
		if !more {
			return s.Finding(), nil
		}
		outcome, err := p.Probe(ctx, step)
		if err != nil {
			return s.Finding(), err
		}
		s.Tell(outcome)
	}
}

// Reach returns where a search looks, as multiples of the capacity: the first rate, and the lowest
// and the highest from which it doubles the rate if all pass.
func Reach() (first, lowest, highest float64) {
	return rungs[firstRung], rungs[0], rungs[len(rungs)-1]
}

// NumCurveRates is how many rates a curve has.
const NumCurveRates = 11

// CurveRates returns the rates of a curve of times against offered load: 10 % to 110 % of a rate,
// in tenths.
func CurveRates(of float64) []float64 {
	rates := make([]float64, NumCurveRates)
	for i := range rates {
		rates[i] = round(of * float64(i+1) / 10)
	}
	return rates
}

func round(perS float64) float64 {
	if perS == 0 || math.IsInf(perS, 0) {
		return perS
	}
	scale := math.Pow(10, math.Floor(math.Log10(perS))-3)
	if scale >= 1 {
		return math.Round(perS/scale) * scale
	}
	return math.Round(perS/scale) / math.Round(1/scale) // the number nearest to the decimal
}
