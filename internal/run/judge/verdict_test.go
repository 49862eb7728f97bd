package judge

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/result"
)

func TestToolThatCouldNotMeasureIsInvalid(t *testing.T) {
	run := func(lateness, delay time.Duration) *result.Run {
		return &result.Run{
			Load:    result.Load{Scheduled: 1},
			Time:    map[string]result.Time{"pacer_lateness": {Count: 1, P99Ns: int64(lateness)}},
			Process: result.Process{SchedDelayNs: result.Quantile{P99Ns: int64(delay)}},
		}
	}
	for _, c := range []struct {
		name            string
		lateness, delay time.Duration
		says            []string
	}{
		{"in time", maxLateness, maxSchedDelay, nil},
		{"late", maxLateness + 1, 0, []string{"the pacer was late"}},
		{"starved", 0, maxSchedDelay + 1, []string{"starved of CPU"}},
		{"both", time.Second, time.Second, []string{"the pacer was late: 1.00 s at p99", "waited 1.00 s at p99"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			reasons := faultsOfTheTool(run(c.lateness, c.delay))
			if len(reasons) != len(c.says) {
				t.Fatalf("%q; want %d reasons", reasons, len(c.says))
			}
			for i, want := range c.says {
				if !strings.Contains(reasons[i], want) {
					t.Errorf("%q does not say %q", reasons[i], want)
				}
			}
		})
	}
}

// Without a schedule, starvation makes no figure wrong, so it is a warning and a tool limit.
func TestStarvedWithoutASchedule(t *testing.T) {
	starved := result.Process{SchedDelayNs: result.Quantile{P99Ns: int64(time.Second)}}
	for name, load := range map[string]result.Load{"closed loop": {ClosedLoop: true, Scheduled: 1}, "read only": {}} {
		out := &result.Run{Load: load, Process: starved}
		if reasons := faultsOfTheTool(out); len(reasons) != 0 {
			t.Errorf("%s: %q", name, reasons)
		}
		if limits := ToolLimits(out); len(limits) != 1 || !strings.Contains(limits[0], "starved") {
			t.Errorf("%s: the limits are %q", name, limits)
		}
		if warnings := warningsOfTheMachine(out); len(warnings) != 1 || !strings.Contains(warnings[0], "starved") {
			t.Errorf("%s warns %q", name, warnings)
		}
	}
}

func TestNothingPendingIsNoWarning(t *testing.T) {
	for pending, want := range map[int64]int{0: 0, 1: 1} {
		out := &result.Run{Delivery: result.Delivery{Pending: pending}}
		v := verdict{Evidence: &Evidence{Setup: Setup{Scenario: scenario.Defaults()}}, out: out}
		if got := v.warningsOfTheRecords(); len(got) != want {
			t.Errorf("with %d pending it warns %q", pending, got)
		}
	}
}

func TestTimesOfAStarvedRunAreUnreliable(t *testing.T) {
	starved := func(load result.Load, delay time.Duration) *result.Run {
		return &result.Run{
			Load: load, Process: result.Process{SchedDelayNs: result.Quantile{P99Ns: int64(delay)}},
			Time: map[string]result.Time{"e2e_service_time": {Count: 1}, "poll_time": {Count: 5}, "send_delay": {}},
		}
	}
	closed := result.Load{ClosedLoop: true, Scheduled: 1}
	for name, out := range map[string]*result.Run{
		"not starved": starved(closed, maxSchedDelay), "with a schedule": starved(result.Load{Scheduled: 1}, time.Second),
	} {
		if fields := unreliable(out); fields != nil {
			t.Errorf("%s: %q", name, fields)
		}
	}
	for name, load := range map[string]result.Load{"closed loop": closed, "read only": {}} {
		out := starved(load, maxSchedDelay+1)
		out.Run.NotMeasured = unreliable(out)
		for _, path := range []string{"time.e2e_service_time.p99_ns", "time.poll_time.max_ns", "intervals.time.p99_ns", "lag.time_lag_peak_ns"} {
			if out.Says(path) {
				t.Errorf("%s: %s counts as measured; not measured are %q", name, path, out.Run.NotMeasured)
			}
		}
		for _, path := range []string{"load.acked_per_s", "delivery.delivered_per_s", "time.send_delay.p99_ns", "lag.backlog_peak_records"} {
			if !out.Says(path) {
				t.Errorf("%s: %s does not count as measured", name, path)
			}
		}
		warnings := warningsOfTheMachine(out)
		if len(warnings) != 1 || !strings.Contains(warnings[0], "none of its times is to be relied on") {
			t.Errorf("%s warns %q", name, warnings)
		}
	}
}

func TestWhyTheUsageIsNotKnown(t *testing.T) {
	used, died := 1.5, errors.New("process 1 (pid 7): it did not answer")
	for name, c := range map[string]struct {
		died error
		used *float64
		says string
	}{
		"known":                   {nil, &used, ""},
		"one ended":               {died, nil, "for one that ended: process 1 (pid 7): it did not answer"},
		"nothing tells":           {nil, nil, "this operating system does not report what a process uses"},
		"known, though one ended": {died, &used, ""},
	} {
		t.Run(name, func(t *testing.T) {
			v := verdict{
				Evidence: &Evidence{Machine: Machine{UsageUnknown: c.died}},
				out:      &result.Run{Process: result.Process{CPUUserS: c.used}},
			}
			got := strings.Join(v.warningsOfTheUsage(), "; ")
			if (got == "") != (c.says == "") || !strings.Contains(got, c.says) {
				t.Errorf("it says %q, want %q", got, c.says)
			}
		})
	}
}

func TestDuplicatesAfterAKillAreExpected(t *testing.T) {
	v := verdict{
		Evidence: &Evidence{Setup: Setup{Scenario: scenario.Defaults()}, Window: Window{Drained: true}},
		out:      &result.Run{Delivery: result.Delivery{Duplicates: 7, Lost: 1}},
	}
	if got := v.warningsOfTheRecords(); !slices.Contains(got, "7 deliveries were duplicates") {
		t.Errorf("it warns %q", got)
	}
	v.Faults.Injected = []result.Fault{{Name: "kill", Target: "consumer 2"}, {Name: "stop", Target: "consumer 1"}, {Name: "kill", Target: "consumer 0"}}
	got := strings.Join(v.warningsOfTheRecords(), "\n")
	if !strings.Contains(got, "7 deliveries were duplicates, as is to be expected after a kill: what consumer 2 and consumer 0 had not committed") ||
		!strings.Contains(got, "1 acknowledged records were lost") {
		t.Errorf("it warns\n%s", got)
	}
}

func TestFaultsThatDidNotHappen(t *testing.T) {
	s := scenario.Defaults()
	s.Faults = []scenario.ScheduledFault{{At: 5e9, Start: scenario.Target{Kind: scenario.ConsumerTarget, Number: 1}}}
	v := verdict{Evidence: &Evidence{Setup: Setup{Scenario: s}, Window: Window{EndNs: 3e9}}}
	if got := v.warningsOfTheFaults(); len(got) != 1 || !strings.Contains(got[0], "start consumer 1 at 5s did not happen") {
		t.Errorf("it warns %q", got)
	}
	v.Interrupted = true
	if got := v.warningsOfTheFaults(); len(got) > 0 {
		t.Errorf("of an interrupted run it warns %q", got)
	}
}

func TestWaitingOfConfinedConsumersIsAWarning(t *testing.T) {
	out := &result.Run{Load: result.Load{Scheduled: 1}}
	out.Consumer.Confined = &result.Confined{CPU: 0.5, SchedDelayNs: &result.Quantile{P99Ns: int64(time.Second)}}
	want := "waited 1.00 s at p99 to run, each process limited to 0.5 cores"
	if got := warningsOfTheMachine(out); len(got) != 1 || !strings.Contains(got[0], want) || len(faultsOfTheTool(out)) > 0 {
		t.Errorf("it warns %q", got)
	}
}

func TestPeakToBound(t *testing.T) {
	peak := &LagPeak{Records: 1500, AtLeast: &LagPeak{Records: 1250}}
	for _, c := range []struct {
		controller string
		peak       *LagPeak
		want       float64
	}{
		{"credit", peak, 1.5},
		{"hysteresis", peak, 1.5},
		{"latency", peak, -1},
		{"credit", nil, -1},
		{"credit", peak.AtLeast, 1.25},
		{"credit", peak.AtLeast.AtLeast, -1},
	} {
		e := &Evidence{}
		e.Scenario.Backpressure = scenario.Backpressure{Controller: c.controller, MaxLag: 1000}
		got := -1.0
		if ratio := e.peakToBound(c.peak); ratio != nil {
			got = *ratio
		}
		if got != c.want {
			t.Errorf("%s: %v, want %v", c.controller, got, c.want)
		}
	}
}

func TestWarningsOfTheSignal(t *testing.T) {
	for _, c := range []struct {
		b     result.Backpressure
		blind string
		want  []string
	}{
		{result.Backpressure{SignalAgeMaxNs: int64(maxSignalAge)}, "closed", nil},
		{result.Backpressure{SignalAgeMaxNs: 4e9}, "closed", []string{"the gate used a lag that was up to 4.00 s old, because it could not be read"}},
		{result.Backpressure{BlindS: 2.04}, "closed", []string{"the gate was blind for 2.0 s, in which it admitted nothing"}},
		{result.Backpressure{BlindS: 1}, "open", []string{"the gate was blind for 1.0 s, in which it admitted everything"}},
	} {
		if got := warningsOfTheSignal(&c.b, c.blind); !slices.Equal(got, c.want) {
			t.Errorf("%+v: %q, want %q", c.b, got, c.want)
		}
	}
	if got := warningsOfTheSignal(nil, "closed"); got != nil {
		t.Errorf("without a gate: %q", got)
	}
}
