package result

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"slices"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/textfile"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// Agent is one of the processes that together made the run's load, on one or several machines. Null
// figures are unknown, such as those of an agent that did not send its part.
type Agent struct {
	Index    int    `json:"index"`     // from 0; agent 0's clock is the run's
	Instance string `json:"instance"`  // of the process: random, in hexadecimal
	HandedIn bool   `json:"handed_in"` // whether the result includes its complete part
	// Interrupted is set if the agent itself was interrupted, and handed in its part.
	Interrupted bool   `json:"interrupted,omitempty"`
	HostName    string `json:"host_name,omitempty"`
	Host        Host   `json:"host"`

	Producers int `json:"producers"`
	Consumers int `json:"consumers"`
	// Partitions is how many partitions its consumers had when the run started.
	Partitions int `json:"partitions"`

	// StartedNs is when its first round of sending or fetching began, on the run's time axis.
	StartedNs *int64 `json:"started_ns"`
	// ClockErrorNs is how far its clock, translated to agent 0's, may have been off at the start: 0
	// on a machine with agent 0's clock.
	ClockErrorNs *int64 `json:"clock_error_ns"`

	Counts *AgentCounts `json:"counts"`
	// PacerLatenessP99Ns is also null if none of the agent's records had a due time.
	PacerLatenessP99Ns *int64   `json:"pacer_lateness_p99_ns"`
	Process            *Process `json:"process"` // of the agent; host_cpu_busy_ratio is of its machine

	// Reasons say why this agent makes the run invalid; Warnings are other remarks. The run's
	// verdict has both, with the agent's name.
	Reasons  []string `json:"reasons,omitempty"`
	Warnings []string `json:"warnings,omitempty"`
}

// String returns "agent 2 (node-c)", or "agent 2" if its machine has no name.
func (a Agent) String() string {
	if a.HostName == "" {
		return fmt.Sprintf("agent %d", a.Index)
	}
	return fmt.Sprintf("agent %d (%s)", a.Index, a.HostName)
}

// Fleet is how many agents made a run, and how they divided the load. The zero value has no agents:
// one machine made the run.
type Fleet struct {
	Agents    int
	Placement string
	Senders   int // how many agents sent, if Placement is apart; otherwise 0
}

// Fleet returns the agents that made a finished run.
func (r *Run) Fleet() (f Fleet) {
	if len(r.Agents) == 0 {
		return f
	}
	f = Fleet{Agents: len(r.Agents), Placement: r.Run.Placement}
	for _, a := range r.Agents {
		if f.Placement == "apart" && a.Producers > 0 {
			f.Senders++
		}
	}
	return f
}

// PartMissing reports whether an agent did not hand in its part. No figure includes that part.
func (r *Run) PartMissing() bool {
	return slices.ContainsFunc(r.Agents, func(a Agent) bool { return !a.HandedIn })
}

// String returns "no agents", "2 agents (any)", or "3 agents (apart, 1 sender)".
func (f Fleet) String() string {
	switch {
	case f.Agents == 0:
		return "no agents"
	case f.Senders > 0:
		return fmt.Sprintf("%s (%s, %s)", unit.Things(int64(f.Agents), "agent"), f.Placement,
			unit.Things(int64(f.Senders), "sender"))
	}
	return fmt.Sprintf("%s (%s)", unit.Things(int64(f.Agents), "agent"), f.Placement)
}

// EndedEarly is the entry in Agent.Reasons of an agent that was interrupted itself and handed in
// its part.
const EndedEarly = "it was interrupted, and ended early"

// Lost reports whether the agent ended before the run did. A lost agent makes no further run.
func (a Agent) Lost() bool { return !a.HandedIn || a.Interrupted }

// Lost returns the agents that ended before the run did.
func (r *Run) Lost() (agents []Agent) {
	for _, a := range r.Agents {
		if a.Lost() {
			agents = append(agents, a)
		}
	}
	return agents
}

// EndedByUser reports whether a person ended the run early. If an agent is lost, the run of the
// others ends early too.
func (r *Run) EndedByUser() bool {
	return r.Run.Interrupted && r.Run.EndedByGuard == "" && (r.Run.InterruptedByUser || len(r.Lost()) == 0)
}

// AgentCounts are an agent's part of the books of the measured window.
type AgentCounts struct {
	Scheduled int64 `json:"scheduled"`
	Admitted  int64 `json:"admitted"`
	Acked     int64 `json:"acked"`
	Delivered int64 `json:"delivered"`
	Unique    int64 `json:"unique"`
	// Crossed are delivered records that another agent sent, whose times use two clocks.
	Crossed int64 `json:"crossed"`
}

// AgentInterval is a line of agents.ndjson: one agent in one interval. Counts are as in Interval.
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
	CPUCores           *float64 `json:"process_cpu_cores"` // null if the interval is too short
	RSSBytes           *int64   `json:"process_rss_bytes"`
	// Host is the agent's machine; absent if the operating system does not report it.
	Host *IntervalHost `json:"host,omitempty"`
}

// Pulse is a line of pulses.ndjson: the counts of a run's agents while it goes on, before their
// intervals and times are known.
type Pulse struct {
	RunID  string       `json:"run_id,omitempty"`
	Agents []AgentPulse `json:"agents"` // by index, without agents that have not sent any counts
}

// AgentPulse has the counts of one agent, in records since the run began.
type AgentPulse struct {
	Index     int    `json:"index"`
	HostName  string `json:"host_name,omitempty"`
	AtNs      int64  `json:"at_ns"` // time of the counts, on the run's axis
	Phase     string `json:"phase"`
	Scheduled int64  `json:"scheduled"`
	Acked     int64  `json:"acked"`
	Delivered int64  `json:"delivered"`
	Failed    int64  `json:"failed"`

	DeferredRecords int64 `json:"deferred_records"` // at that time
	InFlightRecords int64 `json:"in_flight_records"`
}

// since returns what the agent did after an earlier pulse, as an interval without Time.
func (a AgentPulse) since(earlier AgentPulse) Interval {
	return Interval{
		StartNs: earlier.AtNs, EndNs: a.AtNs, Phase: a.Phase,
		Scheduled: a.Scheduled - earlier.Scheduled, Acked: a.Acked - earlier.Acked,
		Delivered: a.Delivered - earlier.Delivered, Failed: a.Failed - earlier.Failed,
		DeferredRecords: a.DeferredRecords, InFlightRecords: a.InFlightRecords,
	}
}

// Pulses keeps the last two pulses of each agent. The zero value has none.
type Pulses struct {
	last   Pulse
	before map[int]AgentPulse // by index
}

// Take takes a new pulse. The pulse repeats the last counts of an agent without news.
func (ps *Pulses) Take(p Pulse) {
	if ps.before == nil {
		ps.before = make(map[int]AgentPulse)
	}
	for _, old := range ps.last.Agents {
		if slices.ContainsFunc(p.Agents, func(a AgentPulse) bool { return a.Index == old.Index && a.AtNs != old.AtNs }) {
			ps.before[old.Index] = old
		}
	}
	ps.last = p
}

// Each yields the last pulse of each agent, and what the agent did since its previous pulse, as an
// interval without Time.
func (ps *Pulses) Each() iter.Seq2[AgentPulse, Interval] {
	return func(yield func(AgentPulse, Interval) bool) {
		for _, a := range ps.last.Agents {
			before, known := ps.before[a.Index]
			if !known {
				before.AtNs = a.AtNs // its rates are unknown
			}
			if !yield(a, a.since(before)) {
				return
			}
		}
	}
}

// SilentAfter is the age of an agent's last pulse from which the agent counts as silent. Agents send a
// pulse every 5 s.
const SilentAfter = 15 * time.Second

// All returns what all agents did in the longest of their intervals. Pulses come at different
// times, so it scales each agent's counts to that length. A silent agent adds only its deferred and
// in-flight records, which are not scaled for any agent.
func (ps *Pulses) All() (all Interval) {
	for _, i := range ps.Each() {
		if i.EndNs-i.StartNs > all.EndNs-all.StartNs {
			all.StartNs, all.EndNs, all.Phase = i.StartNs, i.EndNs, i.Phase
		}
	}
	newest := int64(math.MinInt64)
	for _, a := range ps.last.Agents {
		newest = max(newest, a.AtNs)
	}
	for a, i := range ps.Each() {
		all.DeferredRecords += i.DeferredRecords
		all.InFlightRecords += i.InFlightRecords
		if i.EndNs == i.StartNs || newest-a.AtNs > int64(SilentAfter) {
			continue
		}
		scale := all.Seconds() / i.Seconds()
		for to, count := range map[*int64]int64{
			&all.Scheduled: i.Scheduled, &all.Acked: i.Acked, &all.Delivered: i.Delivered, &all.Failed: i.Failed,
		} {
			*to += int64(math.Round(float64(count) * scale))
		}
	}
	return all
}

// Agent appends a line to agents.ndjson.
func (w *Writer) Agent(i AgentInterval) error { return w.appendTo(&w.agents, AgentsFile, i) }

// Pulse appends a line to pulses.ndjson.
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

func readAgents(fsys fs.FS, dir string, files []string) ([]AgentInterval, string, error) {
	if !slices.Contains(files, AgentsFile) {
		return nil, "", nil
	}
	return readFile(fsys, dir, AgentsFile,
		func(line []byte, to *AgentInterval) error { return json.Unmarshal(textfile.JSON(line), to) })
}
