package promrun

import (
	"github.com/prometheus/client_golang/prometheus"

	"kafkabench.example/kafka-bench/internal/result"
)

type row struct {
	name, help string
	field      string // of the interval, as in the files
	of         func(*result.Interval) (v float64, known bool)
}

type metric struct {
	row
	desc *prometheus.Desc
}

func counters() []row {
	return []row{
		always("scheduled_records_total", "Records that the schedule asked for.", "scheduled",
			func(i *result.Interval) int64 { return i.Scheduled }),
		always("admitted_records_total", "Records that were handed to the client under test.", "admitted",
			func(i *result.Interval) int64 { return i.Admitted }),
		always("shed_records_total", "Records that were dropped at the source.", "shed",
			func(i *result.Interval) int64 { return i.Shed }),
		always("acked_records_total", "Records that the brokers acknowledged.", "acked",
			func(i *result.Interval) int64 { return i.Acked }),
		always("failed_records_total", "Records that are known not to be in the log.", "failed",
			func(i *result.Interval) int64 { return i.Failed }),
		always("unknown_records_total", "Records that may or may not be in the log, because the client reports no outcome.", "unknown",
			func(i *result.Interval) int64 { return i.Unknown }),
		always("delivered_records_total", "Records that consumers were handed, duplicates included.", "delivered",
			func(i *result.Interval) int64 { return i.Delivered }),
		always("duplicate_records_total", "Records that consumers of a group were handed again.", "duplicates",
			func(i *result.Interval) int64 { return i.Duplicates }),
		always("processed_records_total", "Records whose simulated work has ended.", "processed",
			func(i *result.Interval) int64 { return i.Processed }),

		some("redelivered_records_total", "Deliveries by a queue of records that it had delivered before.", "redelivered",
			func(i *result.Interval) *int64 { return i.Redelivered }),
		some("queue_acked_records_total", "Records of a queue that the application acknowledged, each once.",
			"acked_by_queue", func(i *result.Interval) *int64 { return i.AckedByQueue }),
		some("dead_lettered_records_total", "Records of a queue that were found among its dead letters, each once.",
			"dead_lettered", func(i *result.Interval) *int64 { return i.DeadLettered }),
	}
}

func gauges() []row {
	return []row{
		always("deferred_records", "Records that wait at the source.", "deferred_records",
			func(i *result.Interval) int64 { return i.DeferredRecords }),
		always("in_flight_records", "Records in the client under test, not acknowledged yet.", "in_flight_records",
			func(i *result.Interval) int64 { return i.InFlightRecords }),
		always("backlog_records", "Records that are acked and not delivered, of the slowest group.", "backlog_records",
			func(i *result.Interval) int64 { return i.BacklogRecords }),
		some("bound_records", "Lag that the backpressure controller allows.", "bound_records",
			func(i *result.Interval) *int64 { return i.BoundRecords }),
		{"gate_open", "1 while backpressure lets records through, else 0.", "gate_open", gateOpen},
		seconds("time_lag_seconds", "Age of the oldest record that is due and not delivered; 0 if there is none.",
			"time_lag_ns", (*result.Interval).TimeLag),

		some("queue_in_flight_records", "Records that the consumers of a queue have fetched and not settled.",
			"queue_in_flight", func(i *result.Interval) *int64 { return i.QueueInFlight }),
		seconds("queue_oldest_unacked_seconds", "Age of the oldest record that a queue delivered and that is not acknowledged.",
			"queue_oldest_unacked_ns", func(i *result.Interval) *int64 { return i.QueueOldestUnackedNs }),

		some("process_cpu_cores", "CPU of all processes of the run, in cores.", "process_cpu_cores",
			func(i *result.Interval) *float64 { return i.ProcessCPUCores }),
		some("process_resident_memory_bytes", "Memory of all processes of the run.", "process_rss_bytes",
			func(i *result.Interval) *int64 { return i.ProcessRSSBytes }),
		some("under_replicated_partitions", "Partitions of the topic with fewer replicas in sync than replicas.",
			"under_replicated_partitions", func(i *result.Interval) *int64 { return i.UnderReplicated }),
		some("leaderless_partitions", "Partitions of the topic without a leader.", "leaderless_partitions",
			func(i *result.Interval) *int64 { return i.Leaderless }),
	}
}

type number interface{ int64 | float64 }

func always(name, help, field string, of func(*result.Interval) int64) row {
	return row{name, help, field, func(i *result.Interval) (float64, bool) { return float64(of(i)), true }}
}

func some[N number](name, help, field string, of func(*result.Interval) *N) row {
	return row{name, help, field, func(i *result.Interval) (float64, bool) { return known(of(i), 1) }}
}

// seconds converts a field in nanoseconds that is nil if it is not known.
func seconds(name, help, field string, of func(*result.Interval) *int64) row {
	return row{name, help, field, func(i *result.Interval) (float64, bool) { return known(of(i), 1e9) }}
}

// known returns *n ÷ unit; false if n is nil.
func known[N number](n *N, unit float64) (float64, bool) {
	if n == nil {
		return 0, false
	}
	return float64(*n) / unit, true
}

func gateOpen(i *result.Interval) (v float64, known bool) {
	if i.GateOpen != nil && *i.GateOpen {
		v = 1
	}
	return v, i.GateOpen != nil
}

type agentRow struct {
	name, help string
	kind       prometheus.ValueType
	of         func(result.AgentPulse) int64
}

type agentMetric struct {
	agentRow
	desc *prometheus.Desc
}

func agents() []agentRow {
	const sofar = " of one agent, by its last pulse."
	return []agentRow{
		{"agent_scheduled_records_total", "Records that the schedule asked for," + sofar, prometheus.CounterValue,
			func(a result.AgentPulse) int64 { return a.Scheduled }},
		{"agent_acked_records_total", "Records that the brokers acknowledged," + sofar, prometheus.CounterValue,
			func(a result.AgentPulse) int64 { return a.Acked }},
		{"agent_delivered_records_total", "Records that consumers were handed," + sofar, prometheus.CounterValue,
			func(a result.AgentPulse) int64 { return a.Delivered }},
		{"agent_failed_records_total", "Records that are known not to be in the log," + sofar, prometheus.CounterValue,
			func(a result.AgentPulse) int64 { return a.Failed }},
		{"agent_deferred_records", "Records that wait at the source," + sofar, prometheus.GaugeValue,
			func(a result.AgentPulse) int64 { return a.DeferredRecords }},
		{"agent_in_flight_records", "Records in the client under test," + sofar, prometheus.GaugeValue,
			func(a result.AgentPulse) int64 { return a.InFlightRecords }},
	}
}

type brokerRow struct {
	name, help string
	of         func(result.IntervalBroker) (v float64, known bool)
}

type brokerMetric struct {
	brokerRow
	desc *prometheus.Desc
}

func brokers() []brokerRow {
	return []brokerRow{
		{"broker_cpu_cores", "CPU of a local broker, in cores.",
			func(b result.IntervalBroker) (float64, bool) { return known(b.CPUCores, 1) }},
		{"broker_resident_memory_bytes", "Memory of a local broker.",
			func(b result.IntervalBroker) (float64, bool) { return known(b.RSSBytes, 1) }},
	}
}
