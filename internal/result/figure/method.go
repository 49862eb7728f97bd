package figure

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// redefined are the figures, beside the statistics of times, that method 2 measures
// otherwise than method 1 did.
var redefined = []string{
	// of first deliveries, without duplicates
	"delivered_per_s", "delivered_bytes_per_s", "throughput_per_s", "throughput_bytes_per_s", "cpu_per_delivered",
	"settling_time",
	// from the window's end, or from when the consumers were let go
	"drain_time", "drain_per_s",
	// of every record whose user has no answer
	"time_lag_peak",
	// over the times of the readings
	"backlog_growth",
	// of all records, as the times that it divides
	"p99_of_target",
	// of acked records only
	"before_fault_send_response_time_p99", "during_fault_send_response_time_p99", "after_fault_send_response_time_p99",
}

// ranked are the times whose percentiles are of all records from method 2 on, and
// not only of those that ended.
var ranked = []string{
	"send_delay", "send_service_time", "send_response_time", "e2e_service_time", "e2e_response_time",
	"processed_response_time",
}

// since is the method from which the values of a figure compare.
func since(name string) int {
	ofAll := slices.ContainsFunc(ranked, func(metric string) bool { return strings.HasPrefix(name, metric+"_") })
	if ofAll || slices.Contains(redefined, name) {
		return 2
	}
	return 0
}

// Among is f as runs have it that are held against each other, or put into one
// median. If some of them were measured from f.Since on, runs that were measured
// before do not have the figure: theirs is another quantity of the same name. A run
// that a later method than ours measured has none, because nobody knows here what
// that method changed. Imported runs have no method, and compare with all; of one
// run by itself there is nothing to mix.
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

// Otherwise says why a run's value does not compare with those of the runs that f
// is taken among; "" if it does.
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
