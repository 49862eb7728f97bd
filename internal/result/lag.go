package result

// Lag is what operators and users see of the backlog, over the measured window
// and the drain. Of several groups the slowest leads, at every moment.
type Lag struct {
	// PeakRecords and FinalRecords are consumer lag: high watermark − committed.
	PeakRecords  *int64 `json:"peak_records"`
	FinalRecords *int64 `json:"final_records"`
	// PeakAtLeastRecords is the peak of what the lag was at the least: by the committed
	// offsets after the high watermarks, where PeakRecords goes by those before. The
	// peak of the lag at these readings lies between the two. Absent where the
	// producers are in one process, whose gate waits for a reading.
	PeakAtLeastRecords *int64 `json:"peak_at_least_records,omitempty"`
	// BacklogPeakRecords is acked − delivered, sampled each interval and at each of
	// Changes. Where nobody
	// produces it is what the topic held at the start and was not read yet.
	BacklogPeakRecords int64 `json:"backlog_peak_records"`
	TimeLagPeakNs      int64 `json:"time_lag_peak_ns"`
	// BacklogGrowthPerS is the slope of the backlog over the measured window in
	// records/s, by least squares over the ends of the intervals; with its
	// standard error, below which a slope says nothing. Null where there were
	// fewer than three, or nobody consumed.
	BacklogGrowthPerS      *float64 `json:"backlog_growth_per_s,omitempty"`
	BacklogGrowthErrorPerS *float64 `json:"backlog_growth_error_per_s,omitempty"`
	Drained                bool     `json:"drained"` // everything acked was delivered before the drain's timeout
	// DrainFromNs is when the drain began: at the measured window's end, or when
	// consumers that were held for the drain were let go.
	DrainFromNs int64 `json:"drain_from_ns,omitempty"`
	// DrainTimeS is how long after that the last record was delivered, or how long the
	// whole drain took if it was not drained.
	DrainTimeS float64 `json:"drain_time_s"`
	// DrainPerS is the first deliveries at or after the window's end, to all groups, ÷
	// DrainTimeS.
	DrainPerS float64 `json:"drain_per_s"`
	// Changes are the times at which the consumers began to work otherwise.
	Changes []Change `json:"changes,omitempty"`
	// FinalPartitions are the group's offsets once all was delivered, of the first group.
	FinalPartitions []PartitionOffsets `json:"final_partitions,omitempty"`
}

// PartitionOffsets is where a group stands in one partition.
type PartitionOffsets struct {
	Partition int32 `json:"partition"`
	Committed int64 `json:"committed_offset"`
	End       int64 `json:"end_offset"` // the high watermark
	Lag       int64 `json:"lag_records"`
}

// Change is a time at which the consumers began to work otherwise, and what became
// of the backlog that they had then. It is drained once the slowest group's backlog
// is back to normal, which a change may come too late, or too early, to see. Until
// then drain_time_s = (backlog − normal) ÷ (delivered/s − offered/s), as far as
// what is offered is acked.
type Change struct {
	AtNs           int64  `json:"at_ns"`
	What           string `json:"what"` // work 1ms; fetching: the consumers were held until then
	BacklogRecords int64  `json:"backlog_records"`
	// NormalRecords is the backlog of a group that keeps up: what the mean offered
	// load brings in 50 ms, or a record for each of the group's workers if that is
	// more.
	NormalRecords int64 `json:"normal_records"`
	// OfferedPerS and DeliveredPerS, of the group that was the slowest, are over the
	// time until the backlog was drained, or until the next change or the end.
	OfferedPerS   float64 `json:"offered_per_s"`
	DeliveredPerS float64 `json:"delivered_per_s"`
	// DrainedAtNs and DrainTimeS are null where the backlog was never above normal,
	// or was not drained before the next change or the end.
	DrainedAtNs *int64   `json:"drained_at_ns"`
	DrainTimeS  *float64 `json:"drain_time_s"`
	// SettlingS is how long after the change a controller had the system where it
	// held it from then on, until the next change or the end of the window: what is
	// delivered within 10 % of the level that it reached, and under a controller with
	// a target, the time lag within 1.2 times that. Null where there was no controller,
	// or where it did not settle in time.
	SettlingS *float64 `json:"settling_s,omitempty"`
}

// Group is one of several consumer groups, each of which reads everything.
type Group struct {
	Name     string   `json:"name"`
	Delivery Delivery `json:"delivery"` // of the records of the measured window
	Consumer Consumer `json:"consumer"`
	Lag      GroupLag `json:"lag"`
}

// GroupLag is what Lag says, of one group of several.
type GroupLag struct {
	PeakRecords        *int64 `json:"peak_records"`
	FinalRecords       *int64 `json:"final_records"`
	BacklogPeakRecords int64  `json:"backlog_peak_records"`
	Drained            bool   `json:"drained"`
}

// Consumer is how busy the consumers were in the measured window, those of all
// groups together.
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
	// CommitMeanMs is how long one took, as its consumer saw it; absent where there was
	// none.
	CommitMeanMs *float64 `json:"commit_mean_ms,omitempty"`
	CommitErrors int64    `json:"commit_errors"`
	Rebalances   int64    `json:"rebalances"`
	// ReadyNs is how long the consumers took until all of them had their partitions, from
	// when the first was opened, the slowest group's. FirstRecordNs is how long they were
	// without a record, from when the load began, or held ones were let go.
	ReadyNs       *int64 `json:"ready_ns,omitempty"`
	FirstRecordNs *int64 `json:"first_record_ns,omitempty"`
	// Processes is over how many the consumers of each group were spread, where it was
	// not the tool's own; Confined how each was confined.
	Processes int       `json:"processes,omitempty"`
	Confined  *Confined `json:"confined,omitempty"`
}

// Confined is what a process was allowed, and who saw to it.
type Confined struct {
	CPU         float64 `json:"cpu_cores,omitempty"` // 0 is no limit
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	// By is cgroup v2 or cgroup v1 where the operating system holds the process to it,
	// and runtime where only the process itself does (GOMAXPROCS, GOMEMLIMIT): then
	// Note says what that can't hold.
	By   string `json:"by"`
	Note string `json:"note,omitempty"`
	// CPUCoresUsed is what one process used of it, the busiest; ThrottledS is for how
	// long the operating system held the processes back, all together; null where it
	// does not tell.
	CPUCoresUsed *float64 `json:"cpu_cores_used"`
	ThrottledS   *float64 `json:"throttled_s"`
	// SchedDelayNs and GCPauseNs are those of the worst process where the limit is one
	// of cores: that goroutines wait is then the limit's doing, and not in
	// Process.SchedDelayNs and GCPauseNs, by which the tool is judged.
	SchedDelayNs *Quantile `json:"scheduling_delay,omitempty"`
	GCPauseNs    *Quantile `json:"gc_pause,omitempty"`
}
