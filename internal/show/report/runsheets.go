package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

var ofRun = []string{"run", "name", "status"}

func ofRunCells(r *result.Recorded) []string {
	return []string{r.Run.Run.ID, r.Run.Run.Name, r.Run.Verdict.Status}
}

func figureSheet(runs []*result.Recorded) layout.Table {
	s := layout.Table{Rows: [][]string{append(slices.Clone(ofRun), "figure", "unit", "value", "at_least")}}
	errors := shiftedIn(runs)
	if errors {
		s.Rows[0] = append(s.Rows[0], "clock_error")
	}
	for _, r := range runs {
		for _, f := range figure.All() {
			v, known := f.Ranked(&r.Run)
			atLeast, _ := f.AtLeast(&r.Run)
			row := append(ofRunCells(r), f.Name, f.Kind.Unit(), layout.Raw(v), "")
			switch {
			case !known:
				continue
			case math.IsInf(v, 1):
				row[len(row)-2], row[len(row)-1] = "", layout.Raw(atLeast)
			}
			if errors {
				row = append(row, layout.Raw(f.ClockError(&r.Run)))
			}
			s.Add(row...)
		}
	}
	return s
}

// shiftedIn reports whether a time of one of the runs rests on two clocks.
func shiftedIn(runs []*result.Recorded) bool {
	return slices.ContainsFunc(runs, func(r *result.Recorded) bool { return clocked(measured(&r.Run)) })
}

// A percentile is empty if the count does not support it; a column names the highest supported one.
// The cell of a statistic with only a lower bound is also empty: the column at_least has the bound
// with the statistic's name, such as p99_ns 19500000000.
func timeSheet(runs []*result.Recorded) layout.Table {
	s := layout.Table{Rows: [][]string{append(slices.Clone(ofRun), "metric", "count", "highest_supported_percentile")}}
	for _, statistic := range statistics {
		s.Rows[0] = append(s.Rows[0], statistic.Key+"_ns")
	}
	s.Rows[0] = append(s.Rows[0], "not_ended", "at_least")
	errors := shiftedIn(runs)
	if errors {
		s.Rows[0] = append(s.Rows[0], "error_ns")
	}
	for _, r := range runs {
		for _, d := range measured(&r.Run) {
			row := append(ofRunCells(r), d.metric, integer(d.Count), highest(d.independent))
			var bounds []string
			for _, statistic := range statistics {
				cell := ""
				switch says := d.says(statistic) && statistic.supported(d.independent); {
				case says && statistic.AtLeast(d.Time):
					bounds = append(bounds, statistic.Key+"_ns "+layout.Raw(statistic.Ns(d.Time)))
				case says:
					cell = layout.Raw(statistic.Ns(d.Time))
				}
				row = append(row, cell)
			}
			row = append(row, integer(d.NotEnded), strings.Join(bounds, "; "))
			if errors {
				row = append(row, integer(d.ErrorNs))
			}
			s.Add(row...)
		}
	}
	return s
}

// path is a path in run.json: an imported run that lacks the path has an empty cell.
type column struct {
	name string
	path string
	cell func(*result.Run) string
}

func columnSheet(runs []*result.Recorded, all []column) layout.Table {
	s := layout.Table{Rows: [][]string{slices.Clone(ofRun)}}
	for _, c := range all {
		s.Rows[0] = append(s.Rows[0], c.name)
	}
	for _, r := range runs {
		if !r.Run.Finished() {
			continue
		}
		row := ofRunCells(r)
		for _, c := range all {
			cell := ""
			if r.Run.Says(c.path) {
				cell = c.cell(&r.Run)
			}
			row = append(row, cell)
		}
		s.Add(row...)
	}
	return s
}

func bookSheet(runs []*result.Recorded) layout.Table {
	n := func(name, path string, f func(*result.Run) int64) column {
		return column{name, path, func(r *result.Run) string { return integer(f(r)) }}
	}
	return columnSheet(runs, []column{
		n("scheduled_records", "load.scheduled", func(r *result.Run) int64 { return r.Load.Scheduled }),
		n("admitted_records", "load.admitted", func(r *result.Run) int64 { return r.Load.Admitted }),
		n("deferred_records", "load.deferred", func(r *result.Run) int64 { return r.Load.Deferred }),
		n("shed_records", "load.shed", func(r *result.Run) int64 { return r.Load.Shed }),
		n("acked_records", "load.acked", func(r *result.Run) int64 { return r.Load.Acked }),
		n("failed_records", "load.failed", func(r *result.Run) int64 { return r.Load.Failed }),
		n("unknown_records", "load.unknown", func(r *result.Run) int64 { return r.Load.Unknown }),
		n("delivered_records", "delivery.delivered", func(r *result.Run) int64 { return r.Delivery.Delivered }),
		n("unique_records", "delivery.unique", func(r *result.Run) int64 { return r.Delivery.Unique }),
		n("duplicate_records", "delivery.duplicates", func(r *result.Run) int64 { return r.Delivery.Duplicates }),
		n("lost_records", "delivery.lost", func(r *result.Run) int64 { return r.Delivery.Lost }),
		n("reordered_records", "delivery.reordered", func(r *result.Run) int64 { return r.Delivery.Reordered }),
		n("corrupt_records", "delivery.corrupt", func(r *result.Run) int64 { return r.Delivery.Corrupt }),
		n("pending_records", "delivery.pending", func(r *result.Run) int64 { return r.Delivery.Pending }),
		{"checked", "delivery.checked", func(r *result.Run) string { return strconv.FormatBool(r.Delivery.Checked) }},
		{"offered_per_s", "load.offered_per_s", func(r *result.Run) string { return layout.Raw(r.Load.OfferedPerS) }},
		{"acked_per_s", "load.acked_per_s", func(r *result.Run) string { return layout.Raw(r.Load.AckedPerS) }},
		{"delivered_per_s", "delivery.delivered_per_s",
			func(r *result.Run) string { return layout.Raw(r.Delivery.DeliveredPerS) }},
		n("acked_bytes", "load.bytes", func(r *result.Run) int64 { return r.Load.Bytes }),
		{"wire_bytes", "load.wire_bytes", func(r *result.Run) string { return layout.Optional(r.Load.WireBytes) }},
		n("warmup_scheduled_records", "warmup.load.scheduled",
			func(r *result.Run) int64 { return r.Warmup.Load.Scheduled }),
		n("warmup_acked_records", "warmup.load.acked", func(r *result.Run) int64 { return r.Warmup.Load.Acked }),
		n("warmup_failed_records", "warmup.load.failed", func(r *result.Run) int64 { return r.Warmup.Load.Failed }),
		n("warmup_unknown_records", "warmup.load.unknown", func(r *result.Run) int64 { return r.Warmup.Load.Unknown }),
		{"warmup_acked_per_s", "warmup.load.acked_per_s",
			func(r *result.Run) string { return layout.Raw(r.Warmup.Load.AckedPerS) }},
		{"warmup_delivered_per_s", "warmup.delivery.delivered_per_s",
			func(r *result.Run) string { return layout.Optional(r.Warmup.Delivery.DeliveredPerS) }},
		{"delivery_ratio", "delivery.ratio", func(r *result.Run) string { return layout.Raw(r.Delivery.Ratio) }},
		{"delivered_to_acked_ratio", "delivery.delivered_to_acked_ratio",
			func(r *result.Run) string { return layout.Optional(r.Delivery.DeliveredToAcked) }},
	})
}

func lagSheet(runs []*result.Recorded) layout.Table {
	return columnSheet(runs, []column{
		{"lag_records_peak", "lag.peak_records", func(r *result.Run) string { return layout.Optional(r.Lag.PeakRecords) }},
		{"lag_records_final", "lag.final_records", func(r *result.Run) string { return layout.Optional(r.Lag.FinalRecords) }},
		{"backlog_records_peak", "lag.backlog_peak_records",
			func(r *result.Run) string { return integer(r.Lag.BacklogPeakRecords) }},
		{"time_lag_ns_peak", "lag.time_lag_peak_ns",
			func(r *result.Run) string { return integer(r.Lag.TimeLagPeakNs) }},
		{"drained", "lag.drained", func(r *result.Run) string { return strconv.FormatBool(r.Lag.Drained) }},
		{"drain_time_s", "lag.drain_time_s", func(r *result.Run) string { return layout.Raw(r.Lag.DrainTimeS) }},
		{"drain_per_s", "lag.drain_per_s", func(r *result.Run) string { return layout.Raw(r.Lag.DrainPerS) }},
		{"utilisation_ratio", "consumer.utilisation",
			func(r *result.Run) string { return layout.Optional(r.Consumer.Utilisation) }},
		{"capacity_per_s", "consumer.capacity_per_s",
			func(r *result.Run) string { return layout.Optional(r.Consumer.CapacityPerS) }},
		{"ready_ns", "consumer.ready_ns", func(r *result.Run) string { return layout.Optional(r.Consumer.ReadyNs) }},
		{"first_record_ns", "consumer.first_record_ns",
			func(r *result.Run) string { return layout.Optional(r.Consumer.FirstRecordNs) }},
	})
}

func intervalSheet(runs []*result.Recorded) layout.Table {
	s := layout.Table{Rows: [][]string{{
		"run", "name", "start_ns", "end_ns", "phase", "scheduled_records", "admitted_records", "shed_records",
		"acked_records",
		"failed_records", "unknown_records", "delivered_records", "duplicate_records", "processed_records",
		"deferred_records",
		"in_flight_records", "lag_records", "backlog_records", "time_lag_ns", "gate_open", "bound_records",
		"process_cpu_cores", "process_rss_bytes", "gc_cycles",
		"acked_by_queue_records", "redelivered_records", "queue_in_flight_records",
	}}}
	for _, metric := range result.TimeMetrics {
		s.Rows[0] = append(s.Rows[0], metric+"_count", metric+"_p50_ns", metric+"_p99_ns", metric+"_max_ns")
	}
	s.Rows[0] = append(s.Rows[0], "undelivered_records", "read_from_ns", "read_to_ns", "read_span_ns",
		"acked_bytes", "delivered_bytes")
	for _, metric := range result.TimeMetrics {
		s.Rows[0] = append(s.Rows[0], metric+"_p90_ns", metric+"_mean_ns")
	}
	for _, r := range runs {
		for _, i := range r.Intervals {
			s.Add(append([]string{r.Run.Run.ID, r.Run.Run.Name}, intervalCells(&r.Run, i)...)...)
		}
	}
	return s
}

func intervalCells(r *result.Run, i result.Interval) []string {
	said := func(path, cell string) string {
		if !r.Says("intervals." + path) {
			return ""
		}
		return cell
	}
	gate := ""
	if i.GateOpen != nil {
		gate = strconv.FormatBool(*i.GateOpen)
	}
	cells := []string{
		integer(i.StartNs), integer(i.EndNs), i.Phase,
		said("scheduled", integer(i.Scheduled)), said("admitted", integer(i.Admitted)), said("shed", integer(i.Shed)),
		said("acked", integer(i.Acked)), said("failed", integer(i.Failed)), said("unknown", integer(i.Unknown)),
		said("delivered", integer(i.Delivered)), said("duplicates", integer(i.Duplicates)),
		said("processed", integer(i.Processed)),
		said("deferred_records", integer(i.DeferredRecords)), said("in_flight_records", integer(i.InFlightRecords)),
		layout.Optional(i.LagRecords), said("backlog_records", integer(i.BacklogRecords)),
		said("time_lag_ns", layout.Optional(i.TimeLag())),
		gate, layout.Optional(i.BoundRecords), layout.Optional(i.ProcessCPUCores), layout.Optional(i.ProcessRSSBytes),
		said("gc_cycles", integer(i.GCCycles)),
		layout.Optional(i.AckedByQueue), layout.Optional(i.Redelivered), layout.Optional(i.QueueInFlight),
	}
	for _, metric := range result.TimeMetrics {
		t, known := i.Time[metric]
		if !known {
			cells = append(cells, "", "", "", "")
			continue
		}
		percentile := func(p float64, ns int64) string {
			if !figure.Supported(p, figure.Independent(r, metric, t.Count)) {
				return ""
			}
			return integer(ns)
		}
		cells = append(cells, said("time.count", integer(t.Count)), said("time.p50_ns", percentile(50, t.P50Ns)),
			said("time.p99_ns", percentile(99, t.P99Ns)), said("time.max_ns", integer(t.MaxNs)))
	}
	cells = append(cells, layout.Optional(i.UndeliveredRecords))
	if i.ReadToNs == i.ReadFromNs { // of method 1, or of another tool
		cells = append(cells, "", "", "")
	} else {
		cells = append(cells, integer(i.ReadFromNs), integer(i.ReadToNs), integer(i.ReadSpanNs))
	}
	cells = append(cells, layout.Optional(i.AckedBytes), layout.Optional(i.DeliveredBytes))
	for _, metric := range result.TimeMetrics {
		t, p90 := i.Time[metric], ""
		if figure.Supported(90, figure.Independent(r, metric, t.Count)) {
			p90 = layout.Optional(t.P90Ns)
		}
		cells = append(cells, p90, layout.Optional(t.MeanNs))
	}
	return cells
}

func integer(n int64) string { return strconv.FormatInt(n, 10) }
