package promgate

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"kafkabench.example/kafka-bench/backpressure"
)

type row struct {
	name, help string
	kind       prometheus.ValueType
	value      func(backpressure.Stats) (float64, bool)
}

func table() []row {
	return []row{
		counter("admitted_records_total", "Records that the gate let through.",
			func(s backpressure.Stats) int64 { return s.Admitted }),
		counter("settled_records_total",
			"Records that were let through and whose fate is known: acknowledged, or failed for good.",
			func(s backpressure.Stats) int64 { return s.Settled }),
		counter("refused_records_total",
			"Records that were asked for and not granted at once. One that is asked for again is refused again.",
			func(s backpressure.Stats) int64 { return s.Refused }),
		counter("waited_calls_total", "Calls that had to wait for room.",
			func(s backpressure.Stats) int64 { return s.Waited }),
		counter("readings_total", "Readings of the consumer lag that succeeded.",
			func(s backpressure.Stats) int64 { return s.Reports }),
		counter("probes_total", "Records admitted beyond the bound to find out whether the lag has records.",
			func(s backpressure.Stats) int64 { return s.Probes }),
		counter("missed_readings_total", "Readings of the consumer lag that failed.",
			func(s backpressure.Stats) int64 { return s.Missed }),
		seconds("closed_seconds_total",
			"Time in which records were refused: from the first refusal until there was room again.",
			prometheus.CounterValue,
			func(s backpressure.Stats) time.Duration { return s.Closed }),
		seconds("blind_seconds_total", "Time in which the lag had not been known for longer than the grace time.",
			prometheus.CounterValue,
			func(s backpressure.Stats) time.Duration { return s.Blind }),

		gauge("lag_records", "Consumer lag at the last reading; with a share, that of the gate's own records.",
			func(s backpressure.Stats) int64 { return s.Lag }),
		gauge("outstanding_records", "Largest possible number of records that are in the log and not committed.",
			func(s backpressure.Stats) int64 { return s.Outstanding }),
		gauge("bound_records", "Bound of the consumer lag in force. No series while there is no bound.",
			func(s backpressure.Stats) int64 { return s.Bound }),
		gauge("room_records", "Records that could be let through now. No series while there is no ceiling.", room),
		gauge("waiting_calls", "Calls that wait for room now.",
			func(s backpressure.Stats) int64 { return s.Waiting }),
		{"share_ratio", "Part of the whole bound that this gate may use.", prometheus.GaugeValue,
			func(s backpressure.Stats) (float64, bool) { return s.Share, true }},
		flag("open", "1 while the gate would let a record through.",
			func(s backpressure.Stats) bool { return s.Open }),
		flag("blind", "1 while the lag has not been known for longer than the grace time.",
			func(s backpressure.Stats) bool { return s.BlindNow }),
		seconds("reading_age_seconds_max",
			"Age of the oldest reading that a decision rested on, since the gate was made.", prometheus.GaugeValue,
			func(s backpressure.Stats) time.Duration { return s.MaxAge }),
	}
}

func room(s backpressure.Stats) int64 {
	if s.Ceiling == backpressure.Unlimited {
		return backpressure.Unlimited
	}
	return max(s.Ceiling-s.Admitted, 0)
}

func counter(name, help string, of func(backpressure.Stats) int64) row {
	return row{name, help, prometheus.CounterValue,
		func(s backpressure.Stats) (float64, bool) { return float64(of(s)), true }}
}

// gauge omits unlimited values: a number in their place would spoil sums and graphs.
func gauge(name, help string, of func(backpressure.Stats) int64) row {
	return row{name, help, prometheus.GaugeValue, func(s backpressure.Stats) (float64, bool) {
		v := of(s)
		return float64(v), v != backpressure.Unlimited
	}}
}

func seconds(name, help string, kind prometheus.ValueType, of func(backpressure.Stats) time.Duration) row {
	return row{name, help, kind, func(s backpressure.Stats) (float64, bool) { return of(s).Seconds(), true }}
}

func flag(name, help string, of func(backpressure.Stats) bool) row {
	return row{name, help, prometheus.GaugeValue, func(s backpressure.Stats) (float64, bool) {
		if of(s) {
			return 1, true
		}
		return 0, true
	}}
}
