package result

// HeldWithin is the tolerance for a controller's target: the time from the gate to the consumer may
// be up to HeldWithin × the target.
const HeldWithin = 1.2

// Backpressure is what the controller did in the measured window. Load and Delivery show its
// effect.
type Backpressure struct {
	Controller string `json:"controller"`
	Excess     string `json:"excess"`
	// MaxLag is 0 if the controller has no upper limit.
	MaxLag    int64 `json:"max_lag_records"`
	ResumeLag int64 `json:"resume_lag_records,omitempty"`
	// TargetNs is the controller's target for the time from the gate to the consumer.
	TargetNs int64  `json:"target_ns,omitempty"`
	Signal   string `json:"signal,omitempty"` // committed, delivered
	Per      string `json:"per,omitempty"`    // topic, or partition; only in older runs
	PollNs   int64  `json:"poll_ns"`
	// Processes is the number of producing processes, absent for one. Share is how they divided the
	// bound in older runs: static or demand. Now each has an equal part.
	Processes int    `json:"processes,omitempty"`
	Share     string `json:"share,omitempty"`

	Decisions int64   `json:"decisions"` // that opened or closed the gate
	ClosedS   float64 `json:"closed_s"`  // time in which records were refused
	// BlindS is how long the lag was unknown beyond the grace time.
	BlindS float64 `json:"blind_s,omitempty"`
	// Refused counts requests that were not admitted at once; a repeated request counts again.
	Refused int64 `json:"refused,omitempty"`
	// Shed counts records that were dropped at the source, by reason; null in older runs.
	Shed *ShedCounts `json:"shed,omitempty"`
	// BoundRecords is the lag that the controller allowed (with "per: partition", in each
	// partition); null if the controller has no bound.
	BoundRecords *Bound `json:"bound_records,omitempty"`
	// PeakLagToBound is the peak of the consumer lag in the measured window ÷ max_lag, for credit
	// and hysteresis. With "per: partition", it is the worst partition's. Null without a reading.
	PeakLagToBound *float64 `json:"peak_lag_to_bound,omitempty"`
	// PeakAtLeastToBound is the same for Lag.PeakAtLeastRecords: above 1, the bound was certainly
	// exceeded. Absent if the producers are in one process.
	PeakAtLeastToBound *float64 `json:"peak_at_least_to_bound,omitempty"`
	// DeferredPeakRecords is the most records that waited at the source at once. With producers in
	// several processes it is the sum of their peaks, an upper bound.
	DeferredPeakRecords int64 `json:"deferred_peak_records"`
	// SignalAgeMaxNs is the age of the oldest lag reading that a decision used.
	SignalAgeMaxNs int64 `json:"signal_age_max_ns"`
}

// Bound is a controller's bound in the measured window, in records; with several gates, the sum of
// their parts.
type Bound struct {
	Min  int64 `json:"min"`
	Max  int64 `json:"max"`
	Last int64 `json:"last"`
}

// ShedCounts are records that were dropped at the source.
type ShedCounts struct {
	ByGate    int64 `json:"by_gate"`    // the gate did not admit them
	ByQueue   int64 `json:"by_queue"`   // the queue at the source was full
	ByDegrade int64 `json:"by_degrade"` // not admitted, and not kept by degrade
}
