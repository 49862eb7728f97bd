// Package result reads and writes the folder of files of a run or a campaign, which have a
// versioned schema. A run has run.json (the summary), intervals.ndjson (a time series),
// events.ndjson, histograms.hlog (all latencies as an HdrHistogram interval log), curves.json
// (percentiles) and scenario.yaml; a run of several machines also has agents.ndjson. The terminal,
// the report and the dashboard read only these files.
//
// The types are a contract: fields are added, never renamed or removed. Times are nanoseconds,
// sizes are bytes, and "per_s" figures are over the measured window. A figure that could not be
// measured is null or absent, never zero.
//
// Files to know: run.go, books.go, times.go, lag.go, share.go (each client; group and topic at the
// window's end), agent.go, interval.go, curves.go, writer.go, read.go, row.go (a run in a list),
// campaign.go, campaignwriter.go.
package result

import (
	"time"
)

// SchemaVersion is the version of run.json, intervals.ndjson, events.ndjson and curves.json.
const SchemaVersion = 1

// Statuses of a Verdict.
const (
	Valid   = "valid"
	Invalid = "invalid"
	// Unchecked is the status of an imported run that does not contradict itself: our rules did not
	// judge it.
	Unchecked = "imported"
)

// Run is run.json. Load, Delivery and Time count the records of the measured window, by intended
// send time; Warmup counts those of the warm-up. In a run that did not finish, only SchemaVersion,
// Run, Scenario and Verdict have a meaning.
type Run struct {
	SchemaVersion int      `json:"schema_version" jsonschema:"minimum=1"`
	Run           Info     `json:"run"`
	Scenario      Settings `json:"scenario"` // resolved, with the names of the YAML
	Verdict       Verdict  `json:"verdict"`
	// System is the verdict of package outcome. It is absent from runs of method 1; readers compute
	// it.
	System *System `json:"system,omitempty"`

	Load     Load            `json:"load"`
	Delivery Delivery        `json:"delivery"`
	Time     map[string]Time `json:"time"` // by metric, see TimeMetrics
	Lag      Lag             `json:"lag"`
	Consumer Consumer        `json:"consumer"`
	Groups   []Group         `json:"groups,omitempty"` // if there are several
	Warmup   Warmup          `json:"warmup"`

	Backpressure *Backpressure `json:"backpressure,omitempty"`
	Compression  []Compression `json:"compression,omitempty"`
	PayloadFile  *PayloadFile  `json:"payload_file,omitempty"` // if the records are those of a file
	Process      Process       `json:"process"`
	Broker       []Broker      `json:"broker,omitempty"`
	Faults       []Fault       `json:"faults,omitempty"`

	Fill         *Fill         `json:"fill,omitempty"`         // records written into the topic before the measured window
	Availability *Availability `json:"availability,omitempty"` // if a fault had a broker as its target
	Clients      *Clients      `json:"clients,omitempty"`      // the requests of the clients under test
	HostUse      *HostUse      `json:"host_use,omitempty"`     // the machine's disks, network and page cache
	Storage      *Storage      `json:"storage,omitempty"`      // the run's topic on the brokers' disks
	Bottleneck   *Bottleneck   `json:"bottleneck,omitempty"`
	Queue        *Queue        `json:"queue,omitempty"` // if the consumers used a queue
	Gaps         *Gaps         `json:"gaps,omitempty"`

	Producers []Share    `json:"producers,omitempty"` // each producer
	Consumers []Share    `json:"consumers,omitempty"`
	WindowEnd *WindowEnd `json:"window_end,omitempty"`

	Agents []Agent `json:"agents,omitempty"` // by index; absent from a run of one machine
}

// Finished reports whether the run's books were closed. A killed run has intervals and events, but
// no figures.
func (r *Run) Finished() bool { return !r.Run.FinishedAt.IsZero() }

// Info identifies a run.
type Info struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	StartedAt time.Time `json:"started_at"` // UTC; start of the measured window
	// FinishedAt is when the books were closed, UTC; absent if the run did not finish.
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// Interrupted is true if a person or a lost agent ended the run early.
	Interrupted bool `json:"interrupted,omitempty"`
	// InterruptedByUser is set if a run with agents was interrupted by the user. Otherwise it ended
	// early because an agent was lost.
	InterruptedByUser bool `json:"interrupted_by_user,omitempty"`
	// EndedByGuard is why a guard of the cluster ended the run early, which then is Interrupted.
	EndedByGuard string `json:"ended_by_guard,omitempty"`
	// DiskNotWatched is why the brokers' free disk was not watched; absent if it was, or need not be.
	DiskNotWatched string `json:"disk_not_watched,omitempty"`
	Tool           Tool   `json:"tool"`
	// MethodVersion is the method of measurement (see Method); only figures of the same method
	// compare. Absent means 1, and for an imported run none.
	MethodVersion int `json:"method_version,omitempty" jsonschema:"minimum=1"`

	Host    Host    `json:"host"` // with several machines, that of agent 0
	Cluster Cluster `json:"cluster"`
	Driver  Driver  `json:"driver"`
	Topic   string  `json:"topic"`
	Group   string  `json:"group,omitempty"` // see Run.Groups if there are several; absent with manual assignment
	// Imported is set if another tool made the run.
	Imported *Imported `json:"imported,omitempty"`
	// NotMeasured names fields that this run could not measure and that cannot be null, by their
	// paths as in Imported.CannotSay. Examples: the time lag without producers; the backlog if
	// consumers read from the topic's end.
	NotMeasured []string `json:"not_measured,omitempty"`
	// Placement is how agents divided the load. own: an agent produces only to partitions of its
	// own consumers; any: to all partitions; apart: producers and consumers are on different
	// agents. Session is the name that the agents joined. Both are absent without agents.
	Placement string `json:"placement,omitempty" jsonschema:"enum=own,enum=any,enum=apart"`
	Session   string `json:"session,omitempty"`
	// Expected are bounds that the figures are to meet, such as "e2e_response_time_p99 < 20ms" or
	// "acked_per_s >= 9k/s in every 10s". Readers check them.
	Expected []string `json:"expected,omitempty"`
	// Labels are the user's, such as the commit under test.
	Labels map[string]string `json:"labels,omitempty"`
	// RetryOf are the folders of invalid runs, next to this run's, in whose place this run was made.
	RetryOf []string `json:"retry_of,omitempty"`
	// Phases have their real times, in nanoseconds on the run's time axis.
	Phases []Phase `json:"phases"`
}

// Phase is one phase of a run on the run's time axis, where zero is the start of the measured
// window.
type Phase struct {
	Name    string `json:"name"` // warm-up, measure, drain
	StartNs int64  `json:"start_ns"`
	EndNs   int64  `json:"end_ns"`
}

// Tool is the kafka-bench that made the run.
type Tool struct {
	Version   string `json:"version"`
	Revision  string `json:"revision,omitempty"`
	GoVersion string `json:"go_version"`
}

// Host is the machine that the tool ran on.
type Host struct {
	OS          string `json:"os"`
	Arch        string `json:"arch"`
	Kernel      string `json:"kernel,omitempty"`
	CPUModel    string `json:"cpu_model,omitempty"`
	CPUs        int    `json:"cpus"`
	MemoryBytes int64  `json:"memory_bytes,omitempty"`
}

// Cluster describes the Kafka cluster.
type Cluster struct {
	Kind    string `json:"kind"` // kafka, embedded, existing
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
	Brokers int    `json:"brokers"`
	// Note is set if the figures do not describe Kafka itself.
	Note     string            `json:"note,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	// WarmedUpS is how long an unrecorded load warmed up new brokers before the first run, in
	// seconds; absent if there was no warm-up.
	WarmedUpS float64 `json:"warmed_up_s,omitempty"`
}

// Driver is the client under test with its effective settings.
type Driver struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Producer []Setting `json:"producer,omitempty"`
	Consumer []Setting `json:"consumer,omitempty"`
}

// Setting is one effective setting, by the client's name for it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Statuses of a system: not judged, then the worst first.
const (
	NotJudged   = "not judged"
	LostRecords = "lost records"
	Unavailable = "unavailable"
	Overloaded  = "overloaded"
	HeldBack    = "held back"
	KeptUp      = "kept up"
)

// System says how the measured system coped with the load.
type System struct {
	Status   string   `json:"status" jsonschema:"enum=not judged,enum=lost records,enum=unavailable,enum=overloaded,enum=held back,enum=kept up"`
	Findings []string `json:"findings"`
}

// Verdict says whether the figures are valid.
type Verdict struct {
	Status   string   `json:"status" jsonschema:"enum=valid,enum=invalid,enum=imported"`
	Reasons  []string `json:"reasons"`
	Warnings []string `json:"warnings"`
}

// Usable reports whether figures may be taken from the run: it is valid, or imported and does not
// contradict itself.
func (v Verdict) Usable() bool { return v.Status == Valid || v.Status == Unchecked }

// statusOf is a recorded status: older imports called a run valid that nobody had judged.
func statusOf(recorded string, imported *Imported) string {
	if imported != nil && recorded == Valid {
		return Unchecked
	}
	return recorded
}
