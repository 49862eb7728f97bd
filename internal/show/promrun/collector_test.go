package promrun

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"pgregory.net/rapid"

	"kafkabench.example/kafka-bench/internal/measure/latency"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/follow"
)

func headOf(id string) *result.Run {
	return &result.Run{Run: result.Info{
		ID: id, Name: "check", StartedAt: time.Unix(1000, 0), Group: "readers", Tool: result.Tool{Version: "v1"},
		Cluster: result.Cluster{Kind: "kafka", Version: "4.3.1"}, Driver: result.Driver{Name: "franz", Version: "v2"},
		Phases: []result.Phase{{Name: "warm-up", StartNs: -1e9}},
	}}
}

func n64(n int64) *int64 { return &n }

func twoIntervals() []result.Interval {
	open, cores := false, 1.25
	i := result.Interval{
		EndNs: 2e9, Phase: "measure", Scheduled: 101, Admitted: 102, Shed: 103, Acked: 104, Failed: 105, Unknown: 106,
		Delivered: 107, Duplicates: 108, Processed: 109, Redelivered: n64(110), AckedByQueue: n64(111),
		DeadLettered:    n64(112),
		DeferredRecords: 201, InFlightRecords: 202, BacklogRecords: 203, BoundRecords: n64(204), GateOpen: &open,
		TimeLagNs: 1_500_000_000, QueueInFlight: n64(205), QueueOldestUnackedNs: n64(2_500_000_000), ProcessCPUCores: &cores,
		ProcessRSSBytes: n64(206), UnderReplicated: n64(207), Leaderless: n64(208),
		LagRecords: n64(30), LagPartitions: []int64{10, 20},
		Brokers: []result.IntervalBroker{{ID: 1, CPUCores: &cores, RSSBytes: n64(209)}, {ID: 2}},
	}
	return []result.Interval{{EndNs: 1e9, Scheduled: 1000, DeferredRecords: 999, DeadLettered: n64(1000)}, i}
}

func TestEveryNumberIsTold(t *testing.T) {
	c := New()
	c.Take(follow.Change{Run: headOf("a1"), Intervals: twoIntervals()})
	want := `
acked_records_total 104
admitted_records_total 102
backlog_records 203
bound_records 204
broker_cpu_cores{broker="1"} 1.25
broker_resident_memory_bytes{broker="1"} 209
consumer_lag_records{group="readers",partition="0"} 10
consumer_lag_records{group="readers",partition="1"} 20
dead_lettered_records_total 1112
deferred_records 201
delivered_records_total 107
duplicate_records_total 108
failed_records_total 105
gate_open 0
in_flight_records 202
interval_end_timestamp_seconds 1002
leaderless_partitions 208
process_cpu_cores 1.25
process_resident_memory_bytes 206
processed_records_total 109
queue_acked_records_total 111
queue_in_flight_records 205
queue_oldest_unacked_seconds 2.5
redelivered_records_total 110
run_info{cluster="kafka",driver="franz",driver_version="v2",kafka_version="4.3.1",tool_version="v1"} 1
run_phase{phase="measure",verdict=""} 1
scheduled_records_total 1101
shed_records_total 103
time_lag_seconds 1.5
under_replicated_partitions 207
unknown_records_total 106
`
	if got := series(t, c, "a1"); got != strings.TrimSpace(want) {
		t.Errorf("exported is\n%s\nwant%s", got, want)
	}
}

func series(t *testing.T, c *Collector, id string) string {
	t.Helper()
	names, _ := exported(t)
	text, err := testutil.CollectAndFormat(c, expfmt.TypeTextPlain, names...)
	must(t, err)
	var lines []string
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimPrefix(strings.TrimSpace(line), prefix)
		if !strings.Contains(line, `run="`+id+`"`) || !strings.Contains(line, `name="check"`) {
			t.Errorf("%s is not of the run", line)
		}
		line = strings.NewReplacer(`,run="`+id+`"`, "", `run="`+id+`",`, "", `run="`+id+`"`, "").Replace(line)
		line = strings.NewReplacer(`,name="check"`, "", `name="check",`, "", `name="check"`, "").Replace(line)
		lines = append(lines, strings.Replace(line, "{}", "", 1))
	}
	return strings.Join(lines, "\n")
}

func TestNothingIsMadeUp(t *testing.T) {
	c := New()
	if got := testutil.CollectAndCount(c); got != 0 {
		t.Errorf("without a run there are %d series", got)
	}
	head := headOf("a1")
	head.Run.NotMeasured = []string{"intervals.backlog_records", "intervals.time_lag_ns"}
	c.Take(follow.Change{Run: head, Intervals: []result.Interval{{Phase: "warm-up"}}})
	for _, absent := range []string{
		"backlog_records", "time_lag_seconds", "bound_records", "gate_open", "queue_acked_records_total", "process_cpu_cores",
		"under_replicated_partitions", "consumer_lag_records", "e2e_response_time_seconds",
	} {
		if n := testutil.CollectAndCount(c, prefix+absent); n != 0 {
			t.Errorf("%s has %d series, of which nothing is known", absent, n)
		}
	}
	if n := testutil.CollectAndCount(c, prefix+"scheduled_records_total"); n != 1 {
		t.Errorf("scheduled_records_total has %d series, want 1", n)
	}
	alone, unstamped := headOf("b2"), headOf("c3")
	alone.Scenario = resulttest.Settings(map[string]any{"consume": map[string]any{"consumers": 0}})
	for _, made := range []struct {
		head   *result.Run
		absent []string
	}{{alone, []string{"backlog_records", "time_lag_seconds"}}, {unstamped, []string{"time_lag_seconds"}}} {
		c.Take(follow.Change{Run: made.head, Intervals: []result.Interval{{BacklogRecords: 7}}})
		for _, absent := range made.absent {
			if n := testutil.CollectAndCount(c, prefix+absent); n != 0 {
				t.Errorf("%s of run %s has %d series, of which nothing is known", absent, made.head.Run.ID, n)
			}
		}
	}
}

func TestAgentsOfARun(t *testing.T) {
	c := New()
	c.Take(follow.Change{Run: headOf("a1"), Pulse: &result.Pulse{Agents: []result.AgentPulse{{Index: 0, Acked: 5}}}})
	c.Take(follow.Change{Pulse: &result.Pulse{Agents: []result.AgentPulse{
		{Index: 0, HostName: "node-a", Scheduled: 11, Acked: 12, Delivered: 13, Failed: 14, DeferredRecords: 15, InFlightRecords: 16},
		{Index: 1, HostName: "node-b", Acked: 22},
	}}})
	c.Take(follow.Change{Intervals: twoIntervals()[:1]})
	got := series(t, c, "a1")
	for _, want := range []string{
		`agent_scheduled_records_total{agent="0",host="node-a"} 11`, `agent_acked_records_total{agent="0",host="node-a"} 12`,
		`agent_delivered_records_total{agent="0",host="node-a"} 13`, `agent_failed_records_total{agent="0",host="node-a"} 14`,
		`agent_deferred_records{agent="0",host="node-a"} 15`, `agent_in_flight_records{agent="0",host="node-a"} 16`,
		`agent_acked_records_total{agent="1",host="node-b"} 22`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not among\n%s", want, got)
		}
	}
}

// Prometheus can add up the series of one run from agents and their coordinator, or distinguish
// them.
func TestSeriesOfAnAgent(t *testing.T) {
	of := func(c *Collector) string {
		c.Take(follow.Change{Run: headOf("a1"), Intervals: twoIntervals()})
		return series(t, c, "a1")
	}
	run, agent := of(New()), of(OfAgent("3", "node-d"))
	if strings.Contains(run, "agent=") {
		t.Errorf("a run's own series have an agent:\n%s", run)
	}
	lines := strings.Split(agent, "\n")
	for _, line := range lines {
		if !strings.Contains(line, `agent="3"`) || !strings.Contains(line, `host="node-d"`) {
			t.Errorf("%s is not of the agent", line)
		}
	}
	if want := strings.Count(run, "\n") + 1; len(lines) != want {
		t.Errorf("an agent exports %d series, want %d:\n%s", len(lines), want, agent)
	}
}

func TestLagOfSeveralGroups(t *testing.T) {
	c := New()
	c.Take(follow.Change{Run: headOf("a1"), Intervals: []result.Interval{{
		LagRecords: n64(30), LagPartitions: []int64{10, 20},
		Groups: []result.IntervalGroup{{Name: "x", LagRecords: n64(30)}, {Name: "y", LagRecords: n64(7)}, {Name: "z"}},
	}}})
	const want = `
consumer_lag_records{group="x",partition=""} 30
consumer_lag_records{group="y",partition=""} 7
`
	if got := series(t, c, "a1"); !strings.Contains(got, want) || strings.Count(got, "consumer_lag_records") != 2 {
		t.Errorf("exported is\n%s\nwant%s", got, want)
	}
}

func TestOnlyThePresentRun(t *testing.T) {
	c, h := New(), latency.NewHistogram()
	h.Record(1e6)
	of := func(id string) {
		times := []latency.LogEntry{{Tag: "poll_time", Histogram: h}}
		c.Take(follow.Change{Run: headOf(id), Intervals: twoIntervals(), Histograms: times})
	}
	of("a1")
	of("b2")
	if n := testutil.CollectAndCount(c, prefix+"poll_time_seconds"); n != 1 {
		t.Errorf("the time has %d series, want one", n)
	}
	if got := series(t, c, "b2"); !strings.Contains(got, "\nscheduled_records_total 1101\n") ||
		!strings.Contains(got, `poll_time_seconds_count{book="measured"} 1`) {
		t.Errorf("the second run is exported as\n%s", got)
	}
	end := headOf("b2")
	end.Verdict.Status = result.Valid
	c.Take(follow.Change{Run: end, Ended: true})
	if got := series(t, c, "b2"); !strings.Contains(got, `run_phase{phase="ended",verdict="valid"} 1`) {
		t.Errorf("the end of the run is exported as\n%s", got)
	}
}

func TestPercentilesLieInTheirBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := latency.NewHistogram()
		for range rapid.IntRange(1, 30).Draw(t, "values") {
			ns := int64(math.Exp(rapid.Float64Range(-1, math.Log(5e12)).Draw(t, "ln ns")))
			h.RecordN(ns, rapid.Int64Range(1, 1000).Draw(t, "times"))
		}
		c := New()
		times := []latency.LogEntry{{Tag: "e2e_response_time", Histogram: h}}
		c.Take(follow.Change{Run: headOf("a1"), Histograms: times})
		metrics := make(chan prometheus.Metric, 100)
		c.Collect(metrics)
		var m dto.Metric
		for len(metrics) > 0 {
			if metric := <-metrics; metric.Desc() == c.times[latency.E2EResponseTime] {
				if err := metric.Write(&m); err != nil {
					t.Fatal(err)
				}
			}
		}
		got := m.GetHistogram()
		if got.GetSampleCount() != uint64(h.Count()) {
			t.Fatalf("%d values, want %d", got.GetSampleCount(), h.Count())
		}
		for _, percent := range []int64{1, 50, 99, 100} {
			rank := max(1, (h.Count()*percent+99)/100)
			v := float64(h.Percentile(float64(percent))) / 1e9
			low := 0.0
			for _, b := range got.GetBucket() {
				if int64(b.GetCumulativeCount()) >= rank {
					if v > b.GetUpperBound() {
						t.Errorf("p%d is %v s, above its bucket's end %v", percent, v, b.GetUpperBound())
					}
					break
				}
				low = b.GetUpperBound()
			}
			if v < low || v == low && low > 0 {
				t.Errorf("p%d is %v s, below its bucket's beginning %v", percent, v, low)
			}
		}
	})
}

func TestBounds(t *testing.T) {
	want := []time.Duration{
		10 * time.Microsecond, 15 * time.Microsecond, 20 * time.Microsecond, 30 * time.Microsecond, 50 * time.Microsecond,
		70 * time.Microsecond, 100 * time.Microsecond,
	}
	for n, bound := range want {
		if bounds[n] != int64(bound) {
			t.Errorf("bound %d is %d ns, want %d", n, bounds[n], bound)
		}
	}
	if last := bounds[len(bounds)-2:]; last[0] != 3000e9 || last[1] != 3600e9 {
		t.Errorf("the last bounds are %d ns", last)
	}
	for ns, want := range map[int64]int{1e9: 0, 1e9 + 1: 1, 2e9: 8, 5e8: -8, 1_090_000_000: 1, 1_091_000_000: 2} {
		if got := nativeBucket(ns); got != want {
			t.Errorf("%d ns is in the native bucket %d, want %d", ns, got, want)
		}
	}
}
