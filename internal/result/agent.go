package result

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"slices"
)

// Agent is one of the processes that made the run's load together, each on a machine of
// its own or on one that they share. What is null is not known, as of an agent that did
// not hand in its part.
type Agent struct {
	Index    int    `json:"index"`     // from 0; agent 0's clock is the run's
	Instance string `json:"instance"`  // of the process: random, in hexadecimal
	HandedIn bool   `json:"handed_in"` // its part is in the result, whole
	HostName string `json:"host_name,omitempty"`
	Host     Host   `json:"host"`

	Producers int `json:"producers"`
	Consumers int `json:"consumers"`
	// Partitions is how many partitions its consumers owned when the run started.
	Partitions int `json:"partitions"`

	// StartedNs is when its first round of sending or fetching began, on the run's time axis.
	StartedNs *int64 `json:"started_ns"`
	// ClockErrorNs is how far its clock, as the run translates it to that of agent 0, may
	// have been off at the start: 0 on a machine that has agent 0's clock.
	ClockErrorNs *int64 `json:"clock_error_ns"`

	Counts *AgentCounts `json:"counts"`
	// PacerLatenessP99Ns is null also if none of its records had a due time.
	PacerLatenessP99Ns *int64   `json:"pacer_lateness_p99_ns"`
	Process            *Process `json:"process"` // its own; host_cpu_busy_ratio is of its machine

	// Reasons are why the run is invalid because of this agent, and Warnings what else is
	// to be known of it. The run's verdict has the same, with the agent's name.
	Reasons  []string `json:"reasons,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// String names the agent: agent 2 (node-c), or agent 2 if its machine has no name.
func (a Agent) String() string {
	if a.HostName == "" {
		return fmt.Sprintf("agent %d", a.Index)
	}
	return fmt.Sprintf("agent %d (%s)", a.Index, a.HostName)
}

// AgentCounts are an agent's share in the books of the measured window.
type AgentCounts struct {
	Scheduled int64 `json:"scheduled"`
	Admitted  int64 `json:"admitted"`
	Acked     int64 `json:"acked"`
	Delivered int64 `json:"delivered"`
	Unique    int64 `json:"unique"`
	// Crossed are delivered records that another agent had sent, so that their times rest
	// on two clocks.
	Crossed int64 `json:"crossed"`
}

// AgentInterval is a line of agents.ndjson: what one agent did in one interval of the run.
// Counts are as in Interval.
type AgentInterval struct {
	Index   int   `json:"index"`
	StartNs int64 `json:"start_ns"`
	EndNs   int64 `json:"end_ns"`

	Scheduled int64 `json:"scheduled"`
	Acked     int64 `json:"acked"`
	Delivered int64 `json:"delivered"`
	// At the end of the interval.
	DeferredRecords int64 `json:"deferred_records"`
	InFlightRecords int64 `json:"in_flight_records"`

	PacerLatenessP99Ns *int64   `json:"pacer_lateness_p99_ns"` // null without a sample in the interval
	E2EResponseP99Ns   *int64   `json:"e2e_response_time_p99_ns"`
	CPUCores           *float64 `json:"process_cpu_cores"` // null if the interval is too short for it
	RSSBytes           *int64   `json:"process_rss_bytes"`
}

// Pulse is a line of pulses.ndjson: what the agents of a run have counted while it goes on. Their
// intervals and times are known only after they have handed in.
type Pulse struct {
	RunID  string       `json:"run_id,omitempty"`
	Agents []AgentPulse `json:"agents"` // by index, without those that have not told anything
}

// AgentPulse is what one agent has counted, in records since the run began.
type AgentPulse struct {
	Index     int    `json:"index"`
	HostName  string `json:"host_name,omitempty"`
	AtNs      int64  `json:"at_ns"` // when it counted, on the run's axis
	Phase     string `json:"phase"`
	Scheduled int64  `json:"scheduled"`
	Acked     int64  `json:"acked"`
	Delivered int64  `json:"delivered"`
	Failed    int64  `json:"failed"`

	DeferredRecords int64 `json:"deferred_records"` // then
	InFlightRecords int64 `json:"in_flight_records"`
}

// Since returns what all agents together did since an earlier pulse, as an interval without times.
// The zero Pulse is before the run.
func (p Pulse) Since(earlier Pulse) (i Interval) {
	for n, a := range p.Agents {
		if n == 0 || a.AtNs > i.EndNs {
			i.EndNs, i.Phase = a.AtNs, a.Phase
		}
		i.Scheduled += a.Scheduled
		i.Acked += a.Acked
		i.Delivered += a.Delivered
		i.Failed += a.Failed
		i.DeferredRecords += a.DeferredRecords
		i.InFlightRecords += a.InFlightRecords
	}
	i.StartNs = i.EndNs
	for n, a := range earlier.Agents {
		if n == 0 || a.AtNs > i.StartNs {
			i.StartNs = a.AtNs
		}
		i.Scheduled -= a.Scheduled
		i.Acked -= a.Acked
		i.Delivered -= a.Delivered
		i.Failed -= a.Failed
	}
	return i
}

// Agent appends a line to agents.ndjson. The first line makes the file.
func (w *Writer) Agent(i AgentInterval) error { return w.appendTo(&w.agents, AgentsFile, i) }

// Pulse appends a line to pulses.ndjson. The first line makes the file.
func (w *Writer) Pulse(p Pulse) error { return w.appendTo(&w.pulses, PulsesFile, p) }

func (w *Writer) appendTo(to **appender, name string, line any) error {
	if *to == nil {
		a, err := newAppender(w.dir, name)
		if err != nil {
			return err
		}
		*to = a
	}
	return (*to).line(line)
}

// readAgents reads agents.ndjson; a run without agents has none.
func readAgents(fsys fs.FS, dir string, files []string) ([]AgentInterval, string, error) {
	if !slices.Contains(files, AgentsFile) {
		return nil, "", nil
	}
	return readFile(fsys, dir, AgentsFile,
		func(line []byte, to *AgentInterval) error { return json.Unmarshal(line, to) })
}
