package chart

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/resulttest"
	"kafkabench.example/kafka-bench/internal/show/draw"
	"kafkabench.example/kafka-bench/internal/show/showtest"
)

func everything(t *testing.T) *result.Recorded {
	r := showtest.Simulate(t, resulttest.OverloadTight())
	end := r.Intervals[len(r.Intervals)-1].EndNs
	for k := range r.Intervals {
		i := &r.Intervals[k]
		// Rates are per time between the readings, which may be longer than the interval.
		i.ReadFromNs, i.ReadToNs = i.StartNs, i.EndNs+int64(k)*1_000_000
		n := int64(k)
		i.Brokers = []result.IntervalBroker{
			{ID: 1, CPUCores: new(0.25 + float64(k)), RSSBytes: new(1000 + n), DiskRead: new(n), DiskWritten: new(2 * n)},
			{ID: 3, RSSBytes: new(2000 + n)},
		}
		i.Host = &result.IntervalHost{CPUBusyRatio: new(0.5), DiskWritten: new(3 * n), NetworkSent: new(7 * n)}
		i.Processes = []result.IntervalProcess{{Name: "run", HeapBytes: new(500 + n), Goroutines: new(n)}}
		if k > 0 {
			i.Processes[0].GCPauseNs = new(10 * n)
		}
		i.AckedByQueue, i.Redelivered, i.QueueOldestUnackedNs = new(n), new(3*n), new(5*n)
		i.BoundRecords, i.UndeliveredRecords = new(5000+n), new(n)
		i.DeferredRecords = n
		if i.EndNs == end {
			i.Host, i.Brokers = nil, nil
		}
	}
	return r
}

func TestOverTime(t *testing.T) {
	r := everything(t)
	r.Run.Queue = &result.Queue{Engine: "markers"}
	seconds := func(i result.Interval) float64 { return float64(i.ReadToNs-i.ReadFromNs) / 1e9 }
	rate := func(count func(result.Interval) int64) func(result.Interval) float64 {
		return func(i result.Interval) float64 { return float64(count(i)) / seconds(i) }
	}
	e2e := func(fewest int64, ns func(result.IntervalTime) int64) func(result.Interval) float64 {
		return func(i result.Interval) float64 {
			if i.Time["e2e_response_time"].Count < fewest {
				return math.NaN()
			}
			return float64(ns(i.Time["e2e_response_time"]))
		}
	}
	broker := func(id int32, v func(result.IntervalBroker) *int64) func(result.Interval) float64 {
		return func(i result.Interval) float64 {
			for _, b := range i.Brokers {
				if p := v(b); b.ID == id && p != nil {
					return float64(*p)
				}
			}
			return math.NaN()
		}
	}
	for _, c := range []struct {
		chart, series, figure string
		want                  func(result.Interval) float64
	}{
		{"timeline", "offered", "scheduled", rate(func(i result.Interval) int64 { return i.Scheduled })},
		{"timeline", "acked", "acked", rate(func(i result.Interval) int64 { return i.Acked })},
		{"timeline", "delivered", "delivered", rate(func(i result.Interval) int64 { return i.Delivered })},
		{"timeline", "p50", "time.e2e_response_time.p50_ns", e2e(20, func(t result.IntervalTime) int64 { return t.P50Ns })},
		{"timeline", "p99", "time.e2e_response_time.p99_ns", e2e(1000, func(t result.IntervalTime) int64 { return t.P99Ns })},
		{"timeline", "max", "time.e2e_response_time.max_ns", e2e(1, func(t result.IntervalTime) int64 { return t.MaxNs })},
		{"lag", "backlog", "backlog_records", func(i result.Interval) float64 { return float64(i.BacklogRecords) }},
		{"lag", "bound", "bound_records", func(i result.Interval) float64 {
			if i.Phase == "drain" {
				return math.NaN()
			}
			return float64(*i.BoundRecords)
		}},
		{"lag", "delivered", "delivered", rate(func(i result.Interval) int64 { return i.Delivered })},
		{"age", "time lag", "time_lag_ns", func(i result.Interval) float64 { return float64(i.TimeLagNs) }},
		{"age", "oldest unacknowledged", "queue_oldest_unacked_ns",
			func(i result.Interval) float64 { return float64(*i.QueueOldestUnackedNs) }},
		{"gate", "gate", "gate_open",
			func(i result.Interval) float64 { return map[bool]float64{true: 0, false: 1}[*i.GateOpen] }},
		{"gate", "deferred", "deferred_records", func(i result.Interval) float64 { return float64(i.DeferredRecords) }},
		{"gate", "shed", "shed", rate(func(i result.Interval) int64 { return i.Shed })},
		{"resources", "kafka-bench", "process_cpu_cores", func(i result.Interval) float64 { return *i.ProcessCPUCores }},
		{"resources", "kafka-bench", "process_rss_bytes",
			func(i result.Interval) float64 { return float64(*i.ProcessRSSBytes) }},
		{"resources", "broker 1", "brokers.cpu_cores", func(i result.Interval) float64 {
			if i.Brokers == nil {
				return math.NaN()
			}
			return *i.Brokers[0].CPUCores
		}},
		{"resources", "broker 3", "brokers.rss_bytes", broker(3, func(b result.IntervalBroker) *int64 { return b.RSSBytes })},
		{"resources", "broker 1", "brokers.disk_written_bytes", func(i result.Interval) float64 {
			return broker(1, func(b result.IntervalBroker) *int64 { return b.DiskWritten })(i) / seconds(i)
		}},
		{"resources", "busy", "host.cpu_busy_ratio", func(i result.Interval) float64 {
			if i.Host == nil {
				return math.NaN()
			}
			return *i.Host.CPUBusyRatio
		}},
		{"resources", "sent", "host.network_sent_bytes", func(i result.Interval) float64 {
			if i.Host == nil {
				return math.NaN()
			}
			return float64(*i.Host.NetworkSent) / seconds(i)
		}},
		{"process", "p99", "time.e2e_response_time.p99_ns", e2e(1000, func(t result.IntervalTime) int64 { return t.P99Ns })},
		{"process", "run", "processes.heap_bytes",
			func(i result.Interval) float64 { return float64(*i.Processes[0].HeapBytes) }},
		{"process", "run", "processes.goroutines",
			func(i result.Interval) float64 { return float64(*i.Processes[0].Goroutines) }},
		{"process", "run", "processes.gc_pause_ns", func(i result.Interval) float64 {
			if i.Processes[0].GCPauseNs == nil {
				return math.NaN()
			}
			return float64(*i.Processes[0].GCPauseNs)
		}},
		{"receive-rate", "overload-tight", "redelivered", rate(func(i result.Interval) int64 { return *i.Redelivered })},
		{"receive-rate", "overload-tight", "delivered", rate(func(i result.Interval) int64 { return i.Delivered })},
		{"receive-rate", "overload-tight", "acked_by_queue", rate(func(i result.Interval) int64 { return *i.AckedByQueue })},
	} {
		s := seriesOf(t, drawn(t, c.chart, of1(r)), c.series, c.figure)
		var from, to, want []float64
		for _, i := range r.Intervals {
			from, to, want = append(from, float64(i.StartNs)), append(to, float64(i.EndNs)), append(want, c.want(i))
		}
		what := fmt.Sprintf("chart %s, %s of %s", c.chart, c.series, c.figure)
		same(t, what+", starts", s.X0, from)
		same(t, what+", ends", s.X1, to)
		same(t, what, s.Y, want)
	}
}

// A percentile is drawn only for intervals with enough records.
func TestUnknownInSomeIntervals(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	const metric = "e2e_response_time"
	r.Run.Delivery.Copies = 2 // of a record: half of the times are independent
	for n, count := range []int64{2000, 1999, 39} {
		of := r.Intervals[n].Time[metric]
		of.Count = count
		r.Intervals[n].Time[metric] = of
	}
	r.Intervals[0].UndeliveredRecords, r.Intervals[0].TimeLagNs = new(int64(0)), 0
	r.Intervals[1].TimeLagNs, r.Intervals[1].InFlightRecords = 0, 5
	times := drawn(t, "timeline", of1(r))
	for _, c := range []struct {
		s     draw.Series
		known [3]bool
	}{
		{seriesOf(t, times, "p50", "time."+metric+".p50_ns"), [3]bool{true, true, false}},
		{seriesOf(t, times, "p99", "time."+metric+".p99_ns"), [3]bool{true, false, false}},
		{seriesOf(t, times, "max", "time."+metric+".max_ns"), [3]bool{true, true, true}},
		{seriesOf(t, drawn(t, "age", of1(r)), "time lag", "time_lag_ns"), [3]bool{true, false, true}},
	} {
		for n, want := range c.known {
			if got := !math.IsNaN(c.s.Y[n]); got != want {
				t.Errorf("%s of interval %d is drawn: %t, want %t", c.s.Name, n, got, want)
			}
		}
	}
}

func TestSideBySide(t *testing.T) {
	free, held := showtest.Simulate(t, resulttest.Overload()), showtest.Simulate(t, resulttest.OverloadTight())
	for _, c := range []struct{ chart, figure string }{
		{"timeline", "acked"}, {"timeline", "delivered"}, {"timeline", "time.e2e_response_time.p99_ns"},
		{"lag", "lag_records"}, {"lag", "delivered"}, {"age", "time_lag_ns"},
	} {
		spec := drawn(t, c.chart, of1(free, held))
		seriesOf(t, spec, "overload", c.figure)
		seriesOf(t, spec, "overload-tight", c.figure)
	}
	if scale := drawn(t, "lag", of1(free, held)).Panels[0].Y.Scale; scale != draw.Log {
		t.Errorf("lags that differ by a factor of 20 have the scale %d", scale)
	}
	if scale := drawn(t, "lag", of1(free)).Panels[0].Y.Scale; scale != draw.Linear {
		t.Errorf("the lag of one run has the scale %d", scale)
	}
}

func TestLagSeries(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	var want []float64
	for _, i := range r.Intervals {
		if i.LagRecords != nil {
			want = append(want, float64(*i.LagRecords))
		}
	}
	same(t, "lag at the ends of intervals", seriesOf(t, drawn(t, "lag", of1(r)), "consumer lag", "lag_records").Y, want)
	end := float64(r.Intervals[len(r.Intervals)-1].EndNs)
	r.Intervals[2].LagSamples = []result.LagSample{{AtNs: math.MinInt64 / 2, Records: 5}, {AtNs: 500, Records: 7},
		{AtNs: 900, Records: 9}}
	s := seriesOf(t, drawn(t, "lag", of1(r)), "consumer lag", "lag_records")
	same(t, "starts of samples", s.X0, []float64{-3e9, 500, 900}) // none from before the run
	same(t, "ends of samples", s.X1, []float64{500, 900, end})
	same(t, "samples", s.Y, []float64{5, 7, 9})
	for i := range r.Intervals {
		r.Intervals[i].LagSamples, r.Intervals[i].LagRecords = nil, nil
	}
	r.Run.Run.Imported = &result.Imported{CannotSay: []string{"intervals.backlog_records"}}
	lacking(t, "lag", of1(r), "lag_samples and no lag_records", "intervals.ndjson")
}

func TestMarks(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	r.Run.Lag.Changes = []result.Change{{AtNs: 7e9, What: "work 1ms"}}
	r.Events = append(r.Events, result.Event{AtNs: 9e9, Kind: "fault", What: "kill broker 1 → 2"},
		result.Event{AtNs: -1, Kind: "rebalance", What: "before"})
	want := []draw.Mark{{At: 0, Words: "measured window begins"}, {At: 20e9, Words: "measured window ends"},
		{At: 7e9, Words: "work 1ms"}, {At: 9e9, Words: "kill broker 1 to 2"}}
	if got := drawn(t, "lag", of1(r)).Marks; !slices.Equal(got, want) {
		t.Errorf("marks %v, expected %v", got, want)
	}
}

func TestPartitions(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	for k := range r.Intervals {
		i := &r.Intervals[k]
		i.AckedPartition = make([]int64, 12)
		for p := range i.AckedPartition {
			i.AckedPartition[p] = int64(p + k)
			i.BacklogPartition[p] = int64(100*(p%6) + k)
		}
	}
	spec := drawn(t, "partitions", of1(r))
	var want, low, high []float64
	for k, i := range r.Intervals {
		want = append(want, float64(11+k)/(float64(i.EndNs-i.StartNs)/1e9))
		low, high = append(low, float64(k)), append(high, float64(100+k))
	}
	same(t, "acked of partition 11", seriesOf(t, spec, "partition 11", "acked_records_partition").Y, want)
	rest := seriesOf(t, spec, "the other 4", "backlog_records_partition") // 0, 1, 6 and 7
	same(t, "lowest backlog of the rest", rest.Low, low)
	same(t, "highest backlog of the rest", rest.High, high)
	if n := len(spec.Panels); n != 2 {
		t.Errorf("%d panels, expected backlog and acked: %q", n, spec.Notes)
	}
	for i := range r.Intervals {
		r.Intervals[i].BacklogPartition, r.Intervals[i].AckedPartition = nil, nil
	}
	lacking(t, "partitions", of1(r), "backlog_records_partition", "intervals.ndjson")
}

func TestOutage(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	lacking(t, "outage", of1(r), "gaps and no availability", "run.json")
	r.Run.Gaps = &result.Gaps{AtLeastNs: 250e6}
	lacking(t, "outage", of1(r), "gaps and no faults", "run.json")
	r.Run.Gaps.Acks = []result.AckGap{{Partition: 4, FromNs: 5e9, ToNs: 7e9}, {Partition: 1, FromNs: 5e9, ToNs: 6e9},
		{Partition: 4, FromNs: 8e9, ToNs: 9e9}}
	r.Run.Gaps.Deliveries = []result.AckGap{{Partition: 1, FromNs: 5e9, ToNs: 6e9, Group: "b"},
		{Partition: 2, FromNs: 1, ToNs: 2, Group: "a"}}
	r.Run.Faults = []result.Fault{{Name: "kill", Target: "broker 1", StartNs: 5e9},
		{Name: "start", Target: "broker 1", StartNs: 6e9},
		{Name: "pause", Target: "consumer 0", StartNs: 7e9, EndNs: new(int64(8e9))}}
	r.Intervals[9].UnderReplicated = new(int64(3))
	spec := drawn(t, "outage", of1(r))
	acks := seriesOf(t, spec, "no acknowledgement", "gaps.acks")
	same(t, "starts of gaps", acks.X0, []float64{5e9, 5e9, 8e9})
	same(t, "ends of gaps", acks.X1, []float64{7e9, 6e9, 9e9})
	same(t, "rows of gaps", acks.Y, []float64{1, 0, 1})
	if got := spec.Panels[2].Y.Categories; !slices.Equal(got, []string{"partition 2, a", "partition 1, b"}) {
		t.Errorf("rows of deliveries are %q", got)
	}
	end := float64(r.Intervals[len(r.Intervals)-1].EndNs)
	same(t, "ends of faults", seriesOf(t, spec, "fault", "faults").X1, []float64{end, 6e9, 8e9})
	if got := seriesOf(t, spec, "under-replicated", "under_replicated_partitions").Y; got[9] != 3 || !math.IsNaN(got[8]) {
		t.Errorf("under-replicated are %v", got)
	}
}

func TestMissingOverTime(t *testing.T) {
	r := showtest.Simulate(t, resulttest.Overload())
	for i := range r.Intervals {
		r.Intervals[i].GateOpen, r.Intervals[i].ProcessCPUCores = nil, nil
	}
	lacking(t, "gate", of1(r), "gate_open", "intervals.ndjson")
	lacking(t, "process", of1(r), "processes", "intervals.ndjson")
	lacking(t, "receive-rate", of1(r), "redelivered", "intervals.ndjson")
	r.Run.Run.NotMeasured = []string{"lag.time_lag_peak_ns", "intervals.time_lag_ns"}
	lacking(t, "age", of1(r), "time_lag_ns", "intervals.ndjson")
}

func TestNotesOnTheRest(t *testing.T) {
	r, without := showtest.Simulate(t, resulttest.Overload()), showtest.Simulate(t, resulttest.Baseline())
	for i := range without.Intervals {
		without.Intervals[i].LagRecords = nil
	}
	notes := drawn(t, "lag", of1(r, without)).Notes
	want := "Not drawn: baseline has no lag_samples and no lag_records in intervals.ndjson."
	if !slices.Equal(notes, []string{want}) {
		t.Errorf("notes %q, expected %q", notes, want)
	}
	without.Run.Consumer.Members = 0
	for i := range without.Intervals {
		without.Intervals[i].Delivered = 0
	}
	if notes := drawn(t, "timeline", of1(without)).Notes; len(notes) > 0 {
		t.Errorf("a run that nobody reads has the notes %q", notes)
	}
}
