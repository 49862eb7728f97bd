package result

// Lag is what operators and users see of the backlog, over the measured window
// and the drain.
type Lag struct {
	// PeakRecords and FinalRecords are consumer lag: high watermark − committed.
	PeakRecords  *int64 `json:"peak_records"`
	FinalRecords *int64 `json:"final_records"`
	// BacklogPeakRecords is acked − delivered, sampled each interval.
	BacklogPeakRecords int64   `json:"backlog_peak_records"`
	TimeLagPeakNs      int64   `json:"time_lag_peak_ns"`
	Drained            bool    `json:"drained"` // everything acked was delivered before the drain's timeout
	DrainTimeS         float64 `json:"drain_time_s"`
	DrainPerS          float64 `json:"drain_per_s"` // delivered during the drain ÷ its length
}

// Consumer is how busy the consumers were in the measured window.
type Consumer struct {
	Members int `json:"members"`
	Workers int `json:"workers"` // records that can be worked on at once
	// Utilisation is simulated work done ÷ (workers × measured window); null
	// where there is no simulated work.
	Utilisation  *float64 `json:"utilisation"`
	CapacityPerS *float64 `json:"capacity_per_s"` // workers ÷ mean work; null likewise
	Polls        int64    `json:"polls"`          // that returned records
	EmptyPolls   int64    `json:"empty_polls"`
	Commits      int64    `json:"commits"`
	CommitErrors int64    `json:"commit_errors"`
	Rebalances   int64    `json:"rebalances"`
}

// Backpressure is what the controller did in the measured window.
type Backpressure struct {
	Controller string  `json:"controller"`
	Excess     string  `json:"excess"`
	MaxLag     int64   `json:"max_lag_records"`
	ResumeLag  int64   `json:"resume_lag_records,omitempty"`
	PollNs     int64   `json:"poll_ns"`
	Decisions  int64   `json:"decisions"` // that changed the gate
	ClosedS    float64 `json:"closed_s"`  // time the gate was closed
	// DeferredPeak is the longest the source's queue ever was.
	DeferredPeakRecords int64 `json:"deferred_peak_records"`
	// SignalAgeMaxNs is the oldest lag reading that a decision rested on.
	SignalAgeMaxNs int64 `json:"signal_age_max_ns"`
}
