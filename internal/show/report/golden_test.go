package report_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func text(t *testing.T, r *result.Recorded, o report.Options) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := report.Text(&b, r, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// closedLoop has no intended send times.
func closedLoop(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Baseline())
	r.Run.Run.Name = "flood"
	r.Run.Load.ClosedLoop = true
	for metric := range r.Run.Time {
		if strings.Contains(metric, "response") || metric == "send_delay" || metric == "pacer_lateness" {
			delete(r.Run.Time, metric)
		}
	}
	return r
}

func broken(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Baseline())
	run := &r.Run
	run.Run.Name, run.Run.Interrupted = "broken", true
	run.Verdict = result.Verdict{
		Status: result.Invalid,
		Reasons: []string{
			"pacer lateness p99 is 7.42 ms, and may be 2 ms: the machine could not offer this load on time",
			"the books do not balance: acked 187,320 differs from 187,317 delivered, pending, lost and corrupt",
		},
		Warnings: []string{"6 consumers share 4 partitions: 2 of them had nothing to do for the whole of the run, and the figures of capacity count them all the same"},
	}
	l, d := &run.Load, &run.Delivery
	l.Admitted, l.Deferred, l.Shed, l.Acked, l.Failed, l.Unknown = 190_000, 4_000, 6_000, 187_320, 1_180, 1_500
	l.ShedByReason = result.Counts{"gate closed": 5_200, "source queue full": 800}
	l.Errors = result.Counts{"NOT_LEADER_OR_FOLLOWER: This server is not the leader for that topic-partition.": 1_180, "context deadline exceeded": 1_400, "i/o timeout": 100, "EOF": 1}
	d.Unique, d.Duplicates, d.Lost, d.Reordered, d.Corrupt, d.Foreign, d.Pending, d.UnackedDelivered = 187_000, 41, 310, 17, 2, 5, 25, 20
	d.Delivered = d.Unique + d.Duplicates
	for i := range 9 {
		from := uint64(1000 * i)
		d.LostRanges = append(d.LostRanges, result.LostRange{Producer: i % 8, Partition: int32(i), From: from, To: from + uint64(i%3)*20})
	}
	early := run.Time["e2e_service_time"]
	early.Negative, early.MinNs = 3, -1_210
	run.Time["e2e_service_time"] = early
	few := run.Time["poll_time"]
	few.Count = 600
	run.Time["poll_time"] = few
	run.Lag.Drained = false
	run.Consumer.Rebalances, run.Consumer.CommitErrors = 2, 1
	r.Notes = []string{"line 26 of intervals.ndjson is cut short, as a crash leaves it; it was passed over"}
	return r
}

func harness(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Baseline())
	run := &r.Run
	run.Run.Name = "quick"
	run.Run.Host = result.Host{OS: "darwin", Arch: "arm64", CPUs: 8}
	run.Run.Cluster = result.Cluster{Kind: "embedded", Version: "kfake", Brokers: 1,
		Note: "The cluster ran inside this process and is no Kafka: the figures describe the harness."}
	run.Process = result.Process{SchedDelayNs: run.Process.SchedDelayNs}
	run.Broker, run.Compression = nil, nil
	return r
}

// produceOnly has records too small for a stamp.
func produceOnly(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.Baseline())
	run := &r.Run
	run.Run.Name = "produce-only"
	run.Delivery, run.Consumer, run.Lag = result.Delivery{}, result.Consumer{}, result.Lag{}
	for metric := range run.Time {
		if !strings.HasPrefix(metric, "send") && metric != "pacer_lateness" {
			delete(run.Time, metric)
		}
	}
	return r
}

func killed(t *testing.T) *result.Recorded {
	made := showtest.Simulate(t, resulttest.OverloadLoose())
	r := &result.Recorded{Dir: made.Dir, Intervals: made.Intervals[:14], Events: made.Events[:4], Files: made.Files}
	r.Run = result.Run{
		SchemaVersion: 1, Scenario: made.Run.Scenario, Run: made.Run.Run,
		Verdict: result.Verdict{Status: result.Invalid, Reasons: []string{"the run did not finish"}},
	}
	r.Run.Run.FinishedAt, r.Run.Run.Phases = time.Time{}, nil
	r.Notes = []string{"line 15 of intervals.ndjson is cut short, as a crash leaves it; it was passed over"}
	return r
}

// If no reading found a waiting record, the report prints no age.
func TestTimeLagThatNobodySaw(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Baseline())
	r.Run.Lag.TimeLagPeakNs = 0
	if got := string(text(t, r, report.Options{})); !strings.Contains(got, "time lag      – (looked at once an interval") || strings.Contains(got, "at most 0 ns") {
		t.Error(got)
	}
}

func TestText(t *testing.T) {
	stored, err := result.Read("../../result/testdata/20261121T195900Z-overload-tight-t3va6k")
	if err != nil {
		t.Fatal(err)
	}
	stored.Dir = showtest.Simulate(t, resulttest.OverloadTight()).Dir
	deferring := resulttest.OverloadTight()
	deferring.Name, deferring.Excess = "overload-defer", "defer"
	for _, c := range []struct {
		name string
		run  *result.Recorded
	}{
		{"overload-tight", stored},
		{"overload", showtest.Simulate(t, resulttest.Overload())},
		{"overload-defer", showtest.Simulate(t, deferring)},
		{"baseline", showtest.Simulate(t, resulttest.Baseline())},
		{"closed-loop", closedLoop(t)},
		{"broken", broken(t)},
		{"embedded", harness(t)},
		{"produce-only", produceOnly(t)},
		{"killed", killed(t)},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := text(t, c.run, report.Options{})
			lines := 66
			switch {
			case c.name == "broken":
				lines = 86 // it lists every problem
			case c.run.Run.Backpressure != nil && c.run.Run.Finished():
				lines = 84 // with a picture of the lag
			}
			showtest.Screens(t, got, layout.Width, lines)
			showtest.Golden(t, c.name, got)
			for _, width := range []int{80, 120} {
				more := 10
				if c.name == "overload-defer" && width == 80 {
					more = 31 // times with many bounds need two tables
				}
				showtest.Screens(t, text(t, c.run, report.Options{Width: width}), width, lines+more)
			}
		})
	}
}
