package result

import "time"

// Interval is a line of intervals.ndjson: what happened between two points of
// the run's time axis. Counts are of events in the interval, whatever phase
// their records belong to; a record is counted when the worker settles it.
type Interval struct {
	StartNs int64  `json:"start_ns"` // nominal, as is EndNs: multiples of the period
	EndNs   int64  `json:"end_ns"`
	Phase   string `json:"phase"`
	// ReadFromNs and ReadToNs are when the reading began that the counts are differences
	// to, and theirs; ReadSpanNs is how long theirs took. All are 0 before method 2.
	ReadFromNs int64 `json:"read_from_ns,omitempty"`
	ReadToNs   int64 `json:"read_to_ns,omitempty"`
	ReadSpanNs int64 `json:"read_span_ns,omitempty"`

	Scheduled  int64 `json:"scheduled"`
	Admitted   int64 `json:"admitted"`
	Shed       int64 `json:"shed"`
	Acked      int64 `json:"acked"`
	Failed     int64 `json:"failed"`
	Unknown    int64 `json:"unknown"`
	Delivered  int64 `json:"delivered"`
	Duplicates int64 `json:"duplicates"`
	Processed  int64 `json:"processed"`
	// AckedByQueue are records that the application acknowledged for the first time, and
	// Redelivered deliveries of records that it had been handed before; null without a
	// queue.
	AckedByQueue *int64 `json:"acked_by_queue,omitempty"`
	Redelivered  *int64 `json:"redelivered,omitempty"`

	// At the end of the interval.
	DeferredRecords int64 `json:"deferred_records"`
	InFlightRecords int64 `json:"in_flight_records"`
	// QueueInFlight are the records that the consumers of a queue had fetched and not
	// settled; null without a queue.
	QueueInFlight *int64  `json:"queue_in_flight,omitempty"`
	LagRecords    *int64  `json:"lag_records"`                                 // latest sample; null before the first
	LagPartitions []int64 `json:"lag_records_partition" jsonschema:"nullable"` // by partition, same sample
	LagSampledNs  *int64  `json:"lag_sampled_ns"`                              // when that sample was taken
	// LagSamples are all samples that were taken in the interval.
	LagSamples       []LagSample `json:"lag_samples,omitempty"`
	BacklogRecords   int64       `json:"backlog_records"`
	BacklogPartition []int64     `json:"backlog_records_partition,omitempty"`
	// UndeliveredRecords are the records whose users have no answer: they wait at the
	// source, are in flight, or are acked and have not arrived. Failed and unknown ones have
	// ended. Null where nobody produces or consumes, or records carry no stamp.
	UndeliveredRecords *int64 `json:"undelivered_records,omitempty"`
	// TimeLagNs is the age of the oldest of them: at least 1 if there is one, else 0.
	TimeLagNs int64 `json:"time_lag_ns"`
	GateOpen  *bool `json:"gate_open"` // null without backpressure
	// BoundRecords is the lag that the controller allows now; null where it has no
	// bound.
	BoundRecords *int64 `json:"bound_records,omitempty"`

	// By metric; a metric without a sample in the interval is absent.
	Time map[string]IntervalTime `json:"time"`

	ProcessCPUCores *float64  `json:"process_cpu_cores"`
	ProcessRSSBytes *int64    `json:"process_rss_bytes"`
	BrokerCPUCores  []float64 `json:"broker_cpu_cores,omitempty"`
	GCCycles        int64     `json:"gc_cycles"`

	// Late are the processes of the run that did not answer in time: their part of the
	// interval is what they told last, and what happened in them meanwhile is in a later
	// one.
	Late []string `json:"late,omitempty"`
}

// Seconds is the time that the counts are of, by which a rate divides.
func (i Interval) Seconds() float64 {
	if length := i.ReadToNs - i.ReadFromNs; length > 0 {
		return time.Duration(length).Seconds()
	}
	return time.Duration(i.EndNs - i.StartNs).Seconds()
}

// LagSample is one reading of the consumer lag.
type LagSample struct {
	AtNs       int64   `json:"at_ns"` // when it was asked for
	Records    int64   `json:"lag_records"`
	Partitions []int64 `json:"lag_records_partition"`
}

// IntervalTime is the short form of a distribution. Records of the warm-up that
// land in the interval are part of it.
type IntervalTime struct {
	Count int64 `json:"count"`
	P50Ns int64 `json:"p50_ns"`
	P99Ns int64 `json:"p99_ns"`
	MaxNs int64 `json:"max_ns"`
}

// Event is a line of events.ndjson.
type Event struct {
	AtNs int64 `json:"at_ns"`
	// phase, backpressure, rebalance, fault, warning, error, consumer, process, broker, queue
	Kind   string         `json:"kind"`
	What   string         `json:"what"`
	Reason string         `json:"reason,omitempty"`
	Data   map[string]any `json:"data,omitempty"`
}
