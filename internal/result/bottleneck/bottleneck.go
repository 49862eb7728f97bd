// Package bottleneck names what kept a run from more, by rules over the run's figures.
//
// Everything that a run can have too little of has a rule here, which turns figures into
// a saturation from 0 to 1, a sentence with the figures, and a remedy. A figure that was
// not measured makes a rule silent: what is not known is not saturated. The rules are of
// these kinds, because a run that is short of one thing waits at others too, and the
// first is the cause:
//
//   - Capacities are used up: processors, disks, networks, threads, the consumers' own
//     work. Each is held against what the process, broker or disk may use.
//   - Limits are settings at which somebody waits while there is capacity left: requests
//     in flight, batches, fetches, quotas, the gate. Requests are in flight all the time
//     when a broker is slow for want of processors as well, so a limit is only named
//     where no capacity is used up.
//   - The machine comes after them where it is others who keep it busy.
//   - The closed loop's own bound on records in flight comes last: it is full in every
//     closed loop.
//   - Hints are used up and yet may keep nobody waiting; they are never named.
//
// Among those of a kind that are saturated, the narrowest is named, in the order of the
// rules: a confined broker before the machine. A machine that is kept busy by others than
// the run is no resource of the run's, and yet slows all that it does: by Little's law slow
// requests fill a window, and a fetch that comes late looks like one that was held back. So
// what a limit has of saturation is then taken without the part of their time in which the
// run's processes waited for a core (all of it, where that is not known), and a limit that
// is not full without it is a consequence. What is named is the machine, unless hardly
// anybody waited for it.
//
// An invalid run names nothing: its figures are not to be believed, and a limit that they
// show least of all. Where an open loop got through all that was offered, and no capacity
// is used up, it is the offered load that kept the run from more. And where nothing that
// was measured explains it, the answer is that it is not known.
//
// Files to know: bottleneck.go (what is named), capacities.go, limits.go.
package bottleneck

import (
	"cmp"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Saturated is the saturation from which on something counts as used up: waiting grows
// without bound towards 1, and at four fifths a queue of random arrivals is four deep.
const Saturated = 0.8

// Names of what can limit a run, as in result.Resource.
const (
	ConsumerCPU     = "consumer CPU" // of a confined one
	ConsumerWork    = "consumer work"
	ClientCPU       = "client CPU"
	BrokerCPU       = "broker CPU"
	Disk            = "disk"
	Network         = "network"
	HostCPU         = "host CPU"
	NetworkThreads  = "network threads"
	RequestHandlers = "request handlers"

	Quota         = "quota"
	Gate          = "backpressure gate"
	Partitions    = "partitions"
	FetchSize     = "fetch size"
	FetchWait     = "fetch wait"
	Commits       = "commits"
	InFlight      = "in-flight limit"
	BatchSize     = "batch size"
	Linger        = "linger"
	RecordsBuffer = "buffered records"

	OfferedLoad = "offered load" // the run did all that it was asked for
	NotKnown    = "not known"    // nothing that was measured was saturated, or the run is invalid
)

// Settings are what the run was allowed: the limits that its figures are held against.
// A zero is not known, or no limit, and judges nothing.
type Settings struct {
	ClientCores float64 // that the tool's processes may use

	InFlight    int   // produce requests on one connection
	BatchBytes  int64 // of one batch, before compression
	LingerNs    int64 // how long a record waits for others
	MaxBuffered int64 // records in flight, of all producing clients together

	Partitions             int
	FetchMinBytes          int64
	FetchMaxBytes          int64 // of one response
	FetchMaxPartitionBytes int64 // of one partition in it
	FetchMaxWaitNs         int64
	CommitsEachBatch       bool // a consumer waits for each commit before it goes on
}

// A kind of resource; see the package comment.
type kind int

const (
	capacity kind = iota
	limit
	foreign // the machine, used up by others
	buffer
	hint
)

// finding is what a rule says of its resource.
type finding struct {
	result.Resource
	kind   kind
	remedy string
	own    float64 // the saturation without what others than the run use or cause of it
}

// rule judges one resource; false where it is not known.
type rule func(*judge) (finding, bool)

// rules are all rules, of each kind the narrowest resource first.
var rules = []rule{
	consumerCPU, consumerWork, clientCPU, brokerCPU, disk, network, hostCPU, networkThreads, requestHandlers,
	quota, gate, partitions, fetchSize, fetchWait, commits, inFlight, batchSize, linger,
	buffered,
}

// judge is one run with its limits.
type judge struct {
	*result.Run
	Settings
	window float64 // seconds
	// undelayed is the part of their time that the run's processes did not wait for a
	// core: 1 where the machine was not short of them.
	undelayed float64
}

// Find names the bottleneck of a finished run; nil where the run has no measured window,
// so that there is nothing to judge.
func Find(r *result.Run, s Settings) *result.Bottleneck {
	j := &judge{Run: r, Settings: s, window: window(r)}
	if j.window <= 0 || !r.Finished() {
		return nil
	}
	j.undelayed = j.withCores()
	var found []finding
	for _, rule := range rules {
		if f, known := rule(j); known {
			found = append(found, f)
		}
	}
	b := j.verdict(found)
	slices.SortStableFunc(found, func(a, b finding) int { return cmp.Compare(b.Saturation, a.Saturation) })
	b.Resources = make([]result.Resource, len(found))
	for i, f := range found {
		b.Resources[i] = f.Resource
	}
	return b
}

// verdict chooses among the findings, which are in the order of the rules.
func (j *judge) verdict(found []finding) *result.Bottleneck {
	if j.Verdict.Status == result.Invalid {
		return &result.Bottleneck{Resource: NotKnown,
			Evidence: "the run is invalid, and what its figures name is not to be relied on" + fullest(found)}
	}
	keptUp := j.keptUp()
	named := func(f finding) bool {
		return f.own >= Saturated && (f.kind == capacity || f.kind == limit && !keptUp)
	}
	at := slices.IndexFunc(found, named)
	if at < 0 && !keptUp {
		at = slices.IndexFunc(found, func(f finding) bool {
			return f.Saturation >= Saturated && (f.kind == foreign || f.kind == buffer)
		})
	}
	if at >= 0 {
		f := found[at]
		return &result.Bottleneck{Resource: f.Name, Saturation: f.Saturation, Evidence: f.Evidence, Remedy: f.remedy}
	}
	if keptUp {
		return &result.Bottleneck{
			Resource: OfferedLoad, Saturation: min(1, j.Load.AckedPerS/j.Load.OfferedPerS),
			Evidence: fmt.Sprintf("all of the %s that were offered got through%s", unit.PerSecond(j.Load.OfferedPerS),
				fullest(found)),
			Remedy: "offer more to find a limit, or search for the highest rate that holds",
		}
	}
	return &result.Bottleneck{Resource: NotKnown, Evidence: "nothing that was measured was saturated" + fullest(found)}
}

// fullest adds what was used the most, where anything was measured.
func fullest(found []finding) string {
	if len(found) == 0 {
		return ""
	}
	top := slices.MaxFunc(found, func(a, b finding) int { return cmp.Compare(a.Saturation, b.Saturation) })
	return fmt.Sprintf("; the fullest was %s: %s", top.Name, top.Evidence)
}

// Shares of the load within which a run counts as having done what it was asked for. The
// records at the two ends of the window are neither all in it nor all out of it.
const (
	letThrough = 0.999 // of the scheduled
	gotAcked   = 0.99  // of the offered rate
	gotThrough = 0.97  // of the acked rate, by the consumers
	growth     = 0.01  // of the acked rate, by which a backlog may grow, but for its error
)

// keptUp tells whether the run got through all that was offered. A closed loop asks for
// as much as there is, and who only reads is not offered anything.
func (j *judge) keptUp() bool {
	l := j.Load
	if l.ClosedLoop || l.Scheduled == 0 || l.OfferedPerS <= 0 {
		return false
	}
	return float64(l.Admitted) >= letThrough*float64(l.Scheduled) &&
		float64(l.Acked) >= letThrough*float64(l.Admitted) &&
		l.AckedPerS >= gotAcked*l.OfferedPerS && !j.behind()
}

// behind tells whether the consumers fall behind what is produced, or read what lies
// there already.
func (j *judge) behind() bool {
	if j.Consumer.Members == 0 {
		return false
	}
	if j.Load.Scheduled == 0 || !j.Lag.Drained {
		return true
	}
	if g, e := j.Lag.BacklogGrowthPerS, j.Lag.BacklogGrowthErrorPerS; g != nil && e != nil &&
		*g-2**e > growth*j.Load.AckedPerS {
		return true
	}
	return j.Delivery.DeliveredPerS < gotThrough*j.Load.AckedPerS*float64(max(1, j.Delivery.Copies))
}

// window is the length of the measured window, in seconds.
func window(r *result.Run) float64 {
	for _, p := range r.Run.Phases {
		if p.Name == "measure" {
			return float64(p.EndNs-p.StartNs) / 1e9
		}
	}
	return 0
}

// withCores is the part of the time in which the run's processes could run that they did
// run, of the one that was kept waiting the most, where the machine was short of cores;
// else 1. It is 0 where nobody tells: then anything may have been waiting for a core.
func (j *judge) withCores() float64 {
	if busy, known := j.hostBusy(); !known || busy < Saturated {
		return 1
	}
	waited, known := j.longestWait()
	if !known {
		return 0
	}
	if stolen := j.Process.HostCPUStolen; stolen != nil { // which no thread sees as a wait
		waited = 1 - (1-waited)*(1-*stolen)
	}
	return max(0, 1-waited)
}

// longestWait is how much of their time the threads of the tool or of a broker waited
// for a core, the highest.
func (j *judge) longestWait() (ratio float64, known bool) {
	take := func(r *float64) {
		if r != nil {
			ratio, known = max(ratio, min(1, *r)), true
		}
	}
	take(j.Process.CPUWaitRatio)
	for _, b := range j.Broker {
		take(b.CPUWaitRatio)
	}
	return ratio, known
}

// timed is a finding that rests on how long something took, and would be smaller by as
// much as that was for want of a core.
func (j *judge) timed(f finding, known bool) (finding, bool) {
	f.own *= j.undelayed
	return f, known
}

// found makes a finding; a saturation that is no number makes none.
func found(name string, k kind, saturation float64, remedy, evidence string, args ...any) (finding, bool) {
	if !(saturation >= 0) { // NaN too
		return finding{}, false
	}
	return finding{
		Resource: result.Resource{Name: name, Saturation: min(1, saturation), Evidence: fmt.Sprintf(evidence, args...)},
		kind:     k, remedy: remedy, own: saturation,
	}, true
}

// unknown is what a rule says that lacks a figure.
func unknown() (finding, bool) { return finding{}, false }

// percent prints a ratio to three digits, without those that say nothing.
func percent(ratio float64) string { return fmt.Sprintf("%.3g %%", 100*ratio) }
