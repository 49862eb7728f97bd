package result

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
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
	ResponseMetric string `json:"response_metric,omitempty"`
	// GrowthTests is how many probes share the level of the test of backlog_growth; absent if that
	// is not expected, and in older searches, which allowed each probe two standard errors.
	GrowthTests int     `json:"growth_tests,omitempty"`
	Probes      []Probe `json:"probes"` // in the order of their runs
	// CapacityPerS is the rate of the closed loop, records/s; null if none was run.
	CapacityPerS *float64 `json:"capacity_per_s"`
	// HighestPerS is the highest offered load, records/s, that passed and was confirmed; null if
	// none did.
	HighestPerS *float64 `json:"highest_per_s"`
	// FailedPerS is the lowest offered load, records/s, that did not pass; null if none failed.
	FailedPerS *float64 `json:"failed_per_s"`
	// Limit is what limited the rate: kafka, or tool (the pacer, or this machine's CPUs).
	Limit string `json:"limit,omitempty" jsonschema:"enum=kafka,enum=tool"`
	// Answer is the result in a few sentences. One of them names the rates that did not pass,
	// although they are not above HighestPerS.
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

// BacklogGrowth is the name of a figure: as an expectation it is a test of each probe.
const BacklogGrowth = "backlog_growth"

// Explain adds to the answer what the list of probes has against it: rates that did not pass,
// although they are not above the answer. Older searches get it when they are read. A second call
// changes nothing.
func (s *Search) Explain() {
	if s.HighestPerS == nil {
		return
	}
	failed := make(map[float64]Probe) // the last failure of each rate
	var passed []float64              // of these rates, later
	for _, p := range s.Probes {
		_, before := failed[p.OfferedPerS]
		switch {
		case p.Phase == "capacity" || p.TooFew || p.OfferedPerS > *s.HighestPerS:
		case !p.Passed:
			failed[p.OfferedPerS] = p
			passed = slices.DeleteFunc(passed, func(perS float64) bool { return perS == p.OfferedPerS })
		case before:
			passed = append(passed, p.OfferedPerS)
		}
	}
	var below, again, answer []string
	alone := false
	for _, perS := range slices.Sorted(maps.Keys(failed)) {
		at, why := unit.PerSecond(perS), strings.Join(failed[perS].Failures, "; ")
		alone = alone || s.GrowthTests == 0 && strings.Contains(why, BacklogGrowth)
		list := &below
		switch {
		case slices.Contains(passed, perS):
			list = &again
		case perS == *s.HighestPerS:
			list = &answer
		}
		*list = append(*list, fmt.Sprintf("%s (%s)", at, why))
		s.Caveats = slices.DeleteFunc(s.Caveats, func(caveat string) bool { // of older searches
			return caveat == fmt.Sprintf("on the curve %s did not pass: %s", at, why) ||
				perS == *s.HighestPerS && caveat == "an earlier run at the answer did not pass"
		})
	}
	s.say(below, "Below the answer, %s did not pass.")
	s.say(again, "%s passed only when tried again.")
	s.say(answer, "Tried again, the answer itself, %s, did not pass.")
	const caveat = "this search tested the growth of each probe alone: one of about 25 with a stable backlog fails"
	if alone && !slices.Contains(s.Caveats, caveat) {
		s.Caveats = append(s.Caveats, caveat)
	}
}

func (s *Search) say(rates []string, format string) {
	const named = 3
	if more := len(rates) - named; more > 0 {
		rates = append(rates[:named], fmt.Sprintf("%d more", more))
	}
	if n := len(rates); n > 1 {
		rates = append(rates[:n-2], rates[n-2]+" and "+rates[n-1])
	}
	sentence := " " + fmt.Sprintf(format, strings.Join(rates, ", "))
	if len(rates) > 0 && !strings.Contains(s.Answer, sentence) {
		s.Answer += sentence
	}
}
