package judge

import (
	"iter"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/measure/ledger"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/bottleneck"
)

// Evidence is everything that a run leaves for its result. Times are nanoseconds on the
// run's axis, on which the measured window begins at 0.
type Evidence struct {
	Setup
	Window

	Start, End Reading           // at the two ends of the measured window
	Sent       snapshot.Snapshot // of all producers, once they were closed; with Last
	AckedIn    []int64           // by partition: records that the consumers are to read, the fill included
	Groups     []Group           // none if nobody consumes
	Fill       *Fill             // nil if the run did not fill its topic
	Queue      *Queue            // nil if the consumers do not take records from a queue
	Times      *latency.Collector
	// Histograms are the entries of the run's histogram log, in their order.
	Histograms iter.Seq2[latency.LogEntry, error]

	Seen    Seen
	Faults  Faults
	Machine Machine
	Failed  Failures
	Agents  []result.Agent // by index; none in a run of one machine
	// ClockErrorNs is by how much at most a time is wrong whose record one agent sent and
	// another received. ClocksUnknown are agents that do not know it of such records.
	ClockErrorNs  int64
	ClocksUnknown []string
	// Warnings come first in the verdict.
	Warnings []string
	// Caveats returns more warnings for a run whose figures are complete; nil is none.
	Caveats func(*result.Run) []string
}

// Setup is what the run was to do, and on what.
type Setup struct {
	Scenario scenario.Scenario // as it ran
	Recorded result.Settings   // as it was asked for
	Info     result.Info
	Limits   bottleneck.Settings
	// VolumeBoundedBytes is to what the volume was reduced because the disk had no room
	// for it; 0 if it was not.
	VolumeBoundedBytes int64
	// VolumeBoundedRecords is the same of load.records.
	VolumeBoundedRecords int64
	// Expected is how many records the schedule has in the measured window; nil if that is
	// a random variable, or there is no schedule.
	Expected *float64
	Stamped  bool // records carry stamps, so that their books can be kept
	// ReadTo is how far a run without producers reads in each partition; nil if the run has
	// producers, or others go on writing.
	ReadTo []int64
	// ReadsFill is that the consumers begin with what the topic was filled with.
	ReadsFill bool
	// LocalBrokers is that the brokers run on this machine, so that it can be read what
	// they use.
	LocalBrokers bool
	// PlainTimers is that the scenario asks for the precise pacer, which this operating
	// system does not have.
	PlainTimers bool
	Works       bool // the consumers work on records
	// MeanWorkS is how long they do, in seconds; 0 if that changes.
	MeanWorkS float64
}

// Window is when the parts of the run began and ended.
type Window struct {
	StartedNs     int64 // the warm-up began
	EndNs         int64 // the measured window ended
	FinishedNs    int64 // the drain ended
	ConsumersNs   int64 // consumers that were held began to fetch; 0 if not within window or drain
	FetchingNs    int64 // the load began, or the consumers were let go, whichever came later
	ReadyNs       int64 // how long the consumers took to have their partitions
	LateAtFinish  int64 // first deliveries between EndNs and FinishedNs
	Interrupted   bool
	Drained       bool    // the consumers have reached everything
	PartitionEnds []int64 // once nothing was produced any more; nil if they are not known
}

// Reading is what counts up, as it was at one moment.
type Reading struct {
	AtNs              int64
	Sending, Fetching snapshot.Traffic
	Members           []snapshot.MemberCounts // by group
	Gate              snapshot.Gate
	QueueAcked        int64
	QueueTraffic      QueueTraffic
}

// QueueTraffic is what the clients of a queue's members sent and received.
type QueueTraffic struct {
	Requests      map[string]int64 // by Kafka's name for their type
	Written, Read int64            // bytes
}

// Group is a consumer group at the end of the run.
type Group struct {
	Name      string
	Workers   int
	Standing  snapshot.Group
	Receivers []*ledger.Receiver
	Gaps      []snapshot.Gaps // without a delivery, by partition; nil if they are not known
	// AtStop is how far it had come when the drain ended, by partition.
	AtStop []snapshot.Reached
}

// Queue is what is known of a queue that its group did not count.
type Queue struct {
	Settled []*ledger.Receiver // what was acknowledged or is a dead letter, by partition
	// Empty reports whether the drain found that the queue had nothing left to deliver.
	Empty        bool
	InFlightPeak int64
}

// Seen is what was observed while the run went on.
type Seen struct {
	BacklogPeak, TimeLagPeakNs int64
	BacklogPeaks               []int64            // by group; nil if the window did not begin
	Held                       []snapshot.Backlog // by group, when the window began; nil if nothing was held
	// GrowthPerS is the slope of the backlog, with its standard error; nil if they are not known.
	GrowthPerS, GrowthErrorPerS *float64
	Changes                     []result.Change
	Looks                       []Look
	Lag                         Lag
	Replicas                    *Replicas // nil if no fault befalls a broker
	Intervals                   []Tally   // of the measured window
	WindowEnd                   *result.WindowEnd
}

// Lag is the consumer lag as the brokers report it.
type Lag struct {
	Peak, PeakAtLeast *int64                    // since the measured window began; nil if it was not read
	Peaks             []int64                   // by group; nil if it was not read
	Window            *LagPeak                  // in the measured window; nil if it was not read there
	OldestSignalNs    int64                     // the greatest age of a reading that a gate rested on
	Final             *int64                    // once everything was delivered; nil if it was not read then
	Finals            []*int64                  // by group
	FinalPartitions   []result.PartitionOffsets // of the first group
}

// LagPeak is the highest lag of the topic and of a partition. AtLeast is the highest that
// the lag was at the least; nil if that was not asked.
type LagPeak struct {
	Records, Partition int64
	AtLeast            *LagPeak
}

// Faults are those of the scenario.
type Faults struct {
	Injected   []result.Fault // in the order in which they began
	NotDone    []string       // why others were not done in the measured window
	NotInDrain []string       // likewise, in the drain
}

// Machine is what the tool, the brokers and the machine did between the two readings.
type Machine struct {
	Process     result.Process
	Brokers     []result.Broker
	Gone        []int32 // brokers that ran at the first reading and not at the second
	HostUse     *result.HostUse
	Storage     *result.Storage
	Compression []result.Compression
	// ConsumerProcesses is how many processes have the consumers; 0 is the tool's own.
	ConsumerProcesses int
	Confined          *result.Confined // nil if they have no limits
	UsageUnknown      error            `json:"-"` // why it is not known what processes used; nil if it is
}

// Failures are what ended before the run did, or could not be written.
type Failures struct {
	Producers, Consumers error
	ConsumersDied        bool // a process of the consumers ended
	Journal              error
}
