package result

import (
	"time"

	"kafkabench.example/kafka-bench/internal/measure/latency"
)

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
	// AckedBytes and DeliveredBytes are keys and values, of Acked and of all records that
	// the consumers were handed; null before they were counted.
	AckedBytes     *int64 `json:"acked_bytes,omitempty"`
	DeliveredBytes *int64 `json:"delivered_bytes,omitempty"`
	// AckedByQueue are records that the application acknowledged for the first time, and
	// Redelivered deliveries of records that it had been handed before; null without a
	// queue.
	AckedByQueue *int64 `json:"acked_by_queue,omitempty"`
	Redelivered  *int64 `json:"redelivered,omitempty"`
	// DeadLettered are different records that were found in the topic of dead letters; null
	// without a queue, and before they were counted.
	DeadLettered *int64 `json:"dead_lettered,omitempty"`
	// AckedPartition and DeliveredPartition are by partition: acknowledged records, and
	// records that the consumers of all groups were handed, duplicates and unreadable ones
	// included. Absent from a topic of more than MaxPartitions, and where nobody produces
	// or consumes.
	AckedPartition     []int64 `json:"acked_records_partition,omitempty"`
	DeliveredPartition []int64 `json:"delivered_records_partition,omitempty"`
	// Groups has what is of one group, where there are several.
	Groups []IntervalGroup `json:"groups,omitempty"`

	// At the end of the interval.
	DeferredRecords int64 `json:"deferred_records"`
	InFlightRecords int64 `json:"in_flight_records"`
	// QueueInFlight are the records that the consumers of a queue had fetched and not
	// settled; null without a queue.
	QueueInFlight *int64 `json:"queue_in_flight,omitempty"`
	// QueueOldestUnackedNs is the age of the oldest record that the consumers of a queue
	// were handed and have not acknowledged, from its intended time on: at least 1 if there
	// is one, else 0. Records of a fill have no intended time and do not count: null if all of
	// these records, or all records of the run, are of a fill, and without a queue.
	QueueOldestUnackedNs *int64 `json:"queue_oldest_unacked_ns,omitempty"`

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
	// UnderReplicated and Leaderless are the partitions of the topic that had fewer replicas
	// in sync than replicas, and no leader, at the last look before the end of the interval;
	// null if no look was answered in the interval, nor in the two periods of the looks
	// (sampling.replicas) before its end, and in a run without a fault of a broker, which has no looks.
	UnderReplicated *int64 `json:"under_replicated_partitions,omitempty"`
	Leaderless      *int64 `json:"leaderless_partitions,omitempty"`

	// By metric; a metric without a sample in the interval is absent.
	Time map[string]IntervalTime `json:"time"`

	// ProcessCPUCores is, as all CPU of an interval, null if the interval is shorter than 100 ms
	// or its readings are less than 50 ms apart: CPU is counted in ticks of 10 ms.
	ProcessCPUCores *float64  `json:"process_cpu_cores"`
	ProcessRSSBytes *int64    `json:"process_rss_bytes"`
	BrokerCPUCores  []float64 `json:"broker_cpu_cores,omitempty"` // as in Brokers, of those that know it
	GCCycles        int64     `json:"gc_cycles"`
	// Processes are the run's own process and those that work for it; absent where nothing
	// is known of them.
	Processes []IntervalProcess `json:"processes,omitempty"`
	// Brokers are the local brokers that ran at the end of the interval.
	Brokers []IntervalBroker `json:"brokers,omitempty"`
	// Host is the whole machine; absent where the operating system does not tell.
	Host *IntervalHost `json:"host,omitempty"`

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

// TimeLag is TimeLagNs; nil if nobody knows which records have arrived, as of records that carry
// no stamp.
func (i Interval) TimeLag() *int64 {
	if i.UndeliveredRecords == nil && i.TimeLagNs == 0 && i.InFlightRecords+i.BacklogRecords > 0 {
		return nil
	}
	return &i.TimeLagNs
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
	// P90Ns and MeanNs are null in intervals of before they were taken, and in those of
	// other tools.
	P90Ns  *int64   `json:"p90_ns,omitempty"`
	MeanNs *float64 `json:"mean_ns,omitempty"`
}

// IntervalTimeOf returns a summary as an interval has it.
func IntervalTimeOf(s latency.Summary) IntervalTime {
	return IntervalTime{Count: s.Count, P50Ns: s.P50Ns, P99Ns: s.P99Ns, MaxNs: s.MaxNs, P90Ns: &s.P90Ns,
		MeanNs: &s.MeanNs}
}

// MaxPartitions is up to how many partitions an interval has counts of each.
const MaxPartitions = 128

// IntervalGroup is one of several consumer groups in an interval.
type IntervalGroup struct {
	Name           string `json:"name"`
	LagRecords     *int64 `json:"lag_records"`     // of the latest sample; null before the first
	BacklogRecords *int64 `json:"backlog_records"` // null where others go on writing
	Delivered      int64  `json:"delivered"`       // in the interval, duplicates included
}

// IntervalProcess is what Go's runtime says of one process of the run. A figure is null
// where the process did not tell it in time.
type IntervalProcess struct {
	// Name is run for the run's own process, and otherwise as events name it: process 0.
	Name      string `json:"name"`
	PID       int    `json:"pid"`
	HeapBytes *int64 `json:"heap_bytes"` // of objects, dead ones that are not swept yet included
	// GCPauseNs is for how long the collector had stopped everything in the interval, in
	// sum; null in the first interval of a process.
	GCPauseNs  *int64 `json:"gc_pause_ns"`
	Goroutines *int64 `json:"goroutines"`
}

// IntervalBroker is one local broker in an interval. What is of the interval is null in
// the first one of a broker's process, and what the operating system does not tell.
type IntervalBroker struct {
	ID          int32    `json:"id"`
	CPUCores    *float64 `json:"cpu_cores"`
	RSSBytes    *int64   `json:"rss_bytes"` // at the end; null of one that has just been killed
	DiskRead    *int64   `json:"disk_read_bytes"`
	DiskWritten *int64   `json:"disk_written_bytes"`
}

// IntervalHost is the whole machine in an interval: all processes, all disks that are
// devices of their own, and all network interfaces, loopback included.
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
	// Data says the same as What, for programs. Of a rebalance: consumer, group, change
	// (assigned, revoked, lost), partitions. Of a fault: name, target, hit, state (begin,
	// end). Of a broker: broker, state (stopped, serving); or partition, leader_before,
	// leader; or under_replicated. Of a consumer: consumer, state (killed, paused), records
	// that it took along, partitions, and groups (group, records, partitions) if there are several; of
	// all consumers: state (work, fetching, drained), backlog_records.
	Data map[string]any `json:"data,omitempty"`
}
