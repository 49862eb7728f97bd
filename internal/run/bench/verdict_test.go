package bench

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/load"
	"kafkabench.example/kafka-bench/internal/measure/snapshot"
	"kafkabench.example/kafka-bench/internal/plan/payload"
	"kafkabench.example/kafka-bench/internal/plan/scenario"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/run/remote"
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

// Where nothing is due, being starved makes the throughput the machine's, and a search
// has to hear of it; it makes no figure wrong.
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
		if warnings := (&run{}).warningsOfTheMachine(out); len(warnings) != 1 || !strings.Contains(warnings[0], "starved") {
			t.Errorf("%s warns %q", name, warnings)
		}
	}
}

func TestIntervalsEndAtMultiplesOfThePeriod(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		period := rapid.Int64Range(1, 5_000_000_000).Draw(t, "period")
		at := rapid.Int64Range(-100_000_000_000, 100_000_000_000).Draw(t, "at")
		next := multipleAfter(at, period)
		if next <= at || next > at+period || next%period != 0 {
			t.Fatalf("after %d comes %d with period %d", at, next, period)
		}
	})
}

// What was not delivered is told of; that nothing was left is no warning, even
// where there was no drain to see it.
func TestNothingPendingIsNoWarning(t *testing.T) {
	r := &run{cfg: Config{Scenario: scenario.Defaults()}}
	for pending, want := range map[int64]int{0: 0, 1: 1} {
		out := &result.Run{Delivery: result.Delivery{Pending: pending}}
		if got := r.warningsOfTheRecords(out); len(got) != want {
			t.Errorf("with %d pending it warns %q", pending, got)
		}
	}
}

// The times of a run that was starved and is valid all the same are not to be relied
// on, and nobody takes them for measured.
func TestTimesOfAStarvedRunAreUnreliable(t *testing.T) {
	r := &run{}
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
		warnings := r.warningsOfTheMachine(out)
		if len(warnings) != 1 || !strings.Contains(warnings[0], "none of its times is to be relied on") {
			t.Errorf("%s warns %q", name, warnings)
		}
	}
}

// confinedRun is a run whose consumers are in processes of their own, under limits.
func confinedRun(cpu float64, memory unit.Size) *run {
	s := scenario.Defaults()
	s.Consume.Consumers, s.Consume.CPU, s.Consume.Memory = 1, cpu, memory
	return &run{cfg: Config{Scenario: s}, corpus: &payload.Corpus{}}
}

// What the consumers wait for because the scenario holds them back is the experiment
// and not the tool's fault; it is told of them.
func TestConfinedConsumersDoNotStarveTheTool(t *testing.T) {
	waits := snapshot.Pauses{Sched: snapshot.Quantiles{Count: 9, P99: time.Second}, GC: snapshot.Quantiles{Count: 2, P99: time.Millisecond}}
	for name, c := range map[string]struct {
		run  *run
		held bool
	}{
		"half a core": {confinedRun(0.5, 0), true}, "memory": {confinedRun(0, 1<<30), false},
	} {
		r := c.run
		r.atEnd.apart.pauses = waits
		out := &result.Run{Load: result.Load{Scheduled: 1}, Process: r.process(1)}
		r.processesOfTheConsumers(&out.Consumer)
		if invalid := len(faultsOfTheTool(out)) > 0; invalid == c.held {
			t.Errorf("%s: the tool is at fault: %v", name, invalid)
		}
		delay := out.Consumer.Confined.SchedDelayNs
		if (delay != nil) != c.held || c.held && (delay.P99Ns != int64(time.Second) || out.Consumer.Confined.GCPauseNs.P99Ns != int64(time.Millisecond)) {
			t.Errorf("%s: of the consumers it tells %+v", name, out.Consumer.Confined)
		}
		warned := strings.Contains(strings.Join(r.warningsOfTheMachine(out), "\n"), "waited 1.00 s at p99 to run, each process held to 0.5 cores")
		if warned != c.held {
			t.Errorf("%s: warned %q", name, r.warningsOfTheMachine(out))
		}
	}
}

// The end of what there is to read is found by the positions alone, in few looks, and
// the window ends with the last record all the same.
func TestReadToEndAsksLittle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		g := groupOf(func(w remote.Want) snapshot.Group {
			if w.Books || w.Last || w.Usage {
				t.Errorf("it is asked for %+v", w)
			}
			if asked++; asked < 3 {
				return snapshot.Group{Reached: []snapshot.Reached{{Position: 5, At: 10}}}
			}
			return snapshot.Group{Reached: []snapshot.Reached{{Position: 7, At: 1000}}}
		})
		r := &run{axis: load.NewAxis(nil), groups: groups{g}, there: []int64{7}, stop: make(chan struct{})}
		r.axis.Set(0, time.Minute)
		began := time.Now()
		<-r.readToEnd()
		if took := time.Since(began); took != 3*readPoll || asked != 4 || r.axis.End() != 1001 {
			t.Errorf("%d looks in %v; the window ends at %d, want 1001", asked, took, r.axis.End())
		}
	})
}
