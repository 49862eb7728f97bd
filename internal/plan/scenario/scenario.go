// Package scenario reads, completes and validates the YAML that describes a run: topic,
// load, consumers, phases, backpressure, sweeps. A scenario is a YAML document, strict in
// its keys and units; a preset is a scenario that comes with the tool. Everything that a
// scenario leaves open is filled in from Defaults before the run, and the resolved form
// is saved with the result, so that nothing about a run is implicit.
//
// The way of a scenario is ReadSuite: defaults first, the preset or file over
// them, the files that are merged over that, the overrides of the command line
// over all; where there are variants, each of them below the overrides; and where
// there is a matrix, the values of each of its cells. Then Resolve fills in what
// follows from other values, and Validate judges the whole.
// Every mistake that any of these steps finds is reported at once, where it was
// written and with what would be right, because a person who mends a file one
// mistake at a time starts a benchmark six times.
//
// Files to know: scenario.go, defaults.go, decode.go, validate*.go, queue.go, suite.go,
// matrix.go, variants.go, quick.go, amount.go (how much is written), fates.go (who is there
// when a fault comes), bound.go (which lag must be allowed), environment.go, presets/.
package scenario

import (
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Scenario is one run, resolved. The yaml tags are the one place where the keys
// of a scenario file are written down: loading, overriding, printing and the
// JSON in run.json all go by them.
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
	// Faults are what goes wrong in the measured window, in the order of their
	// times.
	Faults   []ScheduledFault `yaml:"faults,omitempty"`
	Sampling Sampling         `yaml:"sampling"`
	Repeat   int              `yaml:"repeat"` // runs of this scenario, 1 to 1,000
}

// Cluster is the local cluster that a run starts when it is not given one. On
// an existing cluster nothing here applies.
type Cluster struct {
	Version string            `yaml:"version,omitempty"` // line of Kafka; left open: the tool's default
	Brokers int               `yaml:"brokers"`           // 1 to 9; left open: as many as the topic's replication
	Heap    unit.Size         `yaml:"heap"`              // of each broker's JVM; left open: 1 GiB for one, 512 MiB for each of several
	JVM     []string          `yaml:"jvm,omitempty"`     // further JVM options
	Config  map[string]string `yaml:"config,omitempty"`  // broker properties, over the tool's own
	// Disks are folders that exist. Each broker keeps its logs in all of them, as
	// log.dirs, in a folder of the run's own that is removed again. Left open: in the
	// user's cache.
	Disks []string `yaml:"disks,omitempty"`
	// Metrics says whether the brokers tell about themselves (their JMX metrics, by an
	// agent in their process): jmx, or none.
	Metrics string `yaml:"metrics"`
	// Warmup is how long brokers that were just started are put under load before the
	// first run on them, which nobody records. A JVM that has yet to compile what it
	// does all the time would make the first run a slow one, whatever it measures. 0 is
	// not at all, up to an hour.
	Warmup unit.Duration `yaml:"warmup"`
}

// Topic is the topic of a run. By default a new one with a name of its own is
// created and deleted again; Existing names one that is already there and that
// the run may write to, if it has producers. An existing topic is never deleted, and keeps its own
// partitions, replication and configuration.
type Topic struct {
	Existing string `yaml:"existing,omitempty"`
	// Name is that of the new topic, if it is not to be the run's own. A topic of this
	// name that is there already is never used or touched: the run is refused.
	Name        string `yaml:"name,omitempty"`
	Partitions  int    `yaml:"partitions"`  // 1 to 10,000
	Replication int    `yaml:"replication"` // 1 to 9
	// Fill is how many bytes of values the run writes into its new topic before
	// anything is measured, as fast as it can, with the records of Load. The consumers
	// have it to read when the measured window begins. 0 is none.
	Fill unit.Size `yaml:"fill,omitempty"`
	// FillRecords is the same in records, of all who fill together, and FillRecordsEach
	// of each of them. At most one of the three is given.
	FillRecords     int64 `yaml:"fill_records,omitempty"`
	FillRecordsEach int64 `yaml:"fill_records_each,omitempty"`
	// FillProducers is how many producers fill. 0 is as many as the load has, 4 at most.
	FillProducers int               `yaml:"fill_producers,omitempty"`
	Config        map[string]string `yaml:"config,omitempty"`
}

// Load is what is offered.
type Load struct {
	// Rate is the offered load of all producers together; unit.MaxRate is
	// closed loop. With steps it is the first step's.
	Rate    unit.Rate `yaml:"rate"`
	Arrival Arrival   `yaml:"arrival"`
	// Producers is the number of workers, each with a pacer of its own. 0 is a
	// run that only reads what an existing topic holds; all else of Load is idle
	// then.
	Producers int `yaml:"producers"`
	// Processes is over how many operating system processes the producers are
	// spread, each process with its share of them: 1, the tool's own, or more,
	// each apart from the tool and with a gate of its own. At most as many as
	// producers.
	Processes int `yaml:"processes"`
	// Clients is the number of producing clients. Fewer than producers are
	// shared by them; of more, each producer has several and uses each for
	// some of the partitions. 0 is one for each.
	Clients      int    `yaml:"clients"`
	Pacer        string `yaml:"pacer"`        // frugal, precise
	Partitioning string `yaml:"partitioning"` // sticky, round-robin, key
	Record       Record `yaml:"record"`
	// Volume ends the load before the end of the measured window, once that many
	// bytes of values were offered in it, by each producer its share and the
	// record that reaches it; the window ends there too. 0 is no bound.
	Volume unit.Size `yaml:"volume,omitempty"`
	// Records ends it likewise, after exactly so many records of all producers together,
	// and RecordsEach after so many of each. At most one of the three is given.
	Records     int64 `yaml:"records,omitempty"`
	RecordsEach int64 `yaml:"records_each,omitempty"`
	// Round has each producer of a closed loop send so many records, wait until all of
	// them are acked or failed, and begin again. 0 is no rounds.
	Round int `yaml:"round,omitempty"`

	Acks        string `yaml:"acks"`        // "0", "1", "all"
	Compression string `yaml:"compression"` // none, gzip, snappy, lz4, zstd
	// Level is the compression level as the codec's own command line counts
	// it: gzip and lz4 1 to 9, zstd 1 to 22; 0 is the codec's default.
	Level           int           `yaml:"level"`
	Linger          unit.Duration `yaml:"linger"`
	Batch           Batch         `yaml:"batch"` // upper bound of a batch, uncompressed
	Idempotent      bool          `yaml:"idempotent"`
	InFlight        int           `yaml:"in_flight"` // produce requests on one connection
	DeliveryTimeout unit.Duration `yaml:"delivery_timeout"`
	// MaxBuffered bounds the records in flight of one client: what does not
	// fit waits at the source, where it is counted.
	MaxBuffered int `yaml:"max_buffered"`
	// Client are settings of the producing clients by the library's own names. Package native
	// says which are refused for every library; the driver knows the others.
	Client map[string]string `yaml:"client,omitempty"`
}

// Batch is the upper bound of a batch in bytes, or OneRecord. In YAML it is a size, or
// "1 record".
type Batch unit.Size

// OneRecord has each record sent in a batch of its own.
const OneRecord Batch = -1

// Arrival is the arrival process. Which fields apply depends on Process:
// constant and poisson need none; burst uses Peak, Length and Period (the burst
// comes at the end of each period); ramp To and Over; spike Peak, At and Length;
// steps Steps. The base rate is Load.Rate. Times count from the start of the
// measured window; warm-up runs at the process's first rate. In YAML the name
// of a process alone is short for {process: name}.
type Arrival struct {
	Process string        `yaml:"process"` // constant, poisson, burst, ramp, steps, spike
	Peak    unit.Rate     `yaml:"peak,omitempty"`
	Length  unit.Duration `yaml:"length,omitempty"`
	Period  unit.Duration `yaml:"period,omitempty"`
	To      unit.Rate     `yaml:"to,omitempty"`
	Over    unit.Duration `yaml:"over,omitempty"` // left open: the whole measured window
	At      unit.Duration `yaml:"at,omitempty"`
	Steps   []Step        `yaml:"steps,omitempty"`
}

// Step is a constant rate for a time; the last step goes on to the end, and may
// leave its time open.
type Step struct {
	Rate unit.Rate     `yaml:"rate"`
	For  unit.Duration `yaml:"for"`
}

// Record is what the records look like.
type Record struct {
	Size    Size   `yaml:"size"`
	Payload string `yaml:"payload"` // random, zeros, text, json, logline, mixed
	Seed    uint64 `yaml:"seed"`    // of everything random in a run: same seed, same bytes
	Keys    Keys   `yaml:"keys"`
}

// Size is the size of a record's value, stamp included. In YAML it is either
// one size (512B) or a mapping: {uniform: [64B, 1KiB]}, {normal: [1KiB, 200B]}
// (mean and standard deviation) or {list: [64B, 64B, 4KiB]} (each equally
// likely).
type Size struct {
	Distribution string      `yaml:"-"` // fixed, uniform, normal, list
	Values       []unit.Size `yaml:"-"`
}

// Keys are the records' keys: none, or one of Count keys by distribution. In
// YAML the name of a distribution alone is short for {distribution: name}.
type Keys struct {
	Distribution string  `yaml:"distribution"` // none, sequential, uniform, zipf
	Count        int     `yaml:"count,omitempty"`
	Skew         float64 `yaml:"skew,omitempty"` // zipf exponent, above 1
}

// Consume is the consuming side: groups of real members, each of which reads
// everything.
type Consume struct {
	Consumers int `yaml:"consumers"` // of each group; 0: nobody consumes
	Groups    int `yaml:"groups"`    // 1 to 100
	// Group is the name of the new group, if it is not to be the run's own; several groups
	// have their numbers behind it. One that is there already is never used or touched.
	Group string `yaml:"group,omitempty"`
	// Processes is over how many operating system processes the consumers of each
	// group are spread: 1, the tool's own, or more, each apart from the tool. At most
	// as many as consumers.
	Processes int `yaml:"processes"`
	// CPU and Memory confine each process of the consumers to so many cores and bytes,
	// by the operating system where it can, and else by the Go runtime's own limits,
	// which the result tells apart. A confined consumer is in a process of its own
	// also where Processes is 1. 0 is no limit.
	CPU    float64   `yaml:"cpu,omitempty"`    // 0.01 to 1,024 cores
	Memory unit.Size `yaml:"memory,omitempty"` // from 32MiB on
	// Assignment says how a consumer comes by its partitions: "group" has Kafka
	// share them out among the group's members; "manual" has no group at all,
	// the tool shares them out, and nothing is committed.
	Assignment string `yaml:"assignment"`
	// From says where reading begins in an existing topic: at its end as the run
	// finds it, or at its start. Left open: at the end, or at the start where
	// nobody produces. A new topic is empty, so for it the question is not asked.
	From string `yaml:"from,omitempty"` // end, start
	// Hold keeps the consumers from fetching until a time, while they are in
	// their group and poll.
	Hold Hold `yaml:"hold,omitempty"`
	// Parallel says how a member works on its records: "partition" has one
	// worker for each assigned partition, "consumer" one worker in all.
	Parallel string `yaml:"parallel"`
	// Queue has the consumers acknowledge record by record.
	Queue Queue `yaml:"queue,omitempty"`
	Work  Work  `yaml:"work"`
	// Changes replace Work at set times of the measured window, in ascending
	// order.
	Changes []WorkChange `yaml:"changes,omitempty"`
	// Commit is how often processed offsets are committed.
	Commit   Commit `yaml:"commit"`
	Protocol string `yaml:"protocol"` // classic, consumer (KIP-848)
	// SessionTimeout is how long a member of a group may be silent before Kafka
	// gives its partitions to others: the time that a killed one holds up its
	// partitions. It is the member's to say in the classic protocol alone, and
	// the broker bounds it (group.min.session.timeout.ms, 6s by default). 0 is
	// the client's default.
	SessionTimeout unit.Duration `yaml:"session_timeout,omitempty"`
	// Assignor is how the members of a classic group share out the partitions: range,
	// roundrobin, sticky or cooperative-sticky. Left out: the driver's own choice.
	Assignor string `yaml:"assignor,omitempty"`
	// PollTimeout is how long a poll waits for records; one that returns none counts as an
	// empty poll. 0 is until there are records.
	PollTimeout unit.Duration `yaml:"poll_timeout,omitempty"`
	Fetch       Fetch         `yaml:"fetch,omitempty"`
	// Client are settings of the consuming clients by the library's own names, as in Load.
	Client map[string]string `yaml:"client,omitempty"`
}

// Work is the simulated work for each record: fixed takes Time; uniform takes
// Time and, on top, a uniform 0 to Jitter; exponential has the mean Time;
// lognormal the mean Time and the standard deviation Jitter, or the Median and the
// Sigma of the logarithm, or the percentiles P50 and P99, by which heavy tails are
// better said. In YAML a duration alone is short for {time: duration}. A distribution
// left open is lognormal where there is a median or a p50, uniform where there is a
// jitter, else fixed.
type Work struct {
	Time         unit.Duration `yaml:"time"`
	Jitter       unit.Duration `yaml:"jitter"`
	Median       unit.Duration `yaml:"median,omitempty"`
	Sigma        float64       `yaml:"sigma,omitempty"` // above 0, up to 4
	P50          unit.Duration `yaml:"p50,omitempty"`
	P99          unit.Duration `yaml:"p99,omitempty"`
	Distribution string        `yaml:"distribution"` // fixed, uniform, exponential, lognormal
}

// WorkChange replaces the work from a time of the measured window on.
type WorkChange struct {
	At   unit.Duration `yaml:"at"`
	Work Work          `yaml:"work"`
}

// Commit is an interval, or after each batch: "1s" or "batch" in YAML.
type Commit struct {
	EachBatch bool
	Interval  unit.Duration
}

// Hold is until when consumers are held: a time of the measured window, or the
// drain. In YAML it is a duration or the word "drain"; "off", as the zero value,
// holds nobody.
type Hold struct {
	Drain bool
	Until unit.Duration
}

// Fetch are the consumers' fetch settings; zero is the client's default.
type Fetch struct {
	MinBytes          unit.Size     `yaml:"min_bytes,omitempty"`
	MaxBytes          unit.Size     `yaml:"max_bytes,omitempty"`
	MaxPartitionBytes unit.Size     `yaml:"max_partition_bytes,omitempty"`
	MaxWait           unit.Duration `yaml:"max_wait,omitempty"`
}

// Phases are the lengths of a run's parts. Drain is a timeout: it ends as soon
// as everything acked is delivered.
type Phases struct {
	Warmup  unit.Duration `yaml:"warmup"`
	Measure unit.Duration `yaml:"measure"`
	Drain   unit.Duration `yaml:"drain"`
}

// Backpressure is the controller at the source, its signal, and what becomes of
// the records that it holds back. Package backpressure has the laws of the
// controllers. In YAML "off" alone is short for {controller: off}.
type Backpressure struct {
	Controller string `yaml:"controller"` // off, hysteresis, credit, latency, aimd, gradient
	// MaxLag is in records. A hysteresis closes the gate above it; credit never
	// lets the lag exceed it; of latency, aimd and gradient it is an upper limit
	// to what they choose, and 0 is none.
	MaxLag    int64 `yaml:"max_lag,omitempty"`
	ResumeLag int64 `yaml:"resume_lag,omitempty"` // records; a closed hysteresis opens below it; left open: half of MaxLag
	// Target is the time that a record may take from the gate to its consumer:
	// latency holds it, aimd backs off above it (left open: 250ms).
	Target unit.Duration `yaml:"target,omitempty"`
	Poll   unit.Duration `yaml:"poll,omitempty"` // how often the lag is read
	// Signal says how far the consumers have come: committed is what the group
	// has committed, as any application may ask of Kafka; delivered is what the
	// consumers of this run report to have taken, sooner than they commit it.
	Signal string `yaml:"signal,omitempty"` // committed, delivered
	// Per says what MaxLag bounds: the whole topic, or each of its partitions,
	// which is for credit alone.
	Per string `yaml:"per,omitempty"` // topic, partition
	// Excess is what becomes of a record that is held back: it waits at the
	// source, it is shed, or one of Keep waits and the others are shed.
	Excess string `yaml:"excess,omitempty"` // defer, shed, degrade
	Keep   int64  `yaml:"keep,omitempty"`   // degrade: 1 to 1,000,000; left open: 10
	// MaxDeferred bounds the queue at the source; beyond it records are shed.
	MaxDeferred int64 `yaml:"max_deferred,omitempty"`
	// Grace is how long the lag may be unknown before Blind says what is admitted:
	// nothing (closed), or everything (open).
	Grace unit.Duration `yaml:"grace,omitempty"`
	Blind string        `yaml:"blind,omitempty"` // closed, open
	// Share says how several processes divide MaxLag: each the same part of it for
	// good, or by demand, which is for credit alone.
	Share string `yaml:"share,omitempty"` // static, demand
}

// ScheduledFault is one thing that goes wrong at a time of the measured window.
// Exactly one of its verbs is given; Action and Target say which. A consumer is
// told by its number in its group, from 0 on: one of the consumers that are there
// from the beginning, or the next one after all that there have been, which joins.
// A broker is told by its ID, from 1 on, or as the leader of a partition at that
// moment.
type ScheduledFault struct {
	At    unit.Duration `yaml:"at"`
	Kill  Target        `yaml:"kill,omitempty"`  // it vanishes (SIGKILL): no commit, no leave, no shutdown
	Stop  Target        `yaml:"stop,omitempty"`  // it goes in order: a consumer commits and leaves its group
	Start Target        `yaml:"start,omitempty"` // it comes, for the first time or again
	// Pause stops it where it stands (SIGSTOP, for what is a process), until Resume.
	Pause  Target `yaml:"pause,omitempty"`
	Resume Target `yaml:"resume,omitempty"`
	// Restart stops it in order and starts it again at once; every broker is
	// restarted one after the other, each when all replicas are in sync again.
	Restart Target `yaml:"restart,omitempty"`
	// For is how long what was killed, stopped or paused stays so: then it is started
	// or resumed again. 0 leaves that to another fault, or to nobody.
	For unit.Duration `yaml:"for,omitempty"`
}

// Target is what a fault befalls. In YAML it is a text: "consumer 0", "broker 1",
// "leader of partition 0", "every broker".
type Target struct {
	Kind   string // ConsumerTarget, BrokerTarget, LeaderTarget, EveryBroker
	Number int    // of the consumer or partition, from 0 on; of the broker, from 1 on
}

// Sampling is how often the probes look.
type Sampling struct {
	Interval unit.Duration `yaml:"interval"` // a line in intervals.ndjson
	Lag      unit.Duration `yaml:"lag"`      // of each partition
	// Brokers is how often the brokers' own metrics are read, and Replicas how often
	// which replicas are in sync, where a fault befalls a broker.
	Brokers  unit.Duration `yaml:"brokers"`
	Replicas unit.Duration `yaml:"replicas"`
}
