// Package bottleneck names what limited a run, by rules over the run's figures.
//
// Each resource has a rule that returns a saturation from 0 to 1, a sentence with the figures, and
// a remedy. Without its figures a rule returns nothing. A run that lacks one resource waits at
// others too, so the kinds of rules have an order:
//
//   - Capacities are used up: CPUs, disks, networks, threads, the consumers' own work. Each is
//     compared with what the process, broker or disk may use.
//   - Limits are settings that cause waits: requests in flight, batches, fetches, quotas, the gate. A
//     used-up capacity fills them too, so a limit is named only if no capacity is used up.
//   - The machine follows if other processes keep it busy.
//   - The closed loop's bound on records in flight comes last, because it is always full.
//   - Hints are used up, but possibly cause no waits; they are never named.
//
// Within a kind the first saturated rule is named; the narrowest resource comes first, such as a
// broker with a limit before the machine.
//
// On a machine that other processes keep busy, slow requests fill the limits. So the saturation of
// a limit omits the part of the time in which the run's processes waited for a core, or all of the
// time if that part is unknown. If this brings a limit below Saturated, the busy machine filled the
// limit. Then the machine is named, unless the processes hardly waited for a core.
//
// An invalid run has no bottleneck. If an open loop completed all that was offered and no capacity
// is used up, the offered load limited the run. If no rule explains what limited the run, the
// answer is "not known".
//
// Files to know: bottleneck.go (the choice), capacities.go, limits.go.
package bottleneck

import (
	"cmp"
	"fmt"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Saturated is the saturation at which a resource counts as used up. At 0.8 a queue of random
// arrivals has a mean length of four.
const Saturated = 0.8

// Names of resources, as in result.Resource.
const (
	ConsumerCPU     = "consumer CPU" // with a limit
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

	OfferedLoad = "offered load" // the run did all that was asked
	NotKnown    = "not known"    // nothing measured was saturated, or the run is invalid
)

// Settings are the run's limits. A zero is unknown or no limit, and its rules return nothing.
type Settings struct {
	ClientCores float64 // of the tool's processes

	InFlight    int   // produce requests on each connection
	BatchBytes  int64 // before compression
	LingerNs    int64
	MaxBuffered int64 // in flight, of all producing clients

	Partitions             int
	FetchMinBytes          int64
	FetchMaxBytes          int64 // of one response
	FetchMaxPartitionBytes int64 // of one partition in it
	FetchMaxWaitNs         int64
	CommitsEachBatch       bool // a consumer waits for each commit
}

type kind int

const (
	capacity kind = iota
	limit
	foreign // the machine, used up by other processes
	buffer
	hint
)

type finding struct {
	result.Resource
	kind   kind
	remedy string
	own    float64 // the saturation without the effect of other processes
}

type rule func(*judge) (finding, bool)

// rules has the narrowest resource of each kind first.
var rules = []rule{
	consumerCPU, consumerWork, clientCPU, brokerCPU, disk, network, hostCPU, networkThreads, requestHandlers,
	quota, gate, partitions, fetchSize, fetchWait, commits, inFlight, batchSize, linger,
	buffered,
}

type judge struct {
	*result.Run
	Settings
	window float64 // seconds
	// the part of their time in which the run's processes did not wait for a core
	undelayed float64
}

// Find names the bottleneck of a finished run; nil if the run has no measured window.
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

func fullest(found []finding) string {
	if len(found) == 0 {
		return ""
	}
	top := slices.MaxFunc(found, func(a, b finding) int { return cmp.Compare(a.Saturation, b.Saturation) })
	return fmt.Sprintf("; the fullest was %s: %s", top.Name, top.Evidence)
}

// Tolerances, because some records are due in the window, and acked or delivered after it.
const (
	letThrough = 0.999 // of the scheduled records
	gotAcked   = 0.99  // of the offered rate
	gotThrough = 0.97  // of the acked rate, for the consumers
	growth     = 0.01  // of the acked rate, by which a backlog may grow beyond its error
)

// keptUp is false for closed loops and read-only runs.
func (j *judge) keptUp() bool {
	l := j.Load
	if l.ClosedLoop || l.Scheduled == 0 || l.OfferedPerS <= 0 {
		return false
	}
	return float64(l.Admitted) >= letThrough*float64(l.Scheduled) &&
		float64(l.Acked) >= letThrough*float64(l.Admitted) &&
		l.AckedPerS >= gotAcked*l.OfferedPerS && !j.behind()
}

// behind reports whether the consumers fall behind the producers, or read existing records.
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

func window(r *result.Run) float64 {
	for _, p := range r.Run.Phases {
		if p.Name == "measure" {
			return float64(p.EndNs-p.StartNs) / 1e9
		}
	}
	return 0
}

// withCores returns how much of its runnable time the most delayed process ran: 1 if the machine
// had enough cores, 0 if no wait was reported.
func (j *judge) withCores() float64 {
	if busy, known := j.hostBusy(); !known || busy < Saturated {
		return 1
	}
	waited, known := j.longestWait()
	if !known {
		return 0
	}
	if stolen := j.Process.HostCPUStolen; stolen != nil { // not part of a thread's wait
		waited = 1 - (1-waited)*(1-*stolen)
	}
	return max(0, 1-waited)
}

// longestWait returns the largest part of their time that threads of the tool or a broker waited
// for a core.
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

// timed scales a finding that depends on a duration by undelayed.
func (j *judge) timed(f finding, known bool) (finding, bool) {
	f.own *= j.undelayed
	return f, known
}

// There is no finding if saturation is NaN or negative.
func found(name string, k kind, saturation float64, remedy, evidence string, args ...any) (finding, bool) {
	if !(saturation >= 0) {
		return finding{}, false
	}
	return finding{
		Resource: result.Resource{Name: name, Saturation: min(1, saturation), Evidence: fmt.Sprintf(evidence, args...)},
		kind:     k, remedy: remedy, own: saturation,
	}, true
}

func unknown() (finding, bool) { return finding{}, false }

func percent(ratio float64) string { return fmt.Sprintf("%.3g %%", 100*ratio) }
