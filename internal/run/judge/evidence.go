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

// Evidence is everything from which the result of a run is computed. Times are nanoseconds on the
// run's axis, on which the measured window begins at 0.
type Evidence struct {
	Setup
	Window

	Start, End Reading           // of the measured window
	Sent       snapshot.Snapshot // of all producers, after they were closed; with Last
	AckedIn    []int64           // by partition: acked records that the consumers are to read, the fill included
	Groups     []Group           // none without consumers
	Fill       *Fill             // nil if the run did not fill its topic
	Queue      *Queue            // nil without a queue
	Times      *latency.Collector
	Histograms iter.Seq2[latency.LogEntry, error] // the run's histogram log, in its order

	Seen    Seen
	Faults  Faults
	Machine Machine
	Failed  Failures
	Agents  []result.Agent // by index; none in a run of one machine
	// ClockErrorNs is the greatest possible error of a time whose record one agent sent and another
	// received. ClocksUnknown names the agents for which this error is unknown.
	ClockErrorNs  int64
	ClocksUnknown []string
	// Warnings come first in the verdict.
	Warnings []string
	// Caveats returns further warnings for a run whose figures are complete; nil returns none.
	Caveats func(*result.Run) []string
}

// Setup is the configuration of the run and of its cluster.
type Setup struct {
	Scenario scenario.Scenario // as it ran
	Recorded result.Settings   // as asked for
	Info     result.Info
	Limits   bottleneck.Settings
	// VolumeBoundedBytes is the reduced volume of a run whose disk had too little space; 0 if it
	// was not reduced. VolumeBoundedRecords is the same for load.records.
	VolumeBoundedBytes   int64
	VolumeBoundedRecords int64
	// Expected is how many records the schedule has in the measured window; nil if random or
	// without a schedule.
	Expected *float64
	// PayloadFile is nil if the payloads were generated.
	PayloadFile *result.PayloadFile
	Stamped     bool // records have stamps, which the books need
	// ReadTo is the offset up to which a run without producers reads each partition; nil if the run
	// has producers, or if others go on writing.
	ReadTo    []int64
	ReadsFill bool // the consumers begin with the records that filled the topic
	// LocalBrokers reports whether the brokers run on this machine.
	LocalBrokers bool
	// PlainTimers reports that the scenario asks for the precise pacer, which this operating system
	// lacks.
	PlainTimers bool
	Works       bool // the consumers work on records
	// MeanWorkS is the mean time of this work in seconds; 0 if it changes during the run.
	MeanWorkS float64
}

// Window has the times of the parts of the run.
type Window struct {
	StartedNs     int64 // start of the warm-up
	EndNs         int64 // end of the measured window
	FinishedNs    int64 // end of the drain
	ConsumersNs   int64 // held consumers began to fetch; 0 if not within window or drain
	FetchingNs    int64 // the load began, or held consumers began to fetch, whichever came later
	ReadyNs       int64 // how long the consumers waited for their partitions
	LateAtFinish  int64 // first deliveries between EndNs and FinishedNs
	Interrupted   bool
	Drained       bool    // the consumers have reached everything
	PartitionEnds []int64 // end offsets after the producers had stopped; nil if unknown
}

// Reading has the running totals at one moment.
type Reading struct {
	AtNs              int64
	Sending, Fetching snapshot.Traffic
	Members           []snapshot.MemberCounts // by group
	Gate              snapshot.Gate
	QueueAcked        int64
	QueueTraffic      QueueTraffic
}

// QueueTraffic is the traffic of the clients of a queue's members.
type QueueTraffic struct {
	Requests      map[string]int64 // by the API name of the request
	Written, Read int64            // bytes
}

// Group is a consumer group at the end of the run.
type Group struct {
	Name      string
	Workers   int
	Standing  snapshot.Group
	Receivers []*ledger.Receiver
	Gaps      []snapshot.Gaps // times without a delivery, by partition; nil if unknown
	// AtStop is the group's progress by partition when the drain ended.
	AtStop []snapshot.Reached
}

// Queue is what is known of a queue in addition to the counts of its group.
type Queue struct {
	Settled []*ledger.Receiver // by partition: records that the application acknowledged, and dead letters
	// Empty reports whether the queue had nothing left to deliver after the drain.
	Empty        bool
	InFlightPeak int64
}

// Seen is what the run observed while it went on.
type Seen struct {
	BacklogPeak, TimeLagPeakNs int64
	BacklogPeaks               []int64            // by group; nil if the window did not begin
	Held                       []snapshot.Backlog // by group, at the start of the window; nil if no consumer was held
	// GrowthPerS is the slope of the backlog over GrowthReadings, with its standard error; nil if unknown.
	GrowthPerS, GrowthErrorPerS *float64
	GrowthReadings              int
	Changes                     []result.Change
	Looks                       []Look
	Lag                         Lag
	Replicas                    *Replicas // nil if no fault hits a broker
	Intervals                   []Tally   // of the measured window
	WindowEnd                   *result.WindowEnd
}

// Lag is the consumer lag as the brokers report it.
type Lag struct {
	Peak, PeakAtLeast *int64                    // since the measured window began; nil if not read
	Peaks             []int64                   // by group; nil if not read
	Window            *LagPeak                  // in the measured window; nil if not read there
	OldestSignalNs    int64                     // greatest age of a lag reading that a gate used
	Final             *int64                    // after all records were delivered; nil if not read then
	Finals            []*int64                  // by group
	FinalPartitions   []result.PartitionOffsets // of the first group
}

// LagPeak is the highest lag of the topic and of one partition. AtLeast is the highest lower bound
// of the lag; nil if that was not read.
type LagPeak struct {
	Records int64
	AtLeast *LagPeak
}

// Faults are the faults of the scenario.
type Faults struct {
	Injected   []result.Fault // in the order in which they began
	NotDone    []string       // why other faults were not done in the measured window
	NotInDrain []string       // why other faults were not done in the drain
}

// Machine is the usage of the tool, the brokers and the machine between the two readings.
type Machine struct {
	Process     result.Process
	Brokers     []result.Broker
	Gone        []int32 // brokers that ran at the first reading and not at the second
	HostUse     *result.HostUse
	Storage     *result.Storage
	Compression []result.Compression
	// ConsumerProcesses is how many child processes run the consumers; 0 is none.
	ConsumerProcesses int
	Confined          *result.Confined // nil if the consumers have no limits
	UsageUnknown      error            `json:"-"` // why the usage of the processes is unknown; nil if it is known
}

// Failures says what ended before the run did, and what could not be written.
type Failures struct {
	Producers, Consumers error
	ConsumersDied        bool // a process of the consumers ended
	Journal              error
}
