package figure

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
)

// Sending takes half of ms.
func stretched(ms int64) *result.Stretch {
	return &result.Stretch{Time: map[string]result.IntervalTime{
		"e2e_response_time": {Count: 1000, P99Ns: ms * 1e6}, "send_response_time": {Count: 1000, P99Ns: ms * 5e5},
	}}
}

func run() *result.Run {
	r := &result.Run{Time: map[string]result.Time{}}
	r.Run.FinishedAt = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	r.Run.Phases = []result.Phase{{Name: "warm-up", StartNs: -2e9}, {Name: "measure", EndNs: 10e9}, {Name: "drain", StartNs: 10e9, EndNs: 11e9}}
	r.Load = result.Load{
		OfferedPerS: 20_000, AckedPerS: 19_500, Scheduled: 200_000, Admitted: 198_000, Deferred: 1_500, Shed: 500,
		Acked: 197_000, Failed: 900, Unknown: 100, Bytes: 197_000 * 512, WireBytes: new(int64(197_000 * 128)),
	}
	r.Delivery = result.Delivery{
		Checked: true, Delivered: 197_010, Unique: 196_980, Duplicates: 30, Lost: 5, Reordered: 7, Corrupt: 2, Pending: 15,
		DeliveredPerS: 19_000, DuplicatesPerS: new(3.), Ratio: 0.9849, DeliveredToAcked: new(1.0125),
	}
	r.Warmup = result.Warmup{
		Load:     result.Load{OfferedPerS: 20_000, AckedPerS: 19_000},
		Delivery: result.WarmupDelivery{DeliveredPerS: new(18_000.)},
	}
	for i, metric := range result.TimeMetrics {
		ms := int64(1_000_000 * (i + 1))
		r.Time[metric] = result.Time{
			Count: 197_000, MinNs: ms, MeanNs: float64(ms) * 10, StddevNs: float64(ms) * 2, MADNs: new(ms / 2), P50Ns: 2 * ms,
			P75Ns: 3 * ms, P90Ns: 4 * ms,
			P95Ns: 5 * ms, P99Ns: 6 * ms, P995Ns: 7 * ms, P999Ns: 8 * ms, P9999Ns: 9 * ms, MaxNs: 11 * ms,
		}
	}
	r.Lag = result.Lag{
		PeakRecords: new(int64(12_000)), FinalRecords: new(int64(40)), BacklogPeakRecords: 11_000, TimeLagPeakNs: 600e6,
		BacklogGrowthPerS: new(350.), BacklogGrowthErrorPerS: new(20.), Drained: true, DrainTimeS: 0.75, DrainPerS: 21_000,
		Changes: []result.Change{{What: "work 0s", DrainTimeS: new(3.5), SettlingS: new(2.25)}},
	}
	r.Consumer = result.Consumer{Members: 4, Workers: 4, Utilisation: new(0.8), CapacityPerS: new(24_000.), Rebalances: 1, CommitErrors: 2,
		ReadyNs: new(int64(3e9)), FirstRecordNs: new(int64(40e6))}
	r.Backpressure = &result.Backpressure{
		MaxLag: 10_000, TargetNs: 30e6, Excess: "shed", ClosedS: 2.5, BlindS: 0.4, Refused: 1_234, DeferredPeakRecords: 1_600, PeakLagToBound: new(0.98),
		Shed: &result.ShedCounts{ByGate: 300, ByQueue: 120, ByDegrade: 80}, BoundRecords: &result.Bound{Min: 640, Max: 9_800, Last: 700},
	}
	r.Compression = []result.Compression{{Codec: "none", Ratio: 1}, {Codec: "zstd", Ratio: 4, UsedByThisRun: true}}
	r.Process = result.Process{
		CPUCores: new(1.25), CPUCoresMax: new(1.5), GCPauseTotalNs: new(int64(1_500_000)), CPUPerRecord: new(64_000.), HostCPUBusy: new(0.9), HostCPUStolen: new(0.01), RSSPeakBytes: new(int64(90e6)),
		GCCycles: 12, GCPauseNs: result.Quantile{P99Ns: 100_000, MaxNs: 200_000}, SchedDelayNs: result.Quantile{P99Ns: 300_000, MaxNs: 400_000},
		AllocBytes: 197_000 * 100,
	}
	broker := result.Broker{CPUCores: new(0.5), RSSPeakBytes: new(int64(500e6)), DiskWritten: new(int64(30e6))}
	broker.Metrics = &result.BrokerMetrics{HandlerIdleRatio: new(0.75)}
	broker.Metrics.Requests = []result.RequestUse{{Type: "Produce", Count: 300, TotalMs: new(4.)}, {Type: "FetchConsumer", Count: 10, TotalMs: new(20.)}}
	broker.Metrics.NetworkIdleRatio = new(0.9)
	r.Clients = &result.Clients{
		Produce: &result.ClientRequests{MeanMs: new(5.), InFlightMean: 2.5}, Fetch: &result.ClientRequests{MeanMs: new(21.)},
	}
	busier := broker
	busier.Metrics = &result.BrokerMetrics{HandlerIdleRatio: new(0.25), NetworkIdleRatio: new(0.7)}
	busier.Metrics.Requests = []result.RequestUse{{Type: "Produce", Count: 100, TotalMs: new(8.)}}
	r.Broker = []result.Broker{broker, busier}
	r.HostUse = &result.HostUse{Disks: []result.DiskUse{
		{Name: "a", HoldsLogs: true, YardstickRatio: new(0.125)}, {Name: "b", HoldsLogs: true, YardstickRatio: new(0.25)}, {Name: "c"},
	}}
	r.Fill = &result.Fill{Records: 5_000_000, Bytes: 500e6, TimeS: 4, AckedPerS: 1_250_000}
	r.Storage = &result.Storage{
		DiskBytes: 300e6, Replicas: 3, WireBytesPerRecord: new(140.), DiskBytesPerRecord: new(110.), DiskRatio: new(4.5),
	}
	r.Consumer.Confined = &result.Confined{CPU: 0.5, By: "cgroup v2", CPUCoresUsed: new(0.45), ThrottledS: new(2.), SchedDelayNs: &result.Quantile{P99Ns: 60e6}}
	r.Availability = &result.Availability{
		AckGapMaxNs: 4_200e6, DeliveryGapMaxNs: new(int64(9_400e6)), UnderReplicatedS: new(12.5), UnderMinISRS: new(0.5), LeaderlessS: new(3.), LeaderChanges: new(int64(7)),
		Before: stretched(1000), During: stretched(4000), After: stretched(2000),
	}
	r.Queue = &result.Queue{
		AckedPerS: 18_000, Received: 360_000, UniqueDelivered: 190_000, UniqueAcked: 180_000, Redelivered: 170_000, DeadLettered: 10_000, Pending: 3, Lost: 2, AckedAgain: 4,
		DeliveriesPerRecord: new(1.9), ExpectedDeliveriesPerRecord: 2, DeliveriesByAttempt: []int64{10_000, 6000, 2000, 10, 9}, Lateness: &result.Time{Count: 100, Negative: 6},
		InFlightPeakRecords: 2000,
		Cost: &result.QueueCost{ClientRequestsPerRecord: 0.25, ClientWrittenBytesPerRecord: 40, ClientReadBytesPerRecord: 150,
			BrokerRequestsPerRecord: new(0.5), BrokerBytesInPerRecord: new(220.), BrokerBytesOutPerRecord: new(480.)},
	}
	return r
}

func TestFiguresOfARun(t *testing.T) {
	for name, want := range map[string]string{
		"offered_per_s": "20,000/s", "acked_per_s": "19,500/s", "acked_bytes_per_s": "9.98 MB/s",
		"delivered_per_s": "19,000/s", "duplicates_per_s": "3.00/s", "delivered_bytes_per_s": "9.73 MB/s",
		"scheduled": "200,000", "admitted": "198,000", "deferred": "1,500", "shed": "500", "acked": "197,000",
		"failed": "900", "unknown": "100", "acked_ratio": "98.50 %", "admitted_ratio": "99.00 %", "shed_ratio": "0.25 %", "delivery_ratio": "98.49 %",
		"delivered_to_acked_ratio": "101.25 %", "warmup_acked_per_s": "19,000/s", "warmup_delivered_per_s": "18,000/s",
		"lost": "5", "duplicates": "30", "reordered": "7", "corrupt": "2", "pending": "15",
		"lag_peak": "12,000", "lag_peak_of_max_lag": "0.98", "lag_final": "40", "backlog_peak": "11,000", "backlog_growth": "350/s",
		"time_lag_peak": "600 ms", "drained_ratio": "100.00 %", "drain_time": "750 ms", "drain_per_s": "21,000/s", "recovery_time": "3.50 s",
		"utilisation": "80.00 %", "capacity_per_s": "24,000/s", "rebalances": "1", "commit_errors": "2", "gate_closed_ratio": "25.00 %",
		"shed_by_gate": "300", "shed_by_queue": "120", "shed_by_degrade": "80", "deferred_peak": "1,600", "refused": "1,234",
		"bound_min": "640", "bound_max": "9,800", "blind_time": "400 ms", "settling_time": "2.30 s",
		"wire_ratio": "25.00 %", "compression_ratio": "4.00", "cpu_cores": "1.25", "cpu_per_record": "64.0 µs",
		"host_cpu_busy_ratio": "90.00 %", "host_cpu_stolen_ratio": "1.00 %", "rss_peak": "90.0 MB", "alloc_per_record": "100 B",
		"gc_cycles": "12", "gc_pause_p99": "100 µs", "gc_pause_max": "200 µs",
		"scheduling_delay_p99": "300 µs", "scheduling_delay_max": "400 µs",
		"broker_cpu_cores": "1.00", "broker_rss_peak": "1.00 GB", "broker_disk_written": "60.0 MB", "disk_yardstick_ratio": "25.00 %",
		"throughput_per_s": "19,500/s", "throughput_bytes_per_s": "9.98 MB/s", "cpu_per_delivered": "65.8 µs", "fill_acked_per_s": "1,250,000/s",
		"disk_bytes": "300 MB", "disk_bytes_per_record": "110 B", "wire_bytes_per_record": "140 B", "disk_compression_ratio": "4.50",
		"consumer_cpu_cores": "0.45", "consumer_throttled_time": "2.00 s", "consumer_scheduling_delay_p99": "60.0 ms", "broker_handler_idle_ratio": "25.00 %",
		"produce_request_time_mean": "5.00 ms", "produce_in_flight_mean": "2.50", "fetch_request_time_mean": "21.0 ms",
		"broker_produce_time_mean": "5.00 ms", "broker_fetch_time_mean": "20.0 ms", "broker_network_idle_ratio": "70.00 %",
		"ack_gap_max": "4.20 s", "delivery_gap_max": "9.40 s", "under_replicated_time": "12.5 s", "under_min_isr_time": "500 ms", "leaderless_time": "3.00 s", "leader_changes": "7",
		"before_fault_e2e_response_time_p99": "1.00 s", "during_fault_e2e_response_time_p99": "4.00 s", "after_fault_e2e_response_time_p99": "2.00 s",
		"before_fault_send_response_time_p99": "500 ms", "during_fault_send_response_time_p99": "2.00 s", "after_fault_send_response_time_p99": "1.00 s",
		"pacer_lateness_min": "1.00 ms", "send_delay_p50": "4.00 ms", "send_service_time_p75": "9.00 ms", "send_response_time_p90": "16.0 ms",
		"e2e_service_time_p95": "25.0 ms", "e2e_response_time_p99": "36.0 ms", "p99_of_target": "1.20", "e2e_response_time_p99_5": "42.0 ms",
		"e2e_response_time_p99_9": "48.0 ms", "e2e_response_time_p99_99": "54.0 ms",
		"processed_response_time_max": "77.0 ms", "settle_time_min": "8.00 ms", "redelivery_response_time_min": "9.00 ms", "redelivery_lateness_min": "10.0 ms",
		"poll_time_mean": "110 ms", "poll_time_stddev": "22.0 ms", "poll_time_mad": "5.50 ms",
		"cpu_cores_max": "1.50", "gc_pause_total": "1.50 ms", "consumers_ready_time": "3.00 s", "first_record_time": "40.0 ms",
		"queue_acked_per_s": "18,000/s", "queue_received": "360,000", "queue_unique_acked": "180,000", "queue_redelivered": "170,000", "queue_dead_lettered": "10,000",
		"queue_pending": "3", "queue_lost": "2", "queue_acked_again": "4", "queue_deliveries_per_record": "1.90", "queue_deliveries_to_expected": "95.00 %",
		"queue_tail_ratio": "44.50 %", "queue_early_redeliveries": "6", "queue_in_flight_peak": "2,000",
		"queue_requests_per_record": "0.25", "queue_written_bytes_per_record": "40 B", "queue_read_bytes_per_record": "150 B",
		"broker_requests_per_record": "0.50", "broker_bytes_in_per_record": "220 B", "broker_bytes_out_per_record": "480 B",
	} {
		f, err := Named(name)
		if err != nil {
			t.Error(err)
			continue
		}
		v, known := f.Value(run())
		if got := f.Format(v); !known || got != want {
			t.Errorf("%s is %s (known: %t), want %s", name, got, known, want)
		}
	}
}

var wellNamed = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func TestEveryFigure(t *testing.T) {
	names, titles := map[string]bool{}, map[string]bool{}
	killed := run()
	killed.Run.FinishedAt = time.Time{}
	for _, f := range All() {
		if !wellNamed.MatchString(f.Name) || names[f.Name] || f.Title == "" || titles[f.Title] || strings.Contains(f.Name+f.Title, "latency") {
			t.Errorf("%s, %q: not a name of its own", f.Name, f.Title)
		}
		names[f.Name], titles[f.Title] = true, true
		if found, err := Named(f.Name); err != nil || found.Name != f.Name {
			t.Errorf("%s is found as %q, %v", f.Name, found.Name, err)
		}
		if missing := f.Missing(run()); missing != "" {
			t.Errorf("%s: %s", f.Name, missing)
		}
		if v, known := f.Value(killed); known || v != 0 {
			t.Errorf("%s is %v in a run that did not finish", f.Name, v)
		}
		for _, path := range f.fields {
			checkPath(t, f.Name, path)
		}
	}
	if want := len(result.TimeMetrics)*13 + 121; len(names) != want {
		t.Errorf("%d figures, want %d", len(names), want)
	}
	if got := len(Headline()); got != 14 {
		t.Errorf("%d figures are in the headline", got)
	}
}

func checkPath(t *testing.T, name, path string) {
	t.Helper()
	v := reflect.TypeFor[result.Run]()
	steps := strings.Split(path, ".")
	for i, step := range steps {
		for v.Kind() == reflect.Pointer || v.Kind() == reflect.Slice {
			v = v.Elem()
		}
		if v.Kind() == reflect.Map {
			if !slices.Contains(result.TimeMetrics, step) {
				t.Errorf("%s: there is no time %s", name, step)
			}
			v = v.Elem()
			continue
		}
		found := false
		for k := range v.NumField() {
			if tag, _, _ := strings.Cut(v.Field(k).Tag.Get("json"), ","); tag == step {
				v, found = v.Field(k).Type, true
				break
			}
		}
		if !found {
			t.Errorf("%s: run.json has no %s", name, strings.Join(steps[:i+1], "."))
			return
		}
	}
}

func TestMissing(t *testing.T) {
	for _, c := range []struct {
		figure string
		change func(*result.Run)
		want   string
	}{
		{"e2e_response_time_p99", func(r *result.Run) { r.Load.ClosedLoop = true }, "in a closed loop nothing has an intended send time to count from"},
		{"e2e_service_time_p99", func(r *result.Run) { r.Load.ClosedLoop = true }, ""},
		{"pacer_lateness_max", func(r *result.Run) { r.Load.ClosedLoop = true }, "in a closed loop nothing has an intended send time to count from"},
		{"offered_per_s", func(r *result.Run) { r.Load.ClosedLoop = true }, "a closed loop has no offered rate"},
		{"poll_time_p50", func(r *result.Run) { delete(r.Time, "poll_time") }, "it was not measured"},
		{"poll_time_p99_9", func(r *result.Run) { r.Time["poll_time"] = result.Time{Count: 9_999} }, "9,999 records are too few for p99.9"},
		{"poll_time_p99_9", func(r *result.Run) { r.Time["poll_time"] = result.Time{Count: 10_000} }, ""},
		{"poll_time_max", func(r *result.Run) { r.Time["poll_time"] = result.Time{Count: 1} }, ""},
		{"acked_per_s", func(r *result.Run) { r.Load = result.Load{} }, "nothing was produced"},
		{"acked_ratio", func(r *result.Run) { r.Load = result.Load{} }, "nothing was produced"},
		{"delivery_ratio", func(r *result.Run) { r.Load, r.Fill = result.Load{}, nil }, "nothing was produced"},
		{"delivered_to_acked_ratio", func(r *result.Run) { r.Delivery.DeliveredToAcked, r.Load = nil, result.Load{} }, "nothing was produced"},
		{"delivered_to_acked_ratio", func(r *result.Run) { r.Delivery.DeliveredToAcked, r.Consumer.Members = nil, 0 }, "nothing was consumed"},
		{"delivered_to_acked_ratio", func(r *result.Run) { r.Delivery.DeliveredToAcked, r.Load.AckedPerS = nil, 0 }, "nothing was acked in the window"},
		{"delivered_to_acked_ratio", func(r *result.Run) { r.Delivery.DeliveredToAcked = nil }, "it was not recorded"},
		{"warmup_acked_per_s", func(r *result.Run) { r.Warmup.Load.OfferedPerS = 0 }, "nothing was offered in a warm-up"},
		{"warmup_delivered_per_s", func(r *result.Run) { r.Warmup = result.Warmup{} }, "nothing was offered in a warm-up"},
		{"warmup_delivered_per_s", func(r *result.Run) { r.Warmup.Delivery.DeliveredPerS = nil }, "it was not recorded"},
		{"warmup_delivered_per_s", func(r *result.Run) { r.Warmup.Delivery.DeliveredPerS, r.Consumer.Members = nil, 0 }, "nothing was consumed"},
		{"delivered_bytes_per_s", func(r *result.Run) { r.Load, r.Delivery.Bytes = result.Load{}, 1e6 }, ""},
		{"wire_ratio", func(r *result.Run) { r.Load.WireBytes = nil }, "it was not measured"},
		{"alloc_per_record", func(r *result.Run) { r.Load.Acked = 0 }, "it was not measured"},
		{"delivered_per_s", func(r *result.Run) { r.Consumer.Members = 0 }, "nothing was consumed"},
		{"time_lag_peak", func(r *result.Run) { r.Consumer.Members = 0 }, "nothing was consumed"},
		{"lost", func(r *result.Run) { r.Delivery.Checked = false }, "its records carry no stamp"},
		{"lag_peak", func(r *result.Run) { r.Lag.PeakRecords = nil }, "it was not measured"},
		{"lag_peak_of_max_lag", func(r *result.Run) { r.Backpressure = nil }, "there was no backpressure"},
		{"lag_peak_of_max_lag", func(r *result.Run) { r.Backpressure.PeakLagToBound = nil }, ""},
		{"lag_peak_of_max_lag", func(r *result.Run) { r.Backpressure.PeakLagToBound, r.Backpressure.MaxLag = nil, 0 }, "its controller was given no bound"},
		{"lag_peak_of_max_lag", func(r *result.Run) { r.Backpressure.PeakLagToBound, r.Backpressure.Per = nil, "partition" }, "it was not measured"},
		{"bound_max", func(r *result.Run) { r.Backpressure.BoundRecords = nil }, "its controller has no bound"},
		{"shed_by_gate", func(r *result.Run) { r.Backpressure.Shed = nil }, "it was not measured"},
		{"shed_by_gate", func(r *result.Run) {
			r.Backpressure.Shed, r.Load.ShedByReason = nil, result.Counts{"gate": 500}
		}, ""},
		{"p99_of_target", func(r *result.Run) { r.Backpressure = nil }, "there was no backpressure"},
		{"p99_of_target", func(r *result.Run) { r.Backpressure.TargetNs = 0 }, "its controller was given no target"},
		{"refused", func(r *result.Run) { r.Backpressure = nil }, "there was no backpressure"},
		{"settling_time", func(r *result.Run) { r.Lag.Changes[0].SettlingS = nil }, "it had not settled when the next change or the end came"},
		{"settling_time", func(r *result.Run) { // one that settled is not enough
			r.Lag.Changes = append(r.Lag.Changes, result.Change{What: "work 9ms"})
		}, "it had not settled when the next change or the end came"},
		{"settling_time", func(r *result.Run) { r.Lag.Changes = nil }, "the consumers worked the same throughout"},
		{"backlog_growth", func(r *result.Run) { r.Lag.BacklogGrowthPerS = nil }, "it was not measured"},
		{"drain_time", func(r *result.Run) { r.Lag.Drained = false }, "it did not drain in time"},
		{"recovery_time", func(r *result.Run) { r.Lag.Changes = nil }, "the consumers worked the same throughout"},
		{"recovery_time", func(r *result.Run) { r.Lag.Changes[0].DrainTimeS = nil }, "there was no backlog, or it was not drained"},
		{"gate_closed_ratio", func(r *result.Run) { r.Backpressure = nil }, "there was no backpressure"},
		{"compression_ratio", func(r *result.Run) { r.Compression = r.Compression[:1] }, "it was not measured"},
		{"broker_cpu_cores", func(r *result.Run) { r.Broker[1].CPUCores = nil }, "it was not measured"},
		{"broker_rss_peak", func(r *result.Run) { r.Broker = nil }, "it was not measured"},
		{"shed", func(r *result.Run) { r.Run.Imported = &result.Imported{CannotSay: []string{"load.shed"}} }, "the imported result does not tell it"},
		{"gc_pause_max", func(r *result.Run) { r.Run.Imported = &result.Imported{CannotSay: []string{"process"}} }, "the imported result does not tell it"},
		{"e2e_service_time_p99", func(r *result.Run) { r.Run.NotMeasured = []string{"time.e2e_service_time"} }, "the run could not measure it"},
		{"acked_per_s", func(r *result.Run) { r.Run.NotMeasured = []string{"time.e2e_service_time"} }, ""},
		{"acked_per_s", func(r *result.Run) {
			r.Load.Scheduled = 0
			r.Run.Imported = &result.Imported{CannotSay: []string{"load.scheduled"}}
		}, ""},
		{"send_service_time_p99", func(r *result.Run) {
			r.Time["send_service_time"] = result.Time{Count: 1, P99Ns: 5}
			r.Run.Imported = &result.Imported{CannotSay: []string{"time.send_service_time.count"}}
		}, ""},
	} {
		f, err := Named(c.figure)
		if err != nil {
			t.Fatal(err)
		}
		r := run()
		c.change(r)
		if got := f.Missing(r); got != c.want {
			t.Errorf("%s: %q is missing, want %q", c.figure, got, c.want)
		}
		if _, known := f.Value(r); known != (c.want == "") {
			t.Errorf("%s is known: %t", c.figure, known)
		}
	}
}

func TestNamedSuggests(t *testing.T) {
	for name, want := range map[string]string{
		"e2e_rsponse_time_p99":    "did you mean e2e_response_time_p99?",
		"e2e_response_time_p99.9": "did you mean e2e_response_time_p99_9?",
		"e2e_response_time_p999":  "did you mean e2e_response_time_p99_9?",
		"backlog growth":          "did you mean backlog_growth?",
		"BacklogGrowth":           "did you mean backlog_growth?",
		"time_lag":                "did you mean time_lag_peak?",
		"gc_p":                    "did you mean gc_pause_p99, gc_pause_max or gc_pause_total?",
		"latency_p99":             "say from when to when: e2e_response_time_p99 counts from the intended send, e2e_service_time_p99 from the actual one",
		"e2e_response_time":       "add a statistic, as in e2e_response_time_p99; there are min, p50,",
		"p99":                     "name the time too, as in e2e_response_time_p99",
		"e2e_p99":                 "did you mean e2e_service_time_p99 or e2e_response_time_p99?",
		"errors":                  "did you mean commit_errors?",
		"p(99)":                   "name the time too, as in e2e_response_time_p99",
		"delivered":               "did you mean delivery_ratio, of what was scheduled, or delivered_per_s?",
		"delivered_records":       "did you mean delivery_ratio,",
		"zebra":                   "there is no figure of that name; kafka-bench list --figures prints all, as e2e_response_time_p99",
		"":                        "kafka-bench list --figures prints all",
	} {
		f, err := Named(name)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), fmt.Sprintf("figure %q: ", name)) {
			t.Errorf("%q: %q, %v, want %q", name, f.Name, err, want)
		}
	}
}

func TestSupported(t *testing.T) {
	for percentile, least := range map[float64]int64{
		0: 10, 50: 20, 75: 40, 90: 100, 95: 200, 99: 1_000, 99.5: 2_000, 99.9: 10_000, 99.99: 100_000, 99.999: 1_000_000,
	} {
		if Supported(percentile, least-1) || !Supported(percentile, least) || !Supported(percentile, math.MaxInt64) {
			t.Errorf("p%v: not from %d on", percentile, least)
		}
	}
	if Supported(100, math.MaxInt64) {
		t.Error("nothing lies beyond p100")
	}
}

func TestFormatOfMuch(t *testing.T) {
	for _, c := range []struct {
		name string
		v    float64
		want string
	}{
		{"e2e_response_time_p99", 31.434e9, "31.4 s"},
		{"broker_disk_written", 20e9, "20.0 GB"},
		{"drain_time", 124e9, "124 s"},
	} {
		f, err := Named(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Format(c.v); got != c.want {
			t.Errorf("%s of %v is printed %q, want %q", c.name, c.v, got, c.want)
		}
	}
}

func TestFormatOfWhatIsNoNumber(t *testing.T) {
	for _, f := range All() {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300} {
			if got := f.Format(v); got != "n/a" {
				t.Errorf("%s: %v is written %s", f.Name, v, got)
			}
		}
	}
}

func TestCopiesAreNotIndependent(t *testing.T) {
	r := result.Run{Time: map[string]result.Time{}, Delivery: result.Delivery{Copies: 3}}
	r.Run.FinishedAt = time.Unix(1, 0)
	for _, metric := range result.TimeMetrics {
		r.Time[metric] = result.Time{Count: 1500, P99Ns: 1}
	}
	for _, metric := range result.TimeMetrics {
		f, err := Named(metric + "_p99")
		if err != nil {
			t.Fatal(err)
		}
		delivered := strings.HasPrefix(metric, "e2e_") || strings.HasPrefix(metric, "processed_")
		if _, known := f.Value(&r); known == delivered {
			t.Errorf("%s of 500 records and their copies: known is %v", f.Name, known)
		}
	}
	r.Delivery.Copies = 0 // one group
	if _, known := must(t, "e2e_response_time_p99").Value(&r); !known {
		t.Error("1,500 records support no p99")
	}
}

func must(t *testing.T, name string) Figure {
	t.Helper()
	f, err := Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestFiguresOfAReader(t *testing.T) {
	r := run()
	r.Load = result.Load{}
	r.Delivery.Bytes, r.Delivery.Ratio = r.Delivery.Delivered*100, 1
	for name, want := range map[string]string{
		"throughput_per_s": "19,000/s", "throughput_bytes_per_s": "1.90 MB/s", "delivery_ratio": "100.00 %",
	} {
		f, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if v, known := f.Value(r); !known || f.Format(v) != want {
			t.Errorf("%s is %s (known: %t), want %s", name, f.Format(v), known, want)
		}
	}
}

func TestSmallNumbers(t *testing.T) {
	f, err := Named("queue_requests_per_record")
	if err != nil {
		t.Fatal(err)
	}
	for v, want := range map[float64]string{0: "0.00", 1.256: "1.26", 0.0123: "0.01", 0.00123: "0.0012", 0.000678: "0.00068", -0.002: "-0.0020", 0.00996: "0.0100", 1e-12: "0.000000000"} {
		if got := f.Format(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
}
