package figure

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// redefined are the figures, except statistics of times, that method 2 defines differently. The
// comments say what they measure since then.
var redefined = []string{
	// first deliveries, without duplicates
	"delivered_per_s", "delivered_to_acked_ratio", "delivered_bytes_per_s", "throughput_per_s",
	"throughput_bytes_per_s", "cpu_per_delivered",
	"settling_time",
	// from the window's end, or from the end of a hold
	"drain_time", "drain_per_s",
	// every record that is neither delivered nor failed
	"time_lag_peak",
	// over the times of the readings
	"backlog_growth",
	// all records, as in the time that is divided by the target
	"p99_of_target",
	// only acked records
	"before_fault_send_response_time_p99", "during_fault_send_response_time_p99", "after_fault_send_response_time_p99",
}

// ranked are the times whose percentiles include records that did not end, since method 2.
var ranked = []string{
	"send_delay", "send_service_time", "send_response_time", "e2e_service_time", "e2e_response_time",
	"processed_response_time",
}

func since(name string) int {
	ofAll := slices.ContainsFunc(ranked, func(metric string) bool { return strings.HasPrefix(name, metric+"_") })
	if ofAll || slices.Contains(redefined, name) {
		return 2
	}
	return 0
}

// Among returns f for a comparison or a median of several runs. If a run has method f.Since or a
// later one, runs of earlier methods do not have the figure. Runs of a method later than
// result.Method do not have it either. Imported runs have no method, and compare with all runs.
func (f Figure) Among(runs []*result.Run) Figure {
	if len(runs) < 2 {
		return f
	}
	f.among, f.least = true, 0
	if slices.ContainsFunc(runs,
		func(r *result.Run) bool { return r.Method() >= f.Since && r.Method() <= result.Method }) {
		f.least = f.Since
	}
	return f
}

// Otherwise returns why a run's value does not compare with the runs of Among; "" if it does.
func (f Figure) Otherwise(r *result.Run) string {
	switch method := r.Method(); {
	case !f.among || method == 0:
		return ""
	case method > result.Method:
		return fmt.Sprintf("measured with method %d, and this kafka-bench compares up to method %d", method,
			result.Method)
	case method < f.least:
		return fmt.Sprintf("measured otherwise before method %d", f.Since)
	}
	return ""
}
