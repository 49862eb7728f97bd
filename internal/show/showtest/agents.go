package showtest

import (
	"fmt"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
)

// Agents returns a baseline that n agents made together. Times between two machines have a clock
// error, and agent 2 was late.
func Agents(t *testing.T, n int64) *result.Recorded {
	r := Simulate(t, resulttest.Baseline())
	run := &r.Run
	run.Run.Name, run.Run.Placement, run.Run.Session = "agents", "apart", "s7"
	for _, metric := range []string{"e2e_service_time", "e2e_response_time", "processed_response_time"} {
		d := run.Time[metric]
		d.ErrorNs = 4_130_000
		run.Time[metric] = d
	}
	for i := range n {
		late, cores, busy := 1_100_000+i*7000, 0.81, 0.62
		if i == 2 {
			late = 6_400_000
		}
		a := result.Agent{
			Index: int(i), Instance: fmt.Sprintf("%016x", 0xc0ffee+i), HandedIn: true,
			HostName: "node-" + string(rune('a'+i)), Host: run.Run.Host,
			Producers: 2, Consumers: 1, Partitions: 4, StartedNs: new(-5_000_000_000 + i*300_000), ClockErrorNs: new(i * 100_000),
			Counts: &result.AgentCounts{
				Scheduled: run.Load.Scheduled / n, Admitted: run.Load.Admitted / n, Acked: run.Load.Acked / n,
				Delivered: run.Delivery.Delivered / n, Unique: run.Delivery.Unique / n, Crossed: run.Delivery.Unique / n,
			},
			PacerLatenessP99Ns: new(late), Process: &result.Process{CPUCores: &cores, HostCPUBusy: &busy},
		}
		if i == 2 {
			a.Warnings = []string{"the pacer was 6.40 ms late at p99; response times contain that"}
			run.Verdict.Warnings = append(run.Verdict.Warnings, a.String()+": "+a.Warnings[0])
		}
		run.Agents = append(run.Agents, a)
		for k := range int64(2) {
			r.Agents = append(r.Agents, result.AgentInterval{Index: int(i), StartNs: k * 1e9, EndNs: (k + 1) * 1e9})
		}
	}
	r.Files = append(r.Files, result.AgentsFile)
	return r
}

// MadeBy returns a change that turns a run into one that agents made. With the placement apart, the
// first agents only send and the others only consume; senders is how many agents send.
func MadeBy(agents, senders int, placement string) func(*result.Run) {
	return func(r *result.Run) {
		r.Run.Placement = placement
		for i := range agents {
			a := result.Agent{Index: i, HandedIn: true, Producers: 1, Consumers: 1}
			switch {
			case placement != "apart":
			case i < senders:
				a.Consumers = 0
			default:
				a.Producers = 0
			}
			r.Agents = append(r.Agents, a)
		}
	}
}
