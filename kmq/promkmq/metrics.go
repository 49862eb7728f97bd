package promkmq

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kafkabench.example/kafka-bench/kmq"
)

type row struct {
	name, help string
	kind       prometheus.ValueType
	value      func(s kmq.Stats, now time.Time) float64
}

func table() []row {
	return []row{
		counter("delivered_records_total", "Records handed out, every attempt.",
			func(s kmq.Stats) int64 { return s.Delivered }),
		counter("redelivered_records_total", "Records handed out with an attempt above 1.",
			func(s kmq.Stats) int64 { return s.Redelivered }),
		counter("acked_records_total", "Records that were acknowledged.",
			func(s kmq.Stats) int64 { return s.Acked }),
		counter("nacked_records_total", "Records that were released for another attempt.",
			func(s kmq.Stats) int64 { return s.Nacked }),
		counter("rejected_records_total", "Records that were given up by the application.",
			func(s kmq.Stats) int64 { return s.Rejected }),
		counter("expired_records_total", "Records whose lock ran out in this process.",
			func(s kmq.Stats) int64 { return s.Expired }),
		counter("lost_records_total", "Records in flight whose partition, or whose lock, went to another member, which delivers them.",
			func(s kmq.Stats) int64 { return s.Lost }),
		counter("moved_records_total", "Records that this process moved to the retry topic.",
			func(s kmq.Stats) int64 { return s.Moved }),
		counter("dead_lettered_records_total", "Records that this process copied to the dead-letter topic.",
			func(s kmq.Stats) int64 { return s.DeadLettered }),
		counter("missing_records_total", "Records that were to be delivered again and were not in the log any more.",
			func(s kmq.Stats) int64 { return s.Missing }),
		counter("retried_total", "Failed attempts of the tracker in this process, and refused copies, which it repeats.",
			func(s kmq.Stats) int64 { return s.Retried }),
		counter("unreadable_markers_total", "Markers that the tracker in this process could not read.",
			func(s kmq.Stats) int64 { return s.Unreadable }),

		gauge("in_flight_records", "Records that were handed out, or are ready to be, and are not settled.",
			func(s kmq.Stats) int64 { return int64(s.InFlight) }),
		gauge("waiting_records", "Records that wait for another attempt, or behind such a record.",
			func(s kmq.Stats) int64 { return int64(s.Waiting) }),
		gauge("blocked", "Reasons why records are not fetched although they are there.",
			func(s kmq.Stats) int64 { return int64(len(s.Blocked)) }),
		{"oldest_unacked_seconds", "Age of the oldest record in flight, by its timestamp; 0 if there is none.", prometheus.GaugeValue, age},
		gauge("paused_partitions", "Partitions that are not fetched because a limit is reached.",
			func(s kmq.Stats) int64 { return int64(len(s.Paused)) }),
		gauge("commit_behind_records", "Records beyond the committed offsets of this member's partitions, as far as it has read.",
			func(s kmq.Stats) int64 { return s.CommitBehind }),
		gauge("retention_alarm", "1 while retention does not cover the oldest record that is not settled.",
			func(s kmq.Stats) int64 {
				if s.RetentionAlarm != "" {
					return 1
				}
				return 0
			}),
	}
}

type times struct {
	name, help string
	value      func(kmq.Stats) kmq.Histogram
}

func histograms() []times {
	return []times{
		{"redelivery_lateness_seconds", "Time from the end of a record's lock until this process had it delivered again.",
			func(s kmq.Stats) kmq.Histogram { return s.Lateness }},
		{"handler_seconds", "Time of each call of the handlers of Run.",
			func(s kmq.Stats) kmq.Histogram { return s.Handlers }},
	}
}

func counter(name, help string, of func(kmq.Stats) int64) row {
	return row{name, help, prometheus.CounterValue, func(s kmq.Stats, _ time.Time) float64 { return float64(of(s)) }}
}

func gauge(name, help string, of func(kmq.Stats) int64) row {
	return row{name, help, prometheus.GaugeValue, func(s kmq.Stats, _ time.Time) float64 { return float64(of(s)) }}
}

// The clock that stamped the record may be ahead of this one.
func age(s kmq.Stats, now time.Time) float64 {
	if s.OldestUnacked.IsZero() {
		return 0
	}
	return max(now.Sub(s.OldestUnacked), 0).Seconds()
}
