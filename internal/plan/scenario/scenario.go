// Package scenario reads, completes and validates the YAML that describes a run: topic, load,
// consumers, phases, backpressure, sweeps. A preset is a scenario that is built into the tool.
// Values that a file leaves out come from Defaults. The resolved scenario is saved with the result,
// so nothing about a run is implicit.
//
// ReadSuite applies, in this order: the defaults; the preset or file; the files merged over it;
// each variant; the overrides of the command line; each cell of the matrix. Then Resolve fills in
// derived values, and Validate checks the result. All mistakes are reported at once, each with its
// place and a remedy.
//
// Files to know: scenario.go, defaults.go, decode.go, validate*.go, queue.go, suite.go, matrix.go,
// variants.go, quick.go, amount.go (how much a run writes), fates.go (who runs at the time of a
// fault), bound.go (the smallest useful lag bound), environment.go, presets/.
package scenario

import (
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Scenario describes one run. The yaml tags define the keys of a scenario file, of overrides, and
// of the JSON in run.json.
type Scenario struct {
	Name        string `yaml:"name"` // part of the run folder's name
	Description string `yaml:"description,omitempty"`
	// Driver is the client under test, by its name on the command line.
	Driver       string       `yaml:"driver"`
	Cluster      Cluster      `yaml:"cluster"`
	Topic        Topic        `yaml:"topic"`
	Load         Load         `yaml:"load"`
	Consume      Consume      `yaml:"consume"`
	Phases       Phases       `yaml:"phases"`
	Backpressure Backpressure `yaml:"backpressure"`
	// Faults are in ascending order of time.
	Faults   []ScheduledFault `yaml:"faults,omitempty"`
	Sampling Sampling         `yaml:"sampling"`
	Repeat   int              `yaml:"repeat"` // runs of this scenario, 1 to 1,000
}

// Cluster is the local cluster that a run starts. On an existing cluster it has no effect.
type Cluster struct {
	Version string            `yaml:"version,omitempty"` // release line of Kafka, such as 4.0; default: the tool's own
	Brokers int               `yaml:"brokers"`           // 1 to 9; default: as many as the topic's replication
	Heap    unit.Size         `yaml:"heap"`              // of each broker's JVM; default: 1 GiB for one broker, 512 MiB for each of several
	JVM     []string          `yaml:"jvm,omitempty"`     // further JVM options
	Config  map[string]string `yaml:"config,omitempty"`  // broker properties; they override the tool's own
	// Disks are existing folders. Each broker creates a folder in each of them for its log.dirs,
	// and the run removes these folders at its end. Default: a folder in the user's cache.
	Disks []string `yaml:"disks,omitempty"`
	// Metrics chooses how brokers report their metrics: jmx (an agent in the broker's process) or
	// none.
	Metrics string `yaml:"metrics"`
	// Warmup is how long new brokers get unrecorded load before the first run, because their JVM
	// compiles its hot code only then. 0 (none) to 1h.
	Warmup unit.Duration `yaml:"warmup"`
}

// Topic is the topic of a run. By default the run creates a topic and deletes it at the end.
// Existing names a topic to use instead. The run never deletes it, and keeps its partitions,
// replication and configuration; producers write to it.
type Topic struct {
	Existing string `yaml:"existing,omitempty"`
	// Name is the name of the new topic; default: the run's own name. If a topic of this name exists,
	// the run refuses to start and leaves the topic unchanged.
	Name        string `yaml:"name,omitempty"`
	Partitions  int    `yaml:"partitions"`  // 1 to 10,000
	Replication int    `yaml:"replication"` // 1 to 9
	// Fill is how many bytes of values the run writes into its new topic before the warm-up, at
	// full speed, with the records of Load. Consumers read them from the start of the measured
	// window. 0 is none.
	Fill unit.Size `yaml:"fill,omitempty"`
	// FillRecords is the same in records of all filling producers together, and FillRecordsEach in
	// records of each. At most one of the three is set.
	FillRecords     int64 `yaml:"fill_records,omitempty"`
	FillRecordsEach int64 `yaml:"fill_records_each,omitempty"`
	// FillProducers is how many producers fill. 0 is as many as the load has, at most 4.
	FillProducers int               `yaml:"fill_producers,omitempty"`
	Config        map[string]string `yaml:"config,omitempty"`
}

// Load is the offered load and the settings of the producers.
type Load struct {
	// Rate is the offered load of all producers together. unit.MaxRate is a closed loop. With
	// steps, Rate is the rate of the first step.
	Rate    unit.Rate `yaml:"rate"`
	Arrival Arrival   `yaml:"arrival"`
	// Producers is the number of workers, each with its own pacer. With 0 the run only reads an
	// existing topic, and the other fields of Load have no effect.
	Producers int `yaml:"producers"`
	// Processes is the number of operating system processes that share the producers. 1 is the
	// tool's own process; more are child processes, each with its own gate. At most Producers.
	Processes int `yaml:"processes"`
	// Clients is the number of producing clients. If there are fewer clients than producers,
	// producers share them. If there are more, each producer has several, each for some of the
	// partitions. 0 is one for each producer.
	Clients      int    `yaml:"clients"`
	Pacer        string `yaml:"pacer"`        // frugal, precise
	Partitioning string `yaml:"partitioning"` // sticky, round-robin, key
	Record       Record `yaml:"record"`
	// Volume ends the load and the measured window early, once that many bytes of values were
	// offered. Each producer stops after the record that reaches its part of the volume. 0 is no
	// bound.
	Volume unit.Size `yaml:"volume,omitempty"`
	// Records does the same after exactly that many records of all producers together, and
	// RecordsEach after that many of each. At most one of the three is set.
	Records     int64 `yaml:"records,omitempty"`
	RecordsEach int64 `yaml:"records_each,omitempty"`
	// Round makes each producer of a closed loop send that many records, wait until all are acked
	// or failed, and repeat. 0 is no rounds.
	Round int `yaml:"round,omitempty"`
	// MaxRate bounds the rate of what has no schedule: a closed loop, and a fill. 0 is no bound.
	MaxRate unit.Rate `yaml:"max_rate,omitempty"`

	Acks        string `yaml:"acks"`        // "0", "1", "all"
	Compression string `yaml:"compression"` // none, gzip, snappy, lz4, zstd
	// Level is the codec's own compression level: gzip and lz4 1 to 9, zstd 1 to 22. 0 is the
	// codec's default.
	Level           int           `yaml:"level"`
	Linger          unit.Duration `yaml:"linger"`
	Batch           Batch         `yaml:"batch"` // upper bound of a batch, uncompressed
	Idempotent      bool          `yaml:"idempotent"`
	InFlight        int           `yaml:"in_flight"` // produce requests on each connection
	DeliveryTimeout unit.Duration `yaml:"delivery_timeout"`
	// MaxBuffered bounds the records in flight of one client. Further records wait at the source,
	// where they are counted.
	MaxBuffered int `yaml:"max_buffered"`
	// Client has settings of the producing clients, by the library's own names. Package native
	// lists those that are refused for every library; the driver knows the others.
	Client map[string]string `yaml:"client,omitempty"`
}

// Batch is the upper bound of a batch in bytes, or OneRecord. In YAML it is a size or "1 record".
type Batch unit.Size

// OneRecord sends each record in a batch of its own.
const OneRecord Batch = -1

// Arrival is the arrival process. burst uses Peak, Length and Period, with the burst at the end of
// each period. ramp uses To and Over; spike uses Peak, At and Length; steps uses Steps. The base
// rate is Load.Rate. Times count from the start of the measured window. The warm-up uses the first
// rate of the process. In YAML the name of a process is short for {process: name}.
type Arrival struct {
	Process string        `yaml:"process"` // constant, poisson, burst, ramp, steps, spike
	Peak    unit.Rate     `yaml:"peak,omitempty"`
	Length  unit.Duration `yaml:"length,omitempty"`
	Period  unit.Duration `yaml:"period,omitempty"`
	To      unit.Rate     `yaml:"to,omitempty"`
	Over    unit.Duration `yaml:"over,omitempty"` // default: the whole measured window
	At      unit.Duration `yaml:"at,omitempty"`
	Steps   []Step        `yaml:"steps,omitempty"`
}

// Step is a constant rate for a period. The last step lasts until the end, and may omit its time.
type Step struct {
	Rate unit.Rate     `yaml:"rate"`
	For  unit.Duration `yaml:"for"`
}

// Record describes the records.
type Record struct {
	Size    Size    `yaml:"size"`
	Payload Payload `yaml:"payload"`
	// Stamp is the place of the stamp by which a record is timed and checked: in its value, which
	// then has at least 44 bytes, or in a header, which takes 48 bytes more. Default: value, or
	// header for the records of a file.
	Stamp string `yaml:"stamp"` // value, header
	Seed  uint64 `yaml:"seed"`  // of all random choices of a run; the same seed gives the same bytes
	Keys  Keys   `yaml:"keys"`
}

// Payload is what the records' values hold: generated bytes of a class (random, zeros, text, json,
// logline, mixed), or the records of a file, in order, and again from the first. In YAML the name of
// a class stands for generated bytes.
type Payload struct {
	Class string `yaml:"-"` // "" with a file
	// File is the file's path, of at most 64 MiB. In a scenario file the path is relative to the
	// scenario's folder and must not leave it; with --set it may be any path. The resolved scenario
	// has the absolute path.
	File string `yaml:"file,omitempty"`
	// Format is "lines" if each line is a record, without its end, or "length-prefixed" if each
	// record follows its length, four bytes, big-endian. Default: lines.
	Format string `yaml:"format,omitempty"` // lines, length-prefixed
	// SHA256 is the checksum of the file, in hexadecimal: another content is refused. Default: that
	// of the file as the run finds it.
	SHA256 string `yaml:"sha256,omitempty"`
}

// Size is the size of a record's value, including the stamp. In YAML it is one size (512B) or a
// mapping: {uniform: [64B, 1KiB]}, {normal: [1KiB, 200B]} (mean and standard deviation) or {list:
// [64B, 64B, 4KiB]} (each entry equally likely). For the records of a file, the resolved scenario
// has {file: [40B, 512B, 3kB]}: the smallest, mean and largest size.
type Size struct {
	Distribution string      `yaml:"-"` // fixed, uniform, normal, list, file
	Values       []unit.Size `yaml:"-"`
}

// Keys are the records' keys. In YAML the name of a distribution is short for {distribution: name}.
type Keys struct {
	Distribution string  `yaml:"distribution"` // none, sequential, uniform, zipf
	Count        int     `yaml:"count,omitempty"`
	Skew         float64 `yaml:"skew,omitempty"` // zipf exponent, above 1
}

// Consume describes the consumers. Each group reads all records.
type Consume struct {
	Consumers int `yaml:"consumers"` // of each group; 0: no consumers
	Groups    int `yaml:"groups"`    // 1 to 100
	// Group is the name of the new group; default: the run's own name. Several groups append their
	// numbers. If a group of this name exists, the run refuses to start.
	Group string `yaml:"group,omitempty"`
	// Processes is the number of operating system processes that share the consumers of each group:
	// 1 is the tool's own process; more are child processes. At most Consumers.
	Processes int `yaml:"processes"`
	// CPU and Memory limit each process of the consumers. The operating system enforces them if it
	// can, else the Go runtime; the result says which. Consumers with a limit run in child
	// processes even if Processes is 1. 0 is no limit.
	CPU    float64   `yaml:"cpu,omitempty"`    // cores, 0.01 to 1,024
	Memory unit.Size `yaml:"memory,omitempty"` // at least 32MiB
	// Assignment is "group" if Kafka assigns partitions to the group's members. With "manual" the
	// tool assigns them, without a group and without commits.
	Assignment string `yaml:"assignment"`
	// From says where reading begins in an existing or filled topic: at the end that the run finds,
	// or at the start. Default: end, or start for a run without producers.
	From string `yaml:"from,omitempty"` // end, start
	// Hold keeps the consumers from fetching until a time. They stay members and poll.
	Hold Hold `yaml:"hold,omitempty"`
	// Parallel is "partition" for one worker per assigned partition of a member, or "consumer" for
	// one worker per member.
	Parallel string `yaml:"parallel"`
	// Queue makes the consumers acknowledge each record.
	Queue Queue `yaml:"queue,omitempty"`
	Work  Work  `yaml:"work"`
	// Changes replace Work at times of the measured window, in ascending order.
	Changes []WorkChange `yaml:"changes,omitempty"`
	// Commit says when processed offsets are committed.
	Commit   Commit `yaml:"commit"`
	Protocol string `yaml:"protocol"` // classic, consumer (KIP-848)
	// SessionTimeout is how long a member may be silent before Kafka assigns its partitions to
	// others. A member sets it only in the classic protocol, and the broker bounds it
	// (group.min.session.timeout.ms, 6s by default). 0 is the client's default.
	SessionTimeout unit.Duration `yaml:"session_timeout,omitempty"`
	// Assignor assigns partitions within a classic group: range, roundrobin, sticky or
	// cooperative-sticky. Default: the driver's own.
	Assignor string `yaml:"assignor,omitempty"`
	// PollTimeout is how long a poll waits for records. A poll that returns none counts as an empty
	// poll. 0 waits without limit.
	PollTimeout unit.Duration `yaml:"poll_timeout,omitempty"`
	Fetch       Fetch         `yaml:"fetch,omitempty"`
	// Client has settings of the consuming clients by the library's own names, as in Load.
	Client map[string]string `yaml:"client,omitempty"`
}

// Work is the simulated work for each record. fixed takes Time. uniform takes Time plus a uniform 0
// to Jitter. exponential has the mean Time. lognormal has the mean Time and the standard deviation
// Jitter; or Median, and Sigma of the logarithm; or the percentiles P50 and P99.
//
// In YAML a duration is short for {time: duration}. Without a distribution, Work is lognormal if it
// has a median or a p50, uniform if it has a jitter, else fixed.
type Work struct {
	Time         unit.Duration `yaml:"time"`
	Jitter       unit.Duration `yaml:"jitter"`
	Median       unit.Duration `yaml:"median,omitempty"`
	Sigma        float64       `yaml:"sigma,omitempty"` // above 0, up to 4
	P50          unit.Duration `yaml:"p50,omitempty"`
	P99          unit.Duration `yaml:"p99,omitempty"`
	Distribution string        `yaml:"distribution"` // fixed, uniform, exponential, lognormal
}

// WorkChange replaces the work from a time of the measured window.
type WorkChange struct {
	At   unit.Duration `yaml:"at"`
	Work Work          `yaml:"work"`
}

// Commit is an interval, or a commit after each batch: "1s" or "batch" in YAML.
type Commit struct {
	EachBatch bool
	Interval  unit.Duration
}

// Hold is the time when held consumers begin to fetch: a time of the measured window, or the drain.
// In YAML it is a duration, "drain" or "off". The zero value is "off".
type Hold struct {
	Drain bool
	Until unit.Duration
}

// Fetch has the consumers' fetch settings. 0 is the client's default.
type Fetch struct {
	MinBytes          unit.Size     `yaml:"min_bytes,omitempty"`
	MaxBytes          unit.Size     `yaml:"max_bytes,omitempty"`
	MaxPartitionBytes unit.Size     `yaml:"max_partition_bytes,omitempty"`
	MaxWait           unit.Duration `yaml:"max_wait,omitempty"`
}

// Phases are the lengths of a run's phases. Drain is a timeout: the drain ends once all acked
// records are delivered.
type Phases struct {
	Warmup  unit.Duration `yaml:"warmup"`
	Measure unit.Duration `yaml:"measure"`
	Drain   unit.Duration `yaml:"drain"`
}

// Backpressure is the controller at the source, its signal, and what happens to records that it
// holds back. Package backpressure defines the controllers. In YAML "off" is short for {controller:
// off}.
type Backpressure struct {
	Controller string `yaml:"controller"` // off, hysteresis, credit, latency, aimd, gradient
	// MaxLag is in records. hysteresis closes the gate above it. credit never lets the lag exceed
	// it. For latency, aimd and gradient it is an upper limit, and 0 is no limit.
	MaxLag    int64 `yaml:"max_lag,omitempty"`
	ResumeLag int64 `yaml:"resume_lag,omitempty"` // records; a closed hysteresis opens below it; default: half of MaxLag
	// Target is the time that a record may take from the gate to its consumer. latency aims at it;
	// aimd reduces the load above it (default 250ms).
	Target unit.Duration `yaml:"target,omitempty"`
	Poll   unit.Duration `yaml:"poll,omitempty"` // how often the lag is read
	// Signal says how far the consumers are: "committed" is the group's committed offsets;
	// "delivered" is what this run's consumers report before they commit.
	Signal string `yaml:"signal,omitempty"` // committed, delivered
	// Excess says what happens to a record that is held back. defer: it waits at the source; shed:
	// it is dropped; degrade: one in Keep records waits, and the others are dropped.
	Excess string `yaml:"excess,omitempty"` // defer, shed, degrade
	Keep   int64  `yaml:"keep,omitempty"`   // for degrade: 1 to 1,000,000; default: 10
	// MaxDeferred bounds the queue at the source, in records. Further records are shed.
	MaxDeferred int64 `yaml:"max_deferred,omitempty"`
	// Grace is how long the lag may be unknown before Blind applies: "closed" admits nothing,
	// "open" admits everything.
	Grace unit.Duration `yaml:"grace,omitempty"`
	Blind string        `yaml:"blind,omitempty"` // closed, open
}

// ScheduledFault is one fault at a time of the measured window. Exactly one of its actions is set;
// Action and Target return it. A consumer is named by its number in its group, from 0. A new
// consumer joins under the next free number. A broker is named by its ID, from 1, or as the current
// leader of a partition.
type ScheduledFault struct {
	At    unit.Duration `yaml:"at"`
	Kill  Target        `yaml:"kill,omitempty"`  // SIGKILL: no commit, no leave, no shutdown
	Stop  Target        `yaml:"stop,omitempty"`  // orderly: a consumer commits and leaves its group
	Start Target        `yaml:"start,omitempty"` // for the first time or again
	// Pause stops the target until Resume (with SIGSTOP, if the target is a process).
	Pause  Target `yaml:"pause,omitempty"`
	Resume Target `yaml:"resume,omitempty"`
	// Restart does an orderly stop of the target and starts it again at once. For every broker,
	// each restarts only after all replicas are in sync again.
	Restart Target `yaml:"restart,omitempty"`
	// For is how long a kill, stop or pause lasts before the tool starts or resumes the target
	// again. With 0, only another fault ends it.
	For unit.Duration `yaml:"for,omitempty"`
}

// Target is the target of a fault. In YAML it is a text: "consumer 0", "broker 1", "leader of
// partition 0", "every broker".
type Target struct {
	Kind   string // ConsumerTarget, BrokerTarget, LeaderTarget, EveryBroker
	Number int    // of the consumer or partition, from 0; of the broker, from 1
}

// Sampling says how often the probes read.
type Sampling struct {
	Interval unit.Duration `yaml:"interval"` // length of a line of intervals.ndjson
	Lag      unit.Duration `yaml:"lag"`      // of each partition
	// Brokers is how often the brokers' metrics are read. Replicas is how often the in-sync
	// replicas are read if a fault has a broker as its target.
	Brokers  unit.Duration `yaml:"brokers"`
	Replicas unit.Duration `yaml:"replicas"`
}
