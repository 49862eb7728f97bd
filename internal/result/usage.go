package result

// Process is what the tool itself used in the measured window. With several processes, figures are
// sums, and pauses and delays those of the worst process without a limit (see
// Confined.SchedDelayNs). Null figures are not available on this operating system.
type Process struct {
	CPUUserS   *float64 `json:"cpu_user_s"`
	CPUSystemS *float64 `json:"cpu_system_s"`
	CPUCores   *float64 `json:"cpu_cores"` // CPU seconds ÷ window
	// CPUCoresMax is the highest of the complete intervals of the window; null without one.
	CPUCoresMax   *float64 `json:"cpu_cores_max,omitempty"`
	CPUPerRecord  *float64 `json:"cpu_per_record_ns"`   // CPU time ÷ acked
	HostCPUBusy   *float64 `json:"host_cpu_busy_ratio"` // of all cores, all processes
	HostCPUStolen *float64 `json:"host_cpu_stolen_ratio"`
	// CPUWaitRatio is the part of their runnable time that the process's threads waited for a core.
	// Absent if the system does not report it, and with several processes.
	CPUWaitRatio *float64 `json:"cpu_wait_ratio,omitempty"`
	RSSPeakBytes *int64   `json:"rss_peak_bytes"`
	GCCycles     int64    `json:"gc_cycles"`
	GCPauseNs    Quantile `json:"gc_pause"`
	// GCPauseTotalNs is the sum of the garbage collector's pauses in all processes; null if a
	// process did not report it.
	GCPauseTotalNs *int64   `json:"gc_pause_total_ns,omitempty"`
	GCCPUS         float64  `json:"gc_cpu_s"`
	SchedDelayNs   Quantile `json:"scheduling_delay"` // a runnable goroutine waiting for a thread
	AllocBytes     int64    `json:"alloc_bytes"`
	AllocObjects   int64    `json:"alloc_objects"`
	// CorpusBytes and CorpusTimeNs are the size of the payloads and the time to generate them
	// before the run.
	CorpusBytes  int64 `json:"corpus_bytes"`
	CorpusTimeNs int64 `json:"corpus_time_ns"`
}

// Quantile is a short summary of a runtime distribution, in nanoseconds.
type Quantile struct {
	Count int64 `json:"count"`
	P50Ns int64 `json:"p50_ns"`
	P99Ns int64 `json:"p99_ns"`
	MaxNs int64 `json:"max_ns"`
}

// Broker is what one local broker used in the measured window.
type Broker struct {
	ID         int32    `json:"id"`
	CPUUserS   *float64 `json:"cpu_user_s"`
	CPUSystemS *float64 `json:"cpu_system_s"`
	CPUCores   *float64 `json:"cpu_cores"`
	// CPUCoresMax is as in Process.
	CPUCoresMax *float64 `json:"cpu_cores_max,omitempty"`
	// CoresAllowed is how many cores the operating system lets the broker use; null if the system
	// does not report it.
	CoresAllowed *float64 `json:"cores_allowed,omitempty"`
	// CPUWaitRatio is as in Process.
	CPUWaitRatio *float64 `json:"cpu_wait_ratio,omitempty"`
	RSSPeakBytes *int64   `json:"rss_peak_bytes"`
	DiskRead     *int64   `json:"disk_read_bytes"`
	DiskWritten  *int64   `json:"disk_written_bytes"`
	LogSizeBytes *int64   `json:"log_size_bytes,omitempty"`
	HeapMaxBytes int64    `json:"heap_max_bytes,omitempty"`
	// Metrics are the broker's own metrics; absent if it was not asked.
	Metrics *BrokerMetrics `json:"metrics,omitempty"`
}

// PayloadFile describes the file whose records a run sent. The sizes are of its records; percentiles are nearest ranks.
type PayloadFile struct {
	Name      string  `json:"name"`   // without its folder
	Format    string  `json:"format"` // lines, length-prefixed
	SHA256    string  `json:"sha256"` // in hexadecimal
	Records   int64   `json:"records"`
	Bytes     int64   `json:"bytes"` // of all records
	MinBytes  int     `json:"min_bytes"`
	MeanBytes float64 `json:"mean_bytes"`
	P50Bytes  int     `json:"p50_bytes"`
	P99Bytes  int     `json:"p99_bytes"`
	MaxBytes  int     `json:"max_bytes"`
}

// Compression is the result of one codec on batches of this run's records.
type Compression struct {
	Codec             string  `json:"codec"`
	Level             int     `json:"level"`
	Batches           int     `json:"batches"`
	BatchBytes        int64   `json:"batch_bytes"`       // mean, uncompressed
	Ratio             float64 `json:"ratio"`             // uncompressed ÷ compressed
	CompressMBPerS    float64 `json:"compress_mb_per_s"` // of uncompressed bytes, one core
	DecompressMBPerS  float64 `json:"decompress_mb_per_s"`
	UsedByThisRun     bool    `json:"used_by_this_run"`
	UncompressedBytes int64   `json:"uncompressed_bytes"`
	CompressedBytes   int64   `json:"compressed_bytes"`
}
