package result

// Lag describes the backlog over the measured window and the drain. With several groups it is the
// slowest group's at every moment.
type Lag struct {
	// PeakRecords and FinalRecords are consumer lag: high watermark − committed offset.
	PeakRecords  *int64 `json:"peak_records"`
	FinalRecords *int64 `json:"final_records"`
	// PeakAtLeastRecords is the peak of a lower bound of the lag: it uses committed offsets read
	// after the high watermarks, PeakRecords those read before. The real peak at these readings
	// lies between the two. Absent if the producers are in one process: its gate admits records
	// only for commits that a reading has seen.
	PeakAtLeastRecords *int64 `json:"peak_at_least_records,omitempty"`
	// BacklogPeakRecords is acked − delivered, sampled at each interval and each of Changes.
	// Without producers it is what the topic held at the start and was not read.
	BacklogPeakRecords int64 `json:"backlog_peak_records"`
	TimeLagPeakNs      int64 `json:"time_lag_peak_ns"`
	// BacklogGrowthPerS is the slope of the backlog over the measured window in records/s, by least
	// squares over the ends of the intervals. A slope below its standard error is not significant.
	// Null with fewer than three intervals, or without consumers.
	BacklogGrowthPerS      *float64 `json:"backlog_growth_per_s,omitempty"`
	BacklogGrowthErrorPerS *float64 `json:"backlog_growth_error_per_s,omitempty"`
	// BacklogReadings are the ends of intervals that the slope is of; 0 if it is null.
	BacklogReadings int  `json:"backlog_growth_readings,omitempty"`
	Drained         bool `json:"drained"` // all acked records were delivered before the drain's timeout
	// DrainFromNs is when the drain began: at the measured window's end or, if consumers were held
	// until the drain (consume.hold), when they began to fetch.
	DrainFromNs int64 `json:"drain_from_ns,omitempty"`
	// DrainTimeS is the time from DrainFromNs to the last delivery, or the length of the drain if
	// it was not drained.
	DrainTimeS float64 `json:"drain_time_s"`
	// DrainPerS is the number of first deliveries at or after the window's end, to all groups, ÷
	// DrainTimeS.
	DrainPerS float64 `json:"drain_per_s"`
	// Changes are the times when the consumers' work changed.
	Changes []Change `json:"changes,omitempty"`
	// FinalPartitions are the first group's offsets after the last delivery.
	FinalPartitions []PartitionOffsets `json:"final_partitions,omitempty"`
}

// PartitionOffsets has a group's offsets in one partition.
type PartitionOffsets struct {
	Partition int32 `json:"partition"`
	Committed int64 `json:"committed_offset"`
	End       int64 `json:"end_offset"` // the high watermark
	Lag       int64 `json:"lag_records"`
}

// Change is a time when the consumers' work changed, and how the backlog at that time was drained.
// The backlog is drained once the slowest group's backlog is normal again. Until then drain_time_s
// = (backlog − normal) ÷ (delivered/s − offered/s), if all offered records are acked.
type Change struct {
	AtNs           int64  `json:"at_ns"`
	What           string `json:"what"` // work 1ms; fetching: held consumers began to fetch
	BacklogRecords int64  `json:"backlog_records"`
	// NormalRecords is the backlog of a group that keeps up: 50 ms of the mean offered load, or one
	// record per worker if that is more.
	NormalRecords int64 `json:"normal_records"`
	// OfferedPerS and DeliveredPerS are of the slowest group, until the backlog was drained, the
	// next change or the end.
	OfferedPerS   float64 `json:"offered_per_s"`
	DeliveredPerS float64 `json:"delivered_per_s"`
	// DrainedAtNs and DrainTimeS are null if the backlog was never above normal, or was not drained
	// before the next change or the end.
	DrainedAtNs *int64   `json:"drained_at_ns"`
	DrainTimeS  *float64 `json:"drain_time_s"`
	// SettlingS is the time from the change until the system reaches its final level and stays
	// there to the next change or the window's end. The system is at that level if deliveries are
	// within 10 % of it and, if the controller has a target, the time lag is within 1.2 times the
	// target. Null without a controller, or if it did not settle.
	SettlingS *float64 `json:"settling_s,omitempty"`
}

// Group is one of several consumer groups; each reads all records.
type Group struct {
	Name     string   `json:"name"`
	Delivery Delivery `json:"delivery"` // of the records of the measured window
	Consumer Consumer `json:"consumer"`
	Lag      GroupLag `json:"lag"`
}

// GroupLag is the Lag of one of several groups.
type GroupLag struct {
	PeakRecords        *int64 `json:"peak_records"`
	FinalRecords       *int64 `json:"final_records"`
	BacklogPeakRecords int64  `json:"backlog_peak_records"`
	Drained            bool   `json:"drained"`
}

// Consumer says how busy the consumers of all groups were in the measured window.
type Consumer struct {
	Members int `json:"members"`
	Workers int `json:"workers"` // records that can be processed at once
	// Utilisation is simulated work done ÷ (workers × measured window); null without simulated
	// work.
	Utilisation  *float64 `json:"utilisation"`
	CapacityPerS *float64 `json:"capacity_per_s"` // workers ÷ mean work; null without simulated work
	Polls        int64    `json:"polls"`          // that returned records
	EmptyPolls   int64    `json:"empty_polls"`
	Commits      int64    `json:"commits"`
	// CommitMeanMs is the mean time of a commit as its consumer saw it; absent without commits.
	CommitMeanMs *float64 `json:"commit_mean_ms,omitempty"`
	CommitErrors int64    `json:"commit_errors"`
	Rebalances   int64    `json:"rebalances"`
	// ReadyNs is the time from opening the first consumer until all have their partitions, of the
	// slowest group. FirstRecordNs is the time to the first record, from the start of the load or,
	// if consumers were held, from when they began to fetch.
	ReadyNs       *int64 `json:"ready_ns,omitempty"`
	FirstRecordNs *int64 `json:"first_record_ns,omitempty"`
	// Processes is how many child processes each group's consumers use; absent without child
	// processes. Confined is the limit of each process.
	Processes int       `json:"processes,omitempty"`
	Confined  *Confined `json:"confined,omitempty"`
}

// Confined is the limit of a process, and what enforced it.
type Confined struct {
	CPU         float64 `json:"cpu_cores,omitempty"` // 0 is no limit
	MemoryBytes int64   `json:"memory_bytes,omitempty"`
	// By is cgroup v2 or cgroup v1 if the operating system enforces the limit, and runtime if only
	// the Go runtime does (GOMAXPROCS, GOMEMLIMIT). Note says what is not limited.
	By   string `json:"by"`
	Note string `json:"note,omitempty"`
	// CPUCoresUsed is what the busiest process used; ThrottledS is how long the operating system
	// throttled all processes together. Null if it does not report them.
	CPUCoresUsed *float64 `json:"cpu_cores_used"`
	ThrottledS   *float64 `json:"throttled_s"`
	// SchedDelayNs and GCPauseNs are those of the worst process, if cores are limited. The limit
	// causes these waits, so Process.SchedDelayNs and GCPauseNs, which judge the tool, do not
	// include them.
	SchedDelayNs *Quantile `json:"scheduling_delay,omitempty"`
	GCPauseNs    *Quantile `json:"gc_pause,omitempty"`
}
