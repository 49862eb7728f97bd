package result

import "kafkabench.example/kafka-bench/internal/measure/latency"

// Time is the distribution of one measured time, in nanoseconds. Count, minimum, mean and both
// deviations are of values that had ended when the run did. Since method 2, percentiles and maximum
// are of Count + NotEnded values, where those that had not ended count as the greatest.
type Time struct {
	Count    int64   `json:"count"`
	MinNs    int64   `json:"min_ns"`
	MeanNs   float64 `json:"mean_ns"`
	StddevNs float64 `json:"stddev_ns"`
	// MADNs is the median absolute deviation; null in older runs.
	MADNs   *int64 `json:"mad_ns,omitempty"`
	P50Ns   int64  `json:"p50_ns"`
	P75Ns   int64  `json:"p75_ns"`
	P90Ns   int64  `json:"p90_ns"`
	P95Ns   int64  `json:"p95_ns"`
	P99Ns   int64  `json:"p99_ns"`
	P995Ns  int64  `json:"p99_5_ns"`
	P999Ns  int64  `json:"p99_9_ns"`
	P9999Ns int64  `json:"p99_99_ns"`
	MaxNs   int64  `json:"max_ns"`
	// Negative counts values below zero (recorded as zero; the minimum is the true one). OutOfRange
	// counts those above an hour (recorded as an hour).
	Negative   int64 `json:"negative,omitempty"`
	OutOfRange int64 `json:"out_of_range,omitempty"`
	// NotEnded counts values that had not ended. For a send time these are records that were
	// neither shed nor acked; for a later time, records that were not delivered, or not processed,
	// in each group.
	NotEnded int64 `json:"not_ended,omitempty"`
	// AtLeast names the fields that are lower bounds, such as p99_ns, because too few values had
	// ended. A 0 then has no meaning.
	AtLeast []string `json:"at_least,omitempty"`
	// ErrorNs is the largest error, up or down, of any value because the clocks of two machines
	// differ. Absent if the two ends of each value are from one clock.
	ErrorNs int64 `json:"error_ns,omitempty" jsonschema:"minimum=0"`
	// CDF are cumulative counts at ascending values, if another tool's result has them.
	CDF []CDFPoint `json:"cdf,omitempty"`
}

// CDFPoint is the number of values that are not above AtMostNs.
type CDFPoint struct {
	AtMostNs int64 `json:"at_most_ns"`
	Count    int64 `json:"count"`
}

// TimeOf converts a distribution for a result.
func TimeOf(d latency.Distribution) Time {
	t := Time{
		Count: d.Count, MinNs: d.MinNs, MeanNs: d.MeanNs, StddevNs: d.StddevNs,
		P50Ns: d.P50Ns, P75Ns: d.P75Ns, P90Ns: d.P90Ns, P95Ns: d.P95Ns, P99Ns: d.P99Ns, P995Ns: d.P995Ns,
		P999Ns: d.P999Ns, P9999Ns: d.P9999Ns, MaxNs: d.MaxNs,
		Negative: d.Negative, OutOfRange: d.OutOfRange, NotEnded: d.NotEnded, AtLeast: d.AtLeast,
	}
	if d.Count > 0 {
		t.MADNs = &d.MADNs
	}
	return t
}

// TimeMetrics are the keys of Run.Time, in the order of a record's life; then those of records that
// were not acked.
var TimeMetrics = []string{
	"pacer_lateness", "send_delay", "send_service_time", "send_response_time",
	"e2e_service_time", "e2e_response_time", "processed_response_time",
	"settle_time", "redelivery_response_time", "redelivery_lateness", "poll_time", "unacked_service_time",
	"unacked_response_time",
}
