package result

// What held a rate down.
const (
	LimitKafka = "kafka"
	LimitTool  = "tool" // the pacer, or the processors of this machine
)

// Search is what a search for the highest rate that holds has found.
type Search struct {
	Expectations []string `json:"expectations"` // that a rate must meet, as they were written
	// ResolutionRatio is how near the answer was to come to the lowest rate
	// that did not pass, relative to it.
	ResolutionRatio float64 `json:"resolution_ratio"`
	// ResponseMetric is the time whose percentiles the probes quote, as in
	// e2e_response_time.
	ResponseMetric string  `json:"response_metric,omitempty"`
	Probes         []Probe `json:"probes"` // in the order in which they were made
	// CapacityPerS is what the closed loop reached, records/s; null if it was
	// not asked.
	CapacityPerS *float64 `json:"capacity_per_s"`
	// HighestPerS is the highest offered load, records/s, that passed and was
	// confirmed; null if none did.
	HighestPerS *float64 `json:"highest_per_s"`
	// FailedPerS is the lowest offered load that did not pass; null if none
	// was found.
	FailedPerS *float64 `json:"failed_per_s"`
	// Limit says what held the rate down: kafka, or tool where the pacer or
	// the processors of this machine did.
	Limit string `json:"limit,omitempty" jsonschema:"enum=kafka,enum=tool"`
	// Answer is the finding in a sentence.
	Answer string `json:"answer"`
	// Caveats are what one should know with the answer.
	Caveats []string `json:"caveats,omitempty"`
}

// Probe is one rate that was tried.
type Probe struct {
	// Run is the probe's place in the campaign's runs, from 0.
	Run         int      `json:"run"`
	Phase       string   `json:"phase" jsonschema:"enum=capacity,enum=bracket,enum=bisect,enum=retry,enum=confirm,enum=curve"`
	OfferedPerS float64  `json:"offered_per_s"`      // that was asked for; in a closed loop, that was reached
	Passed      bool     `json:"passed"`             // of a closed loop: that it measured something
	Failures    []string `json:"failures,omitempty"` // what was not met, with the figure
	// Limit is tool where it was not Kafka that kept the probe from passing.
	Limit string `json:"limit,omitempty" jsonschema:"enum=kafka,enum=tool"`
	// Stalled is set when nothing was delivered, or acknowledged where nobody
	// consumes: the probe says nothing about its rate.
	Stalled bool `json:"stalled,omitempty"`
	// TooFew is set when nothing was missed but that the records are too few for
	// a percentile that is expected: the probe does not tell whether its rate holds.
	TooFew    bool    `json:"too_few,omitempty"`
	AckedPerS float64 `json:"acked_per_s"`
	// ResponseP50Ns and ResponseP99Ns are of the search's ResponseMetric; null
	// in a closed loop, where nothing was measured, or too little for the percentile.
	ResponseP50Ns *int64 `json:"response_p50_ns"`
	ResponseP99Ns *int64 `json:"response_p99_ns"`
}

// withLists is s with no list that is null.
func (s Search) withLists() *Search {
	if s.Expectations == nil {
		s.Expectations = []string{}
	}
	if s.Probes == nil {
		s.Probes = []Probe{}
	}
	return &s
}
