package result

// Bottleneck names what kept the run from more, with the evidence for it. Package
// bottleneck has the rules.
type Bottleneck struct {
	// Resource is what limited the run: one of the names of package bottleneck. It is
	// "offered load" where the run did all that it was asked for, and "not known" where
	// nothing that was measured was saturated, or the run is invalid.
	Resource string `json:"resource"`
	// Saturation is how much of it was used, from 0 to 1.
	Saturation float64 `json:"saturation"`
	Evidence   string  `json:"evidence"` // a sentence with the figures
	Remedy     string  `json:"remedy,omitempty"`
	// Resources are all that were judged, the most saturated first. What could not be
	// measured is not among them.
	Resources []Resource `json:"resources"`
}

// Resource is one thing that a run may have too little of.
type Resource struct {
	Name       string  `json:"name"`
	Saturation float64 `json:"saturation"` // 0 to 1
	Evidence   string  `json:"evidence"`
}

// Clients is how the clients under test used their connections in the measured
// window; a part is absent where the driver does not time its requests.
type Clients struct {
	Produce *ClientRequests `json:"produce,omitempty"`
	Fetch   *ClientRequests `json:"fetch,omitempty"`
}

// ClientRequests are the requests of one type that carry records, of all clients.
type ClientRequests struct {
	Count int64   `json:"count"`
	PerS  float64 `json:"per_s"`
	// MeanMs is from before a request was written until its response was read.
	MeanMs *float64 `json:"mean_ms"` // null where there was none
	// InFlightMean is how many were under way on average, by Little's law: their time ÷
	// the window. Connections is what they shared, one for each client and broker.
	InFlightMean float64 `json:"in_flight_mean"`
	Connections  int     `json:"connections"`

	// What one carried, null where the driver does not count it: batches with their
	// records and bytes before compression, and of a fetch what was read from the socket.
	Batches         *float64 `json:"batches_per_request"`
	RecordsPerBatch *float64 `json:"records_per_batch"`
	BytesPerBatch   *float64 `json:"bytes_per_batch"`
	BytesPerRequest *float64 `json:"wire_bytes_per_request"`
}

// HostUse is what the whole machine did in the measured window, all processes
// together; null where the operating system does not tell.
type HostUse struct {
	Disks    []DiskUse `json:"disks,omitempty"`
	Networks []NetUse  `json:"networks,omitempty"`
	// The page cache at the end of the window, and the most of it that waited to be
	// written to disk at any look.
	PageCacheBytes *int64 `json:"page_cache_bytes"`
	DirtyPeakBytes *int64 `json:"dirty_peak_bytes"`
	// IOPressureRatio is the part of the window in which some task or other could not go
	// on for want of a disk, whosever it was.
	IOPressureRatio *float64 `json:"io_pressure_ratio,omitempty"`
}

// DiskUse is one disk.
type DiskUse struct {
	Name         string   `json:"name"`
	ReadBytes    int64    `json:"read_bytes"`
	WrittenBytes int64    `json:"written_bytes"`
	BusyRatio    *float64 `json:"busy_ratio"` // of the window in which a request was under way
	// QueueMean is how many requests were under way on average, and RequestMeanMs how
	// long one took with its wait for others; null where there was none.
	QueueMean     *float64 `json:"queue_mean,omitempty"`
	RequestMeanMs *float64 `json:"request_mean_ms,omitempty"`
	// HoldsLogs tells that a local broker keeps its log there.
	HoldsLogs bool `json:"holds_logs,omitempty"`
	// YardstickBytesPerS is what the disk takes of sequential writes, as it was calibrated,
	// and YardstickRatio the bytes written per second ÷ that; null if it was not.
	YardstickBytesPerS *float64 `json:"yardstick_bytes_per_s,omitempty"`
	YardstickRatio     *float64 `json:"yardstick_ratio,omitempty"`
}

// NetUse is one network interface.
type NetUse struct {
	Name          string `json:"name"`
	ReceivedBytes int64  `json:"received_bytes"`
	SentBytes     int64  `json:"sent_bytes"`
	// CapacityBytesPerS is what it can carry in one direction; null where it does not
	// say, as loopback does not.
	CapacityBytesPerS *float64 `json:"capacity_bytes_per_s"`
}

// BrokerMetrics is what a broker tells about itself, over the measured window; null
// where it does not tell.
type BrokerMetrics struct {
	Requests []RequestUse `json:"requests,omitempty"` // by type: Produce, FetchConsumer, FetchFollower, …

	BytesInPerS  *float64 `json:"bytes_in_per_s"`
	BytesOutPerS *float64 `json:"bytes_out_per_s"`

	// How much of their time the threads waited for work, on average and in the worst
	// reading.
	HandlerIdleRatio    *float64 `json:"request_handler_idle_ratio"`
	HandlerIdleRatioMin *float64 `json:"request_handler_idle_ratio_min"`
	NetworkIdleRatio    *float64 `json:"network_processor_idle_ratio"`
	NetworkIdleRatioMin *float64 `json:"network_processor_idle_ratio_min"`

	UnderReplicatedPeak *int64   `json:"under_replicated_partitions_peak"`
	LogFlushes          *int64   `json:"log_flushes"`
	LogFlushMeanMs      *float64 `json:"log_flush_mean_ms"`
	GCCount             *int64   `json:"gc_count"`
	GCTimeMs            *float64 `json:"gc_time_ms"`
	HeapPeakBytes       *int64   `json:"heap_peak_bytes"`
}

// RequestUse is one type of request at one broker: how many, and where their time
// went, on average.
type RequestUse struct {
	Type    string   `json:"type"`
	Count   int64    `json:"count"`
	PerS    float64  `json:"per_s"`
	TotalMs *float64 `json:"total_mean_ms"`
	// The phases: waiting for a handler, in the handler, waiting for other brokers or
	// for data, throttled, waiting for a network thread, being sent. Null where the
	// broker does not tell.
	QueueMs         *float64 `json:"request_queue_mean_ms"`
	LocalMs         *float64 `json:"local_mean_ms"`
	RemoteMs        *float64 `json:"remote_mean_ms"`
	ThrottleMs      *float64 `json:"throttle_mean_ms"`
	ResponseQueueMs *float64 `json:"response_queue_mean_ms"`
	ResponseSendMs  *float64 `json:"response_send_mean_ms"`
}
