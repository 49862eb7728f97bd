package judge

import (
	"slices"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

func TestEachAgentIsJudged(t *testing.T) {
	good := func() result.Agent {
		return result.Agent{
			Index: 2, HostName: "node-c", HandedIn: true, Producers: 2, ClockErrorNs: new(int64(warnClockError)),
			Counts: &result.AgentCounts{Scheduled: 50}, PacerLatenessP99Ns: new(int64(warnLateness)),
			Process: &result.Process{HostCPUBusy: new(warnBusy)},
		}
	}
	for name, c := range map[string]struct {
		change            func(*result.Agent)
		reasons, warnings []string
	}{
		"good": {func(*result.Agent) {}, nil, nil},
		"missing": {func(a *result.Agent) { *a = result.Agent{Index: 2} },
			[]string{"agent 2: its part is missing"}, nil},
		"clock": {func(a *result.Agent) { *a.ClockErrorNs = int64(maxClockError) + 1 },
			[]string{"agent 2 (node-c): its clock may have been off by 50.0 ms at the start, above the bound of 50ms"}, nil},
		"clock unknown": {func(a *result.Agent) { a.ClockErrorNs = nil },
			[]string{"agent 2 (node-c): it is not known how far its clock was off at the start"}, nil},
		"clock warns": {func(a *result.Agent) { *a.ClockErrorNs = int64(maxClockError) },
			nil, []string{"agent 2 (node-c): its clock may have been off by 50.0 ms at the start"}},
		"late": {func(a *result.Agent) { *a.PacerLatenessP99Ns = int64(maxLateness) + 1 },
			[]string{"agent 2 (node-c): the pacer was late: 20.0 ms at p99, above its bound of 20ms"}, nil},
		"rather late": {func(a *result.Agent) { *a.PacerLatenessP99Ns = int64(maxLateness) },
			nil, []string{"agent 2 (node-c): the pacer was 20.0 ms late at p99; response times contain that"}},
		"starved": {func(a *result.Agent) {
			a.Producers, a.Counts.Scheduled = 0, 0 // it only receives records of other agents
			a.Process.SchedDelayNs.P99Ns = int64(time.Second)
		}, []string{"agent 2 (node-c): the tool was starved of CPU: its goroutines waited 1.00 s at p99 to run, above the bound of 20ms"}, nil},
		"busy": {func(a *result.Agent) { *a.Process.HostCPUBusy = 0.97 },
			nil, []string{"agent 2 (node-c): the machine's CPUs were 97.00 % busy: the figures are of this machine as much as of Kafka"}},
		"off its schedule": {func(a *result.Agent) { a.Counts.Scheduled = 54 },
			[]string{"agent 2 (node-c): 54 records came due, but the schedule has 50"}, nil},
		"within it": {func(a *result.Agent) { a.Counts.Scheduled = 53 }, nil, nil},
		"what its coordinator says": {func(a *result.Agent) { a.Reasons = []string{"it began late"} },
			[]string{"agent 2 (node-c): it began late"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := &Evidence{Agents: []result.Agent{good()}}
			c.change(&e.Agents[0])
			e.Scenario.Load.Producers, e.Expected = 4, new(100.0)
			v := verdict{Evidence: e, out: &result.Run{Load: result.Load{Scheduled: 100}}}
			a := v.agents()[0]
			if got := ofAgent(a, a.Reasons); !slices.Equal(got, c.reasons) {
				t.Errorf("reasons %q, want %q", got, c.reasons)
			}
			if got := ofAgent(a, a.Warnings); !slices.Equal(got, c.warnings) {
				t.Errorf("warnings %q, want %q", got, c.warnings)
			}
		})
	}
}

func TestAgentsInTheVerdict(t *testing.T) {
	late := int64(maxLateness) + 1
	lateAgent := result.Agent{Index: 1, HandedIn: true, ClockErrorNs: new(int64(0)), PacerLatenessP99Ns: &late}
	for name, c := range map[string]struct {
		agents []result.Agent
		want   []string
	}{
		"late":    {[]result.Agent{lateAgent}, []string{"agent 1: the pacer was late: 20.0 ms at p99, above its bound of 20ms"}},
		"missing": {[]result.Agent{lateAgent, {Index: 2}}, []string{"agent 1: the pacer was late: 20.0 ms at p99, above its bound of 20ms", "agent 2: its part is missing"}},
	} {
		e := &Evidence{Agents: c.agents, Window: Window{EndNs: 1}}
		out := &result.Run{
			Load: result.Load{Scheduled: 10, Admitted: 10, Acked: 10},
			Time: map[string]result.Time{"pacer_lateness": {Count: 1, P99Ns: late}},
		}
		if name == "missing" {
			out.Load.Acked, e.Expected = 3, new(90.0)
		}
		e.Scenario.Load.Producers = 1
		v := verdict{Evidence: e, out: out}
		out.Agents = v.agents()
		if got := v.give(nil, e.settled()); got.Status != result.Invalid || !slices.Equal(got.Reasons, c.want) {
			t.Errorf("%s: %s, %q; want %q", name, got.Status, got.Reasons, c.want)
		}
		if got := ToolLimits(out); !slices.Equal(got, c.want[:1]) {
			t.Errorf("%s: the limits are %q", name, got)
		}
	}
}
