package result

import (
	"cmp"
	"slices"
)

// What limited a rate.
const (
	LimitKafka = "kafka"
	LimitTool  = "tool" // the pacer, or this machine's CPUs
)

// Search is the result of a search for the highest sustained rate.
type Search struct {
	Expectations []string `json:"expectations"` // that a rate must meet, as written
	// ResolutionRatio is the largest relative distance between the answer and the lowest rate that
	// did not pass.
	ResolutionRatio float64 `json:"resolution_ratio"`
	// ResponseMetric is the time whose percentiles the probes have, such as e2e_response_time.
	ResponseMetric string  `json:"response_metric,omitempty"`
	Probes         []Probe `json:"probes"` // in the order of their runs
	// CapacityPerS is the rate of the closed loop, records/s; null if none was run.
	CapacityPerS *float64 `json:"capacity_per_s"`
	// HighestPerS is the highest offered load, records/s, that passed and was confirmed; null if
	// none did.
	HighestPerS *float64 `json:"highest_per_s"`
	// FailedPerS is the lowest offered load, records/s, that did not pass; null if none failed.
	FailedPerS *float64 `json:"failed_per_s"`
	// Limit is what limited the rate: kafka, or tool (the pacer, or this machine's CPUs).
	Limit string `json:"limit,omitempty" jsonschema:"enum=kafka,enum=tool"`
	// Answer is the result in a sentence.
	Answer string `json:"answer"`
	// Caveats are remarks on the answer.
	Caveats []string `json:"caveats,omitempty"`
}

// Curve returns the probes of the curve and the one that confirmed the answer, by offered load;
// none if the search was made without a curve.
func (s *Search) Curve() []Probe {
	curve := slices.DeleteFunc(slices.Clone(s.Probes), func(p Probe) bool { return p.Phase != PhaseCurve })
	if len(curve) == 0 {
		return nil
	}
	for _, p := range slices.Backward(s.Probes) {
		if p.Phase == "confirm" && p.Passed && s.HighestPerS != nil && p.OfferedPerS == *s.HighestPerS {
			curve = append(curve, p)
			break
		}
	}
	slices.SortStableFunc(curve, func(a, b Probe) int { return cmp.Compare(a.OfferedPerS, b.OfferedPerS) })
	return curve
}

// PhaseCurve is the phase of the probes that are not part of the search.
const PhaseCurve = "curve"

// Probe is one run of a search.
type Probe struct {
	// Run is the index in the campaign's runs.
	Run         int      `json:"run"`
	Phase       string   `json:"phase" jsonschema:"enum=capacity,enum=bracket,enum=bisect,enum=retry,enum=confirm,enum=curve"`
	OfferedPerS float64  `json:"offered_per_s"`      // the requested load; in a closed loop, the reached one
	Passed      bool     `json:"passed"`             // in a closed loop: whether it measured something
	Failures    []string `json:"failures,omitempty"` // expectations that were not met, with the figure
	// Limit is tool if the tool, and not Kafka, made the probe fail.
	Limit string `json:"limit,omitempty" jsonschema:"enum=kafka,enum=tool"`
	// Stalled is true if nothing was delivered or, without consumers, nothing was acked. The probe
	// then says nothing about its rate.
	Stalled bool `json:"stalled,omitempty"`
	// Doubtful is true if the probe failed because the tool could not measure. It then says nothing
	// about its rate.
	Doubtful bool `json:"doubtful,omitempty"`
	// TooFew is true if the only failure was too few records for an expected percentile. The probe
	// then says nothing about its rate.
	TooFew    bool    `json:"too_few,omitempty"`
	AckedPerS float64 `json:"acked_per_s"`
	// ResponseP50Ns and ResponseP99Ns are of the search's ResponseMetric; null in a closed loop,
	// and without enough values.
	ResponseP50Ns *int64 `json:"response_p50_ns"`
	ResponseP99Ns *int64 `json:"response_p99_ns"`
}

func (s Search) withLists() *Search {
	if s.Expectations == nil {
		s.Expectations = []string{}
	}
	if s.Probes == nil {
		s.Probes = []Probe{}
	}
	return &s
}
