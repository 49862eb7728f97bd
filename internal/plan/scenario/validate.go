package scenario

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Bounds of a run, against typing errors: far above what one machine can do.
const (
	maxNameLength    = 64
	maxRepeat        = 1000
	maxWorkers       = 1024
	maxGroups        = 100
	maxPartitions    = 10_000
	maxBrokers       = 9
	maxPhase         = unit.Duration(30 * 24 * time.Hour)
	maxBuffered      = 10_000_000
	maxLevels        = 1000           // entries in a list of sizes, steps or changes
	maxRecords       = int64(1) << 40 // of a lag, a queue or a load
	maxKeep          = 1_000_000      // the largest Keep
	maxProcesses     = 64
	maxCores         = 1024
	maxBytes         = unit.Size(1<<31) - 1 // of a batch or a fetch: Kafka's int32
	maxRecord        = 64 * unit.MiB        // the largest payload
	minHeap          = 128 * unit.MiB
	maxClusterWarmup = unit.Duration(time.Hour)
	minMemory        = 32 * unit.MiB // of a consumer process; a Go process with a client needs 20 MiB
	minCPU           = 0.01          // shorter cgroup quotas would pause a process for longer than a record's work
)

var maxRate = unit.Rate{Records: 100_000_000, Per: time.Second}

var (
	processes     = []string{"constant", "poisson", "burst", "ramp", "steps", "spike"}
	pacers        = []string{"frugal", "precise"}
	partitionings = []string{"sticky", "round-robin", "key"}
	payloads      = payload.Classes
	stamps        = []string{"value", HeaderStamp}
	keyings       = []string{"none", "sequential", "uniform", "zipf"}
	sizings       = []string{"fixed", "uniform", "normal", "list"} // to choose from
	ackLevels     = []string{"0", "1", "all"}
	codecs        = []string{"none", "gzip", "snappy", "lz4", "zstd"}
	parallels     = []string{"partition", "consumer"}
	workings      = []string{"fixed", "uniform", "exponential", "lognormal"}
	protocols     = []string{"classic", "consumer"}
	assignors     = []string{"range", "roundrobin", "sticky", "cooperative-sticky"}
	assignments   = []string{"group", "manual"}
	beginnings    = []string{"end", "start"}
	controllers   = []string{"off", "hysteresis", "credit", "latency", "aimd", "gradient"}
	signals       = []string{"committed", "delivered"}
	excesses      = []string{"defer", "shed", "degrade"}
	blindnesses   = []string{"closed", "open"}
)

var kafkaVersions = []string{"3.9", "4.0", "4.1", "4.2", "4.3"}

// KafkaVersions lists the release lines that a local cluster can have, the oldest first.
func KafkaVersions() []string { return slices.Clone(kafkaVersions) }

var brokerMetrics = []string{"jmx", "none"}

var codecLevels = map[string]int{"none": 0, "snappy": 0, "gzip": 9, "lz4": 9, "zstd": 22}

// Validate returns all mistakes of a resolved scenario as Mistakes, or nil. Warnings returns what
// is valid but unlikely to be meant.
func (s Scenario) Validate() error {
	return asMistakes(s.findings())
}

func asMistakes(findings []finding) error {
	var mistakes Mistakes
	for _, f := range findings {
		mistakes = append(mistakes, f.Mistake)
	}
	return mistakes.bounded().asError()
}

// A finding is dropped if the value at its path, or at one of the paths in from, could not be read.
type finding struct {
	Mistake
	from []string
}

func (s Scenario) findings() []finding {
	c := &checker{}
	c.scenario(s)
	c.cluster(s)
	c.topic(s)
	c.load(s)
	c.arrival(s)
	c.record(s)
	c.producer(s)
	c.consume(s)
	c.backpressure(s)
	c.faults(s)
	return c.findings
}

type checker struct {
	findings []finding
}

func (c *checker) mistake(path, problem, remedy string, from ...string) {
	c.findings = append(c.findings, finding{Mistake{Path: path, Problem: problem, Remedy: remedy}, from})
}

func (c *checker) choice(path, value string, choices []string) {
	if slices.Contains(choices, value) {
		return
	}
	remedy := "choose " + spelling.OneOf(choices)
	if near := spelling.Nearest(value, choices); near != "" {
		remedy = fmt.Sprintf("did you mean %s? %s", near, remedy)
	}
	c.mistake(path, fmt.Sprintf("%q is not known", value), remedy)
}

func (c *checker) between(path string, value, low, high int64) bool {
	return c.ordered(path, value >= low, value <= high, fmt.Sprint(value), fmt.Sprint(low), fmt.Sprint(high))
}

func (c *checker) size(path string, value, low, high unit.Size) bool {
	return c.ordered(path, value >= low, value <= high, value.String(), low.String(), high.String())
}

func (c *checker) duration(path string, value, low, high unit.Duration) bool {
	return c.ordered(path, value >= low, value <= high, value.String(), low.String(), high.String())
}

// positive requires 0 < value ≤ maxPhase.
func (c *checker) positive(path string, value unit.Duration) bool {
	if value == 0 {
		c.mistake(path, "it must be above 0", "give a time, as in 30s")
		return false
	}
	return c.duration(path, value, 1, maxPhase)
}

// required replaces positive for a value without a default.
func (c *checker) required(path string, value unit.Duration) bool {
	if value == 0 {
		c.mistake(path, "it is required, and above 0", "give a time, as in 3s")
		return false
	}
	return c.positive(path, value)
}

func (c *checker) rate(path string, r unit.Rate) bool {
	const example = "give a rate, as in 20k/s"
	switch {
	case r.IsMax():
		c.mistake(path, "it cannot be max", "only load.rate can be max, with constant arrivals; "+example)
	case r.IsZero():
		c.mistake(path, "it is required", example)
	case (r.Records <= 0 || r.Per <= 0) && path == "load.rate":
		c.mistake(path, "it must be above 0",
			example+", or max for as fast as it goes; kafka-bench search finds the highest rate that holds")
	case r.Records <= 0 || r.Per <= 0:
		c.mistake(path, "it must be above 0", example)
	case r.PerSecond() > maxRate.PerSecond():
		c.mistake(path, fmt.Sprintf("%s is too high", r),
			fmt.Sprintf("give at most %s, or max for as fast as it goes", maxRate))
	default:
		return true
	}
	return false
}

func (c *checker) ordered(path string, aboveLow, belowHigh bool, value, low, high string) bool {
	switch {
	case !aboveLow:
		c.mistake(path, value+" is too low", "give at least "+low)
	case !belowHigh:
		c.mistake(path, value+" is too high", "give at most "+high)
	}
	return aboveLow && belowHigh
}

func (c *checker) scenario(s Scenario) {
	switch {
	case s.Name == "":
		c.mistake("name", "it is empty", "name the scenario, as in overload-eu")
	case !plainName(s.Name) || len(s.Name) > maxNameLength:
		c.mistake("name", fmt.Sprintf("%q cannot be part of a folder's name", s.Name), fmt.Sprintf(
			"use letters, digits, dots, hyphens and underscores, a letter or digit first, %d at most", maxNameLength))
	}
	c.between("repeat", int64(s.Repeat), 1, maxRepeat)
	c.duration("phases.warmup", s.Phases.Warmup, 0, maxPhase)
	c.positive("phases.measure", s.Phases.Measure)
	c.duration("phases.drain", s.Phases.Drain, 0, maxPhase)
	c.duration("sampling.interval", s.Sampling.Interval, unit.Duration(100*time.Millisecond), unit.Duration(time.Hour))
	c.duration("sampling.lag", s.Sampling.Lag, unit.Duration(10*time.Millisecond), unit.Duration(time.Hour))
	c.duration("sampling.brokers", s.Sampling.Brokers, unit.Duration(500*time.Millisecond), unit.Duration(time.Hour))
	c.duration("sampling.replicas", s.Sampling.Replicas, unit.Duration(10*time.Millisecond), unit.Duration(time.Hour))
	c.driver(s.Driver)
}

// Only the command line knows the drivers.
func (c *checker) driver(name string) {
	if name == "" {
		c.mistake("driver", "it is empty", "leave it out for franz, or name one (kafka-bench drivers)")
	}
}

func (c *checker) refuse(path string) func(problem, remedy string) {
	return func(problem, remedy string) {
		if problem != "" {
			c.mistake(path, problem, remedy)
		}
	}
}

func absolute(dir string) string {
	if all, err := filepath.Abs(dir); err == nil {
		return all
	}
	return filepath.Clean(dir)
}

// cluster checks the local cluster even if the run does not use it.
func (c *checker) cluster(s Scenario) {
	c.between("cluster.brokers", int64(s.Cluster.Brokers), 1, maxBrokers)
	c.size("cluster.heap", s.Cluster.Heap, minHeap, 1024*unit.GiB)
	c.version(s)
	for i, dir := range s.Cluster.Disks {
		path := fmt.Sprintf("cluster.disks[%d]", i)
		switch {
		case dir == "":
			c.mistake(path, "it is empty", "name a folder")
		case slices.ContainsFunc(s.Cluster.Disks[:i], func(other string) bool { return absolute(other) == absolute(dir) }):
			c.mistake(path, fmt.Sprintf("%q is named twice", dir), "name each folder once")
		}
	}
	for i, option := range s.Cluster.JVM {
		c.refuse(fmt.Sprintf("cluster.jvm[%d]", i))(native.JVMFault(option))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Cluster.Config)) {
		c.refuse(join("cluster.config", name))(native.PropertyFault(name))
	}
	c.choice("cluster.metrics", s.Cluster.Metrics, brokerMetrics)
	c.duration("cluster.warmup", s.Cluster.Warmup, 0, maxClusterWarmup)
}

// CheckListed returns Mistakes if s gives a local cluster a JVM option or a broker property that is not on the
// list of those that run no other program and load no other code; else nil. A scenario may be a stranger's, so
// the command line must allow others.
func (s Scenario) CheckListed() error {
	c := &checker{}
	const remedy = "leave it out; if you trust the file, add --allow-jvm"
	for i, option := range s.Cluster.JVM {
		if !native.ListedOption(option) {
			c.mistake(fmt.Sprintf("cluster.jvm[%d]", i),
				fmt.Sprintf("%q is not on the list of JVM options that run no program and write no file", option), remedy)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Cluster.Config)) {
		if !native.ListedProperty(name, s.Cluster.Config[name]) {
			c.mistake(join("cluster.config", name),
				"this broker property may load other code or name a file: its value is no number and no truth value",
				remedy)
		}
	}
	return asMistakes(c.findings)
}

const versionKey = "cluster.version"

func (c *checker) version(s Scenario) {
	if version := s.Cluster.Version; version != "" {
		c.choice(versionKey, version, kafkaVersions)
		c.previews(s, version)
	}
}

// CheckKafka returns Mistakes if s asks for something that a Kafka of this release line, such as
// 4.1, lacks; else nil.
func (s Scenario) CheckKafka(line string) error {
	c := &checker{}
	c.previews(s, line)
	return asMistakes(c.findings)
}

func (c *checker) previews(s Scenario, version string) {
	at := slices.Index(kafkaVersions, version)
	older := func(than string) bool { return at >= 0 && at < slices.Index(kafkaVersions, than) }
	if s.Consume.Protocol == "consumer" && older("4.0") {
		c.mistake("consume.protocol", "Kafka "+version+" has the protocol consumer only as a preview, switched off",
			"choose classic, or Kafka 4.0 or later (KIP-848)", versionKey)
	}
	if s.Consume.Queue.Engine == "share" && older("4.2") {
		c.mistake("consume.queue.engine", "Kafka "+version+" has share groups only as a preview, or not at all",
			"choose another engine, or Kafka 4.2 or later (KIP-932)", versionKey)
	}
}

func plainName(name string) bool {
	for i, r := range name {
		if !nameLetter(r) || i == 0 && (r == '.' || r == '-' || r == '_') {
			return false
		}
	}
	return name != ""
}

// nameLetter reports whether Kafka allows r in a topic's name.
func nameLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_'
}
