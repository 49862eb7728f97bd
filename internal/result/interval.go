package result

import (
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

// Interval is a line of intervals.ndjson. Counts are of events in the interval, of records of any
// phase. The result of a send counts when the producer handles it, which may be after the response.
type Interval struct {
	StartNs int64  `json:"start_ns"` // nominal, as is EndNs: a multiple of the period
	EndNs   int64  `json:"end_ns"`
	Phase   string `json:"phase"`
	// ReadFromNs and ReadToNs are when the counters were read at the start and the end; the counts
	// are the difference. ReadSpanNs is how long the second reading took. All are 0 in runs of
	// method 1.
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
	// AckedBytes and DeliveredBytes are keys and values of Acked and of all records that consumers
	// received; null in older runs.
	AckedBytes     *int64 `json:"acked_bytes,omitempty"`
	DeliveredBytes *int64 `json:"delivered_bytes,omitempty"`
	// AckedByQueue are first acknowledgements by the application, and Redelivered are repeated
	// deliveries; null without a queue.
	AckedByQueue *int64 `json:"acked_by_queue,omitempty"`
	Redelivered  *int64 `json:"redelivered,omitempty"`
	// DeadLettered are distinct records in the dead-letter topic; null without a queue and in older
	// runs.
	DeadLettered *int64 `json:"dead_lettered,omitempty"`
	// AckedPartition and DeliveredPartition are acked records, and records that the consumers of
	// all groups received, by partition, including duplicates and unreadable ones. Absent for a
	// topic of more than MaxPartitions, and without producers or consumers.
	AckedPartition     []int64 `json:"acked_records_partition,omitempty"`
	DeliveredPartition []int64 `json:"delivered_records_partition,omitempty"`
	// Groups has the figures of each group, if there are several.
	Groups []IntervalGroup `json:"groups,omitempty"`

	// At the end of the interval.
	DeferredRecords int64 `json:"deferred_records"`
	InFlightRecords int64 `json:"in_flight_records"`
	// QueueInFlight are the records that the consumers of a queue fetched and did not settle; null
	// without a queue.
	QueueInFlight *int64 `json:"queue_in_flight,omitempty"`
	// QueueOldestUnackedNs is the age, from its intended time, of the oldest record that consumers
	// of a queue received and did not acknowledge: at least 1, or 0 without such a record. Records
	// of a fill have no intended time and do not count. Null without a queue, and if only records
	// of a fill remain.
	QueueOldestUnackedNs *int64 `json:"queue_oldest_unacked_ns,omitempty"`

	LagRecords    *int64  `json:"lag_records"`                                 // latest sample; null before the first
	LagPartitions []int64 `json:"lag_records_partition" jsonschema:"nullable"` // by partition, same sample
	LagSampledNs  *int64  `json:"lag_sampled_ns"`                              // when that sample was taken
	// LagSamples are all samples taken in the interval.
	LagSamples       []LagSample `json:"lag_samples,omitempty"`
	BacklogRecords   int64       `json:"backlog_records"`
	BacklogPartition []int64     `json:"backlog_records_partition,omitempty"`
	// UndeliveredRecords wait at the source, are in flight, or are acked and not delivered. Failed
	// and unknown records do not count. Null without producers, consumers or stamps.
	UndeliveredRecords *int64 `json:"undelivered_records,omitempty"`
	// TimeLagNs is the age of the oldest undelivered record: at least 1, or 0 if there is none.
	TimeLagNs int64 `json:"time_lag_ns"`
	GateOpen  *bool `json:"gate_open"` // null without backpressure
	// BoundRecords is the lag that the controller allows now; null if it has no bound.
	BoundRecords *int64 `json:"bound_records,omitempty"`
	// ThrottledNs is the sum of the throttle times of the clients' responses: how long quotas held
	// the clients back, all connections together. Absent means none.
	ThrottledNs int64 `json:"throttled_ns,omitempty"`
	// UnderReplicated and Leaderless are the topic's partitions with fewer in-sync replicas than
	// replicas, and without a leader, at the last reading before the interval's end. Null without a
	// fault of a broker, and if that reading is before the interval's start and more than two
	// periods (sampling.replicas) before its end.
	UnderReplicated *int64 `json:"under_replicated_partitions,omitempty"`
	Leaderless      *int64 `json:"leaderless_partitions,omitempty"`

	// By metric; a metric without a sample in the interval is absent.
	Time map[string]IntervalTime `json:"time"`

	// ProcessCPUCores is null if the interval is shorter than 100 ms or its readings are less than
	// 50 ms apart, because CPU is counted in ticks of 10 ms. The same holds for all CPU figures of
	// an interval.
	ProcessCPUCores *float64  `json:"process_cpu_cores"`
	ProcessRSSBytes *int64    `json:"process_rss_bytes"`
	BrokerCPUCores  []float64 `json:"broker_cpu_cores,omitempty"` // in the order of Brokers, without unknown ones
	GCCycles        int64     `json:"gc_cycles"`
	// Processes are the run's own process and its child processes; absent if nothing is known of
	// them.
	Processes []IntervalProcess `json:"processes,omitempty"`
	// Brokers are the local brokers that ran at the end of the interval.
	Brokers []IntervalBroker `json:"brokers,omitempty"`
	// Host is the whole machine; absent if the operating system does not report it.
	Host *IntervalHost `json:"host,omitempty"`

	// Late are the run's processes that did not answer in time. Their part of the interval repeats
	// their last answer, and a later interval has the difference.
	Late []string `json:"late,omitempty"`
}

// Seconds returns the time between the readings of the counts, to divide a rate by.
func (i Interval) Seconds() float64 {
	if length := i.ReadToNs - i.ReadFromNs; length > 0 {
		return time.Duration(length).Seconds()
	}
	return time.Duration(i.EndNs - i.StartNs).Seconds()
}

// TimeLag returns TimeLagNs; nil if it is unknown, as for records without a stamp.
func (i Interval) TimeLag() *int64 {
	if i.UndeliveredRecords == nil && i.TimeLagNs == 0 && i.InFlightRecords+i.BacklogRecords > 0 {
		return nil
	}
	return &i.TimeLagNs
}

// LagSample is one reading of the consumer lag.
type LagSample struct {
	AtNs       int64   `json:"at_ns"` // when the request was sent
	Records    int64   `json:"lag_records"`
	Partitions []int64 `json:"lag_records_partition"`
}

// IntervalTime is a short summary of a distribution. It includes records of the warm-up that end in
// the interval.
type IntervalTime struct {
	Count int64 `json:"count"`
	P50Ns int64 `json:"p50_ns"`
	P99Ns int64 `json:"p99_ns"`
	MaxNs int64 `json:"max_ns"`
	// P90Ns and MeanNs are null in older runs and in those of other tools.
	P90Ns  *int64   `json:"p90_ns,omitempty"`
	MeanNs *float64 `json:"mean_ns,omitempty"`
}

// IntervalTimeOf converts a summary for an interval.
func IntervalTimeOf(s latency.Summary) IntervalTime {
	return IntervalTime{Count: s.Count, P50Ns: s.P50Ns, P99Ns: s.P99Ns, MaxNs: s.MaxNs, P90Ns: &s.P90Ns,
		MeanNs: &s.MeanNs}
}

// MaxPartitions is the largest number of partitions with separate counts in an interval.
const MaxPartitions = 128

// IntervalGroup is one of several consumer groups in an interval.
type IntervalGroup struct {
	Name           string `json:"name"`
	LagRecords     *int64 `json:"lag_records"`     // of the latest sample; null before the first
	BacklogRecords *int64 `json:"backlog_records"` // null if others write to the topic
	Delivered      int64  `json:"delivered"`       // in the interval, including duplicates
}

// IntervalProcess has figures of Go's runtime of one process of the run. A figure is null if the
// process did not report it in time.
type IntervalProcess struct {
	// Name is run for the run's own process, else as events name it: process 0.
	Name      string `json:"name"`
	PID       int    `json:"pid"`
	HeapBytes *int64 `json:"heap_bytes"` // of objects, including dead ones that are not swept yet
	// GCPauseNs is the total time in the interval in which the garbage collector stopped the
	// process; null in a process's first interval.
	GCPauseNs  *int64 `json:"gc_pause_ns"`
	Goroutines *int64 `json:"goroutines"`
}

// IntervalBroker is one local broker in an interval. Figures are null if the operating system does
// not report them; differences are null in a process's first interval.
type IntervalBroker struct {
	ID          int32    `json:"id"`
	CPUCores    *float64 `json:"cpu_cores"`
	RSSBytes    *int64   `json:"rss_bytes"` // at the end; null for a broker that was just killed
	DiskRead    *int64   `json:"disk_read_bytes"`
	DiskWritten *int64   `json:"disk_written_bytes"`
}

// IntervalHost is the whole machine in an interval: all processes, all physical disks, and all
// network interfaces including loopback.
type IntervalHost struct {
	CPUBusyRatio    *float64 `json:"cpu_busy_ratio"` // of all cores
	CPUStolenRatio  *float64 `json:"cpu_stolen_ratio"`
	DiskRead        *int64   `json:"disk_read_bytes"`
	DiskWritten     *int64   `json:"disk_written_bytes"`
	NetworkReceived *int64   `json:"network_received_bytes"`
	NetworkSent     *int64   `json:"network_sent_bytes"`
}

// Event is a line of events.ndjson.
type Event struct {
	AtNs int64 `json:"at_ns"`
	// phase, backpressure, rebalance, fault, warning, error, consumer, process, broker, queue
	Kind   string `json:"kind"`
	What   string `json:"what"`
	Reason string `json:"reason,omitempty"`
	// Data has the content of What for programs. rebalance: consumer, group, change (assigned,
	// revoked, lost), partitions. fault: name, target, hit, state (begin, end). broker: broker,
	// state (stopped, serving); or partition, leader_before, leader; or under_replicated. consumer:
	// consumer, state (killed, paused), its records, partitions, and groups (group, records,
	// partitions) if there are several; for all consumers: state (work, fetching, drained),
	// backlog_records.
	Data map[string]any `json:"data,omitempty"`
}
