// Package result is what a run, or a campaign of runs, leaves behind: a folder of files
// with a versioned schema. A run's run.json is the summary, intervals.ndjson the time
// series (a line a second, appended to disk at once), events.ndjson what happened and why,
// histograms.hlog every latency in HdrHistogram's interval log format, curves.json the
// percentiles of the whole run, and scenario.yaml what was asked for. A run of several
// machines has agents.ndjson, what each of them did. The terminal, the report and the
// dashboard all read these, and nothing else.
//
// The types here are the contract: fields are added, never renamed or removed.
// Times are nanoseconds, sizes bytes, and "per_s" figures are taken over the
// measured window alone. A figure that could not be measured is null or absent,
// never zero.
//
// Files to know: run.go, books.go, times.go, lag.go, share.go (each client; group and topic
// at the window's end), agent.go, interval.go, curves.go, writer.go, read.go, row.go (a run in a list),
// campaign.go, campaignwriter.go.
package result

import (
	"time"
)

// SchemaVersion of run.json, intervals.ndjson, events.ndjson and curves.json.
const SchemaVersion = 1

// Verdict statuses.
const (
	Valid   = "valid"
	Invalid = "invalid"
)

// Run is run.json. Load, Delivery and Time speak of the records of the measured
// window, by intended send time; Warmup has the books of the warm-up. In a run
// that did not finish (see Finished) only SchemaVersion, Run, Scenario and
// Verdict say anything.
type Run struct {
	SchemaVersion int      `json:"schema_version" jsonschema:"minimum=1"`
	Run           Info     `json:"run"`
	Scenario      Settings `json:"scenario"` // resolved; as the YAML names things
	Verdict       Verdict  `json:"verdict"`
	// System is what became of the records, as package outcome judges; absent from runs
	// of method 1, which it judges when they are read.
	System *System `json:"system,omitempty"`

	Load     Load            `json:"load"`
	Delivery Delivery        `json:"delivery"`
	Time     map[string]Time `json:"time"` // by metric, see TimeMetrics
	Lag      Lag             `json:"lag"`
	Consumer Consumer        `json:"consumer"`
	Groups   []Group         `json:"groups,omitempty"` // where there are several
	Warmup   Warmup          `json:"warmup"`

	Backpressure *Backpressure `json:"backpressure,omitempty"`
	Compression  []Compression `json:"compression,omitempty"`
	Process      Process       `json:"process"`
	Broker       []Broker      `json:"broker,omitempty"`
	Faults       []Fault       `json:"faults,omitempty"`

	Fill         *Fill         `json:"fill,omitempty"`         // what the topic was filled with before
	Availability *Availability `json:"availability,omitempty"` // where a fault befell a broker
	Clients      *Clients      `json:"clients,omitempty"`      // the requests of the clients under test
	HostUse      *HostUse      `json:"host_use,omitempty"`     // the machine's disks, network and page cache
	Storage      *Storage      `json:"storage,omitempty"`      // the run's topic on the brokers' disks
	Bottleneck   *Bottleneck   `json:"bottleneck,omitempty"`
	Queue        *Queue        `json:"queue,omitempty"` // where the consumers took records from a queue
	Gaps         *Gaps         `json:"gaps,omitempty"`

	Producers []Share    `json:"producers,omitempty"` // each of them
	Consumers []Share    `json:"consumers,omitempty"`
	WindowEnd *WindowEnd `json:"window_end,omitempty"`

	Agents []Agent `json:"agents,omitempty"` // by index; absent from a run of one machine
}

// Finished tells whether the books of the run were closed. A run that was
// killed on its way leaves its intervals and events, and no figures here.
func (r *Run) Finished() bool { return !r.Run.FinishedAt.IsZero() }

// Info identifies a run.
type Info struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	StartedAt time.Time `json:"started_at"` // UTC; of the measured window
	// FinishedAt is when the books were closed, UTC; absent from a run that
	// did not finish.
	FinishedAt time.Time `json:"finished_at,omitzero"`
	// Interrupted is set when a person ended the run early.
	Interrupted bool `json:"interrupted,omitempty"`
	Tool        Tool `json:"tool"`
	// MethodVersion is the method that measured the run (see Method): its figures
	// compare with those of the same method. Absent means 1; an imported run has none.
	MethodVersion int `json:"method_version,omitempty" jsonschema:"minimum=1"`

	Host    Host    `json:"host"` // of several machines, agent 0's
	Cluster Cluster `json:"cluster"`
	Driver  Driver  `json:"driver"`
	Topic   string  `json:"topic"`
	Group   string  `json:"group,omitempty"` // of several, see Run.Groups; none where partitions are assigned by hand
	// Imported is set when another tool made the run.
	Imported *Imported `json:"imported,omitempty"`
	// NotMeasured names what this run could not measure, among the fields that
	// have no null to say so with, by their paths as in Imported.CannotSay: where
	// nobody produces, a time lag, and reading from the end, a backlog.
	NotMeasured []string `json:"not_measured,omitempty"`
	// Placement is how agents divided the load: own (an agent produces only to partitions that
	// its consumers own), any (everywhere) or apart (some send, the others receive). Session
	// is the name under which they met. Both are absent from a run without agents.
	Placement string `json:"placement,omitempty" jsonschema:"enum=own,enum=any,enum=apart"`
	Session   string `json:"session,omitempty"`
	// Phases as they really were, in nanoseconds on the run's time axis.
	Phases []Phase `json:"phases"`
}

// Phase is one part of a run on the run's time axis (zero is the start of the
// measured window; warm-up is negative).
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

// Cluster is where Kafka came from.
type Cluster struct {
	Kind    string `json:"kind"` // kafka, embedded, existing
	ID      string `json:"id"`
	Version string `json:"version,omitempty"`
	Brokers int    `json:"brokers"`
	// Note is set when the figures do not describe Kafka itself.
	Note     string            `json:"note,omitempty"`
	Settings map[string]string `json:"settings,omitempty"`
	// WarmedUpS is for how long an unrecorded load had warmed up the brokers, in
	// seconds, before the first run on them; absent where there was none.
	WarmedUpS float64 `json:"warmed_up_s,omitempty"`
}

// Driver is the client under test with its effective settings.
type Driver struct {
	Name     string    `json:"name"`
	Version  string    `json:"version"`
	Producer []Setting `json:"producer,omitempty"`
	Consumer []Setting `json:"consumer,omitempty"`
}

// Setting is one effective client setting under the client's name for it.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Statuses of a system, from the worst on.
const (
	NotJudged   = "not judged"
	LostRecords = "lost records"
	Unavailable = "unavailable"
	Overloaded  = "overloaded"
	HeldBack    = "held back"
	KeptUp      = "kept up"
)

// System says how the system that was measured fared under the load.
type System struct {
	Status   string   `json:"status" jsonschema:"enum=not judged,enum=lost records,enum=unavailable,enum=overloaded,enum=held back,enum=kept up"`
	Findings []string `json:"findings"`
}

// Verdict says whether the numbers can be believed.
type Verdict struct {
	Status   string   `json:"status" jsonschema:"enum=valid,enum=invalid"`
	Reasons  []string `json:"reasons"`
	Warnings []string `json:"warnings"`
}
