package result

// Bottleneck names what limited the run, with the evidence. Package bottleneck has the rules.
type Bottleneck struct {
	// Resource is one of the names of package bottleneck. It is "offered load" if the run did all
	// that was asked, and "not known" if nothing measured was saturated, or the run is invalid.
	Resource string `json:"resource"`
	// Saturation is the used part of the resource, from 0 to 1.
	Saturation float64 `json:"saturation"`
	Evidence   string  `json:"evidence"` // a sentence with the figures
	Remedy     string  `json:"remedy,omitempty"`
	// Resources are all resources that were judged, the most saturated first. Those that could not
	// be measured are absent.
	Resources []Resource `json:"resources"`
}

// Resource is one resource that can limit a run.
type Resource struct {
	Name       string  `json:"name"`
	Saturation float64 `json:"saturation"` // 0 to 1
	Evidence   string  `json:"evidence"`
}

// Clients is how the clients under test used their connections in the measured window. A part is
// absent if the driver does not time those requests.
type Clients struct {
	// ReadOverS is the time between the two readings of the counts, near the window's ends, by which
	// rates are divided; absent from older runs.
	ReadOverS float64 `json:"read_over_s,omitempty"`

	Produce *ClientRequests `json:"produce,omitempty"`
	Fetch   *ClientRequests `json:"fetch,omitempty"`
}

// ClientRequests are the requests of one type that transfer records, of all clients.
type ClientRequests struct {
	Count int64   `json:"count"`
	PerS  float64 `json:"per_s"`
	// MeanMs is the time from before a request was written until its response was read.
	MeanMs *float64 `json:"mean_ms"` // null without requests
	// InFlightMean is the mean number of requests in flight, by Little's law: the sum of their
	// times ÷ the window. Connections is the number of connections for them, one for each client
	// and broker.
	InFlightMean float64 `json:"in_flight_mean"`
	Connections  int     `json:"connections"`
	// ThrottledS is the sum of the responses' throttle times: how long quotas held the clients back,
	// all connections together. Absent means none, or that the driver does not report it.
	ThrottledS float64 `json:"throttled_s,omitempty"`

	// Batches per request, and records and bytes (before compression) per batch. For a fetch,
	// BytesPerRequest are the bytes read from the socket. All four are null if the driver does not
	// count them.
	Batches         *float64 `json:"batches_per_request"`
	RecordsPerBatch *float64 `json:"records_per_batch"`
	BytesPerBatch   *float64 `json:"bytes_per_batch"`
	BytesPerRequest *float64 `json:"wire_bytes_per_request"`
}

// HostUse is what all processes of the machine used in the measured window; null if the operating
// system does not report it.
type HostUse struct {
	Disks    []DiskUse `json:"disks,omitempty"`
	Networks []NetUse  `json:"networks,omitempty"`
	// PageCacheBytes is the page cache at the end of the window. DirtyPeakBytes is the peak, over
	// all readings, of its part that waited to be written to disk.
	PageCacheBytes *int64 `json:"page_cache_bytes"`
	DirtyPeakBytes *int64 `json:"dirty_peak_bytes"`
	// IOPressureRatio is the part of the window in which some task of the machine waited for a
	// disk.
	IOPressureRatio *float64 `json:"io_pressure_ratio,omitempty"`
}

// DiskUse is one disk.
type DiskUse struct {
	Name         string   `json:"name"`
	ReadBytes    int64    `json:"read_bytes"`
	WrittenBytes int64    `json:"written_bytes"`
	BusyRatio    *float64 `json:"busy_ratio"` // part of the window with a request in progress
	// QueueMean is the mean number of requests in progress. RequestMeanMs is the mean time of a
	// request with its wait; null without requests.
	QueueMean     *float64 `json:"queue_mean,omitempty"`
	RequestMeanMs *float64 `json:"request_mean_ms,omitempty"`
	// HoldsLogs is true if a local broker has its log on this disk.
	HoldsLogs bool `json:"holds_logs,omitempty"`
	// YardstickBytesPerS is the calibrated rate of sequential writes, and YardstickRatio the bytes
	// written per second ÷ that rate; null without a calibration.
	YardstickBytesPerS *float64 `json:"yardstick_bytes_per_s,omitempty"`
	YardstickRatio     *float64 `json:"yardstick_ratio,omitempty"`
}

// NetUse is one network interface.
type NetUse struct {
	Name          string `json:"name"`
	ReceivedBytes int64  `json:"received_bytes"`
	SentBytes     int64  `json:"sent_bytes"`
	// CapacityBytesPerS is its capacity in one direction; null if it is unknown, as for loopback.
	CapacityBytesPerS *float64 `json:"capacity_bytes_per_s"`
}

// BrokerMetrics are a broker's own metrics over the measured window; null if it does not report
// them.
type BrokerMetrics struct {
	// ReadOverS is the time between the two readings of the counts, near the window's ends, by which
	// rates are divided; absent from older runs, and without two readings.
	ReadOverS float64 `json:"read_over_s,omitempty"`

	Requests []RequestUse `json:"requests,omitempty"` // by type: Produce, FetchConsumer, FetchFollower, …

	BytesInPerS  *float64 `json:"bytes_in_per_s"`
	BytesOutPerS *float64 `json:"bytes_out_per_s"`

	// The part of their time in which the threads waited for work: the mean, and the worst reading.
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

// RequestUse is one type of request at one broker: the count, and the mean times.
type RequestUse struct {
	Type    string   `json:"type"`
	Count   int64    `json:"count"`
	PerS    float64  `json:"per_s"`
	TotalMs *float64 `json:"total_mean_ms"`
	// The phases: waiting for a handler, in the handler, waiting for other brokers or for data,
	// throttled, waiting for a network thread, being sent. Null if the broker does not report them.
	QueueMs         *float64 `json:"request_queue_mean_ms"`
	LocalMs         *float64 `json:"local_mean_ms"`
	RemoteMs        *float64 `json:"remote_mean_ms"`
	ThrottleMs      *float64 `json:"throttle_mean_ms"`
	ResponseQueueMs *float64 `json:"response_queue_mean_ms"`
	ResponseSendMs  *float64 `json:"response_send_mean_ms"`
}
