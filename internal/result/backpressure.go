package result

// HeldWithin is how far above its target the time may be that a controller holds, as a factor: the
// controller promises about as much. It is the only tolerance of a target.
const HeldWithin = 1.2

// Backpressure is what the controller did in the measured window. What it leads to
// is in Load (offered, admitted, shed) and Delivery.
type Backpressure struct {
	Controller string `json:"controller"`
	Excess     string `json:"excess"`
	// MaxLag is 0 where the controller has no upper limit to what it chooses.
	MaxLag    int64 `json:"max_lag_records"`
	ResumeLag int64 `json:"resume_lag_records,omitempty"`
	// TargetNs is the time from the gate to the consumer that the controller holds.
	TargetNs int64  `json:"target_ns,omitempty"`
	Signal   string `json:"signal,omitempty"` // committed, delivered
	Per      string `json:"per,omitempty"`    // topic, partition
	PollNs   int64  `json:"poll_ns"`
	// Processes is the number of those that the producers ran in, and Share how they
	// divided the bound: static or demand. Absent where it was one.
	Processes int    `json:"processes,omitempty"`
	Share     string `json:"share,omitempty"`

	Decisions int64   `json:"decisions"` // that opened or closed the gate
	ClosedS   float64 `json:"closed_s"`  // time in which records were refused
	// BlindS is for how long the lag was not known, beyond the grace time.
	BlindS float64 `json:"blind_s,omitempty"`
	// Refused counts the records that were asked for and not admitted at once; one
	// that is asked for again counts again.
	Refused int64 `json:"refused,omitempty"`
	// Shed is what was dropped at the source, by reason; null in runs of versions
	// that did not tell.
	Shed *ShedCounts `json:"shed,omitempty"`
	// BoundRecords is the lag that the controller allowed, with per: partition in
	// each partition; null where it has no bound.
	BoundRecords *Bound `json:"bound_records,omitempty"`
	// PeakLagToBound is the peak of the consumer lag in the measured window ÷ max_lag,
	// of credit and hysteresis; with per: partition that of the worst partition. Null
	// where there was no reading.
	PeakLagToBound *float64 `json:"peak_lag_to_bound,omitempty"`
	// PeakAtLeastToBound is that of what the lag was at the least
	// (Lag.PeakAtLeastRecords): above 1, the bound was passed for certain. Absent where
	// the producers are in one process.
	PeakAtLeastToBound *float64 `json:"peak_at_least_to_bound,omitempty"`
	// DeferredPeak is the longest the source's queue ever was.
	DeferredPeakRecords int64 `json:"deferred_peak_records"`
	// SignalAgeMaxNs is the oldest lag reading that a decision rested on.
	SignalAgeMaxNs int64 `json:"signal_age_max_ns"`
}

// Bound is how a controller's bound moved in the measured window, in records. Where
// several gates share it, it is the sum of their parts.
type Bound struct {
	Min  int64 `json:"min"`
	Max  int64 `json:"max"`
	Last int64 `json:"last"`
}

// ShedCounts are records that were dropped at the source.
type ShedCounts struct {
	ByGate    int64 `json:"by_gate"`    // the gate did not admit them
	ByQueue   int64 `json:"by_queue"`   // the queue at the source was full
	ByDegrade int64 `json:"by_degrade"` // not admitted, and not among those that were kept
}
