package search

import (
	"context"
	"fmt"
	"math"
)

// Phase says why a rate is tried.
type Phase string

// The phases, as they are written to files.
const (
	Capacity Phase = "capacity" // closed loop: what there is to be searched
	Bracket  Phase = "bracket"  // until one rate has passed and one has not
	Bisect   Phase = "bisect"   // between the two
	Retry    Phase = "retry"    // a rate that was tried before
	Confirm  Phase = "confirm"  // a longer run
	Curve    Phase = "curve"    // apart from the search, see CurveRates
)

// ClosedLoop is the rate of a probe without a schedule.
var ClosedLoop = math.Inf(1)

// Step is a probe to be made.
type Step struct {
	Phase Phase
	PerS  float64 // the offered load, records/s, to four digits; or ClosedLoop
}

// Outcome is what came of a probe.
type Outcome struct {
	// Passed tells whether the rate met what was expected. A closed loop is
	// not judged by it.
	Passed bool
	// Stalled is set when nothing came through: the probe then says nothing
	// about its rate.
	Stalled bool
	// Doubtful is set when the probe did not pass and cannot be believed, because
	// the tool was not able to measure.
	Doubtful bool
	// TooFew is set when the probe did not pass for no other reason than that its
	// records are too few for what is expected of them: it cannot be told whether
	// the rate holds, and that is true of lower ones all the more.
	TooFew bool
	// Tool is set when it was the tool or its machine that kept the probe from
	// passing, and not Kafka alone.
	Tool bool
	// ReachedPerS is what a closed loop reached, records/s.
	ReachedPerS float64
}

// Probe is a probe that was made.
type Probe struct {
	Step
	Outcome
}

// Prober makes probes. An error ends the search.
type Prober interface {
	Probe(ctx context.Context, s Step) (Outcome, error)
}

// The defaults of Options.
const (
	DefaultResolution = 0.03
	DefaultMaxProbes  = 12
)

// The bounds of Options.
const (
	minResolution = 0.005 // ten times what four digits of a rate can tell apart
	maxResolution = 0.5
	minProbes     = 4 // capacity, one that passes, one that does not, confirmation
	maxProbes     = 1000
)

// Options say how far to search.
type Options struct {
	// Resolution is how near, relative to it, the answer is to come to the
	// lowest rate that failed: 0.005 to 0.5. 0 is DefaultResolution.
	Resolution float64
	// MaxProbes bounds the probes of all phases together: 4 to 1,000. 0 is
	// DefaultMaxProbes, which is enough for 3 % down to 1 % of the capacity.
	MaxProbes int
}

// WithDefaults is o with what was left open.
func (o Options) WithDefaults() Options {
	if o.Resolution == 0 {
		o.Resolution = DefaultResolution
	}
	if o.MaxProbes == 0 {
		o.MaxProbes = DefaultMaxProbes
	}
	return o
}

// Check says what is wrong with o.
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
	// CapacityPerS is what the closed loop reached; 0 if it never did.
	CapacityPerS float64
	// HighestPerS is the highest rate that passed and was confirmed; 0 if none.
	HighestPerS float64
	// PassedPerS is the highest rate that passed, confirmed or not; 0 if none.
	PassedPerS float64
	// FailedPerS is the lowest rate that failed; 0 if none. It is above both.
	FailedPerS float64
	// FailedOnce tells whether FailedPerS failed a single short probe, because
	// there was none left to try it again.
	FailedOnce bool
	// TooFewPerS is the highest rate whose records were too few to tell whether it
	// holds; 0 if there was none. Where none higher passed, it is why the search
	// ended.
	TooFewPerS float64
	// Tool is set when it was not Kafka that made FailedPerS fail.
	Tool bool
	// Refuted tells whether a confirmation failed, so that what short probes
	// said does not count any more.
	Refuted bool
	// Resolved tells whether FailedPerS is as near to HighestPerS as it was
	// to be.
	Resolved bool
}

// Find makes the probes of a search, one after another. An error is the
// prober's; what had been found by then is returned with it.
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

// CurveRates are the rates of a curve of times against offered load: tenths of a
// rate, from 10 % to 110 %.
func CurveRates(of float64) []float64 {
	rates := make([]float64, 11)
	for i := range rates {
		rates[i] = round(of * float64(i+1) / 10)
	}
	return rates
}

// round keeps four digits of a rate, as many as one would write down.
func round(perS float64) float64 {
	if perS == 0 || math.IsInf(perS, 0) {
		return perS
	}
	scale := math.Pow(10, math.Floor(math.Log10(perS))-3)
	if scale >= 1 {
		return math.Round(perS/scale) * scale
	}
	return math.Round(perS/scale) / math.Round(1/scale) // a decimal's nearest number
}
