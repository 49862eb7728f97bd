package control

import (
	"encoding/json"
	"fmt"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Kind is the kind of a record.
type Kind byte

// The kinds of records, in the order of a run.
const (
	KindHello    Kind = iota + 1 // an agent claims its index
	KindPlan                     // the coordinator begins a run
	KindFilled                   // an agent has filled its part of the topic
	KindReading                  // the coordinator writes where reading a filled topic begins
	KindReady                    // an agent can start; again after a change
	KindStart                    // the coordinator starts the run
	KindPulse                    // an agent's counters while it works
	KindSpent                    // an agent has sent its part, or has read its partitions
	KindSent                     // an agent has closed its producers
	KindSnapshot                 // a piece of a snapshot that an agent hands in
	KindStop                     // the coordinator ends the load early
	KindEnd                      // the session is over
	KindEcho                     // an agent asks for the time, or answers
)

var kindNames = [...]string{"none", "hello", "plan", "filled", "reading", "ready", "start", "pulse", "spent", "sent", "snapshot", "stop", "end", "echo"}

// String returns the kind's name.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

func (k Kind) fromCoordinator() bool {
	return k == KindPlan || k == KindReading || k == KindStart || k == KindStop || k == KindEnd
}

// Body is the content of a record of one kind, as JSON. A snapshot has bytes instead (see
// [Writer.HandIn]).
type Body interface{ Kind() Kind }

// Hello is an agent's claim of an index.
type Hello struct {
	Index    int    `json:"index"` // from 0
	Of       int    `json:"of"`    // number of agents, at least 1
	Instance uint64 `json:"instance"`
	// Tool and Driver are revisions, Method the version of the figures; all processes must have the
	// same.
	Tool      string      `json:"tool"`
	Driver    string      `json:"driver"`
	Method    int         `json:"method"`
	HostName  string      `json:"host_name"`
	Host      result.Host `json:"host"`
	ClusterID string      `json:"cluster_id"`
	// ClockAddr is the host:port of the agent's UDP clock; empty without one.
	ClockAddr string `json:"clock_addr,omitempty"`
	// BootID and ClockShiftNs identify the monotonic clock that the agent reads, and its shift.
	BootID       string `json:"boot_id,omitempty"`
	ClockShiftNs int64  `json:"clock_shift_ns,omitempty"`
}

// Plan begins a run. It is for all agents; each one's part follows from its index.
type Plan struct {
	RunID      string          `json:"run_id"`
	Assignment json.RawMessage `json:"assignment"`
	Placement  string          `json:"placement"` // own, any or apart
	// Each deadline counts from when a process reads the record or event.
	ReadyWithin  time.Duration `json:"ready_within_ns"`   // until the last ready
	HandInWithin time.Duration `json:"hand_in_within_ns"` // silence after the drain's limit
	NextWithin   time.Duration `json:"next_within_ns"`    // from the hand-in to the next plan, or the end
}

// Filled reports that an agent has filled its part of the topic.
type Filled struct {
	AckedIn []int64 `json:"acked_in_records"` // by partition
}

// Reading says where the groups begin to read a topic that the agents have filled.
type Reading struct {
	From   []int64 `json:"from_offset"`              // by partition
	ReadTo []int64 `json:"read_to_offset,omitempty"` // by partition; nil with producers
}

// Ready reports that an agent can start. The last one before [Start] counts.
type Ready struct {
	Partitions []int32 `json:"partitions"` // of its consumers
	// ClockNs is the agent's monotonic clock at the record's writing. ClockOffsetNs is agent 0's
	// clock minus ClockNs, within ClockErrorNs.
	ClockNs       int64  `json:"clock_ns"`
	ClockOffsetNs int64  `json:"clock_offset_ns"`
	ClockErrorNs  int64  `json:"clock_error_ns"`
	Failed        string `json:"failed,omitempty"` // why it can't start; else empty
}

// Start starts a run. It is void unless Instances are the valid ones.
type Start struct {
	Instances []uint64 `json:"instances"` // by index of the agent
	Owners    []int    `json:"owners"`    // agent by partition; −1 is none
	ClocksNs  []int64  `json:"clocks_ns"` // start of the window, on each agent's clock
	LengthNs  int64    `json:"length_ns"`
}

// Pulse has an agent's counts of records since the start of the run.
type Pulse struct {
	Scheduled int64  `json:"scheduled_records"`
	Acked     int64  `json:"acked_records"`
	Delivered int64  `json:"delivered_records"`
	Failed    int64  `json:"failed_records"`
	Deferred  int64  `json:"deferred_records"`
	InFlight  int64  `json:"in_flight_records"`
	AtNs      int64  `json:"at_ns"` // on the run's axis
	Phase     string `json:"phase"`
}

// Spent reports that an agent has sent its part of a bounded volume, or has read what its
// partitions held. The measured window ends once all have. Times are on the run's axis.
type Spent struct {
	LastNs int64 `json:"last_ns"` // last record due or delivered
	NextNs int64 `json:"next_ns"` // next record would have been due
}

// Sent reports that an agent's producers are closed.
type Sent struct {
	AckedIn []int64 `json:"acked_in_records"` // by partition
	Failed  string  `json:"failed,omitempty"` // why its load ended early; empty if it did not, or on request
}

// Stop ends the load early.
type Stop struct {
	AtNs int64 `json:"at_ns"` // on the run's axis
}

// End ends the session.
type End struct {
	Reason string `json:"reason,omitempty"` // empty if all went well
	// Refused has, by index, why agents do not fit the coordinator.
	Refused map[int]string `json:"refused,omitempty"`
}

// Echo asks agents that do not answer by UDP for the time, or answers.
type Echo struct {
	Of     []int  `json:"of,omitempty"` // none in an answer
	Asker  uint64 `json:"asker"`        // asking instance
	Number int64  `json:"number"`       // of the question, from 1
	// In an answer; see package clock.
	HeardNs    int64 `json:"heard_ns,omitempty"`
	AnsweredNs int64 `json:"answered_ns,omitempty"`
	SlewNs     int64 `json:"slew_ns,omitempty"`
}

// Kind implements Body.
func (Hello) Kind() Kind { return KindHello }

// Kind implements Body.
func (Plan) Kind() Kind { return KindPlan }

// Kind implements Body.
func (Filled) Kind() Kind { return KindFilled }

// Kind implements Body.
func (Reading) Kind() Kind { return KindReading }

// Kind implements Body.
func (Ready) Kind() Kind { return KindReady }

// Kind implements Body.
func (Start) Kind() Kind { return KindStart }

// Kind implements Body.
func (Pulse) Kind() Kind { return KindPulse }

// Kind implements Body.
func (Spent) Kind() Kind { return KindSpent }

// Kind implements Body.
func (Sent) Kind() Kind { return KindSent }

// Kind implements Body.
func (Stop) Kind() Kind { return KindStop }

// Kind implements Body.
func (End) Kind() Kind { return KindEnd }

// Kind implements Body.
func (Echo) Kind() Kind { return KindEcho }

// decode returns a pointer to the body, or nil for a snapshot. The error is ErrMalformed.
func (r Record) decode() (any, error) {
	var body any
	switch r.Kind {
	case KindHello:
		body = new(Hello)
	case KindPlan:
		body = new(Plan)
	case KindFilled:
		body = new(Filled)
	case KindReading:
		body = new(Reading)
	case KindReady:
		body = new(Ready)
	case KindStart:
		body = new(Start)
	case KindPulse:
		body = new(Pulse)
	case KindSpent:
		body = new(Spent)
	case KindSent:
		body = new(Sent)
	case KindStop:
		body = new(Stop)
	case KindEnd:
		body = new(End)
	case KindEcho:
		body = new(Echo)
	default:
		return nil, nil
	}
	if err := json.Unmarshal(r.Body, body); err != nil {
		return nil, fmt.Errorf("%w: %v: %w", ErrMalformed, r.Kind, err)
	}
	if h, is := body.(*Hello); is && (h.Index != r.Agent || h.Instance != r.Instance) {
		return nil, fmt.Errorf("%w: a hello of agent %d and its envelope of agent %d", ErrMalformed, h.Index, r.Agent)
	}
	return body, nil
}
