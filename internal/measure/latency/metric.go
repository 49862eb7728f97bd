// Package latency records times in histograms, and writes and reads their logs (.hlog).
// Every value of a run goes into a histogram, and what is read from a run is read from
// histograms.
//
// The idea is Gil Tene's HdrHistogram. A value is counted in a bucket whose
// width is at most a thousandth of the value, so that three digits of every
// percentile are right from a nanosecond to an hour, a histogram has a fixed
// size, recording is an increment, and two histograms add up exactly. Averages
// of percentiles, samples and decaying reservoirs have no place here: the 99th
// percentile of a run is that of all its values.
//
// The way of a value: each worker owns a [Recorder] and records under its lock,
// which it takes once a batch or poll. Once an interval a [Collector] swaps the
// full histograms of all recorders for empty ones, adds them up off the lock and
// hands out an [Interval]; the run's totals grow by the same sums. A [LogWriter]
// appends the interval to a file that HdrHistogram's own tools read. Memory
// depends on the number of workers and never on the length of the run.
//
// Nothing here reads a clock. All values are nanoseconds. Nothing is corrected
// for coordinated omission, because nothing needs it: the callers record against
// the intended send time.
//
// Files to know: metric.go, histogram.go, recorder.go, collector.go, logwriter.go.
package latency

// Metric is one of the times that a run measures.
type Metric uint8

// The metrics, in the order of a record's life, and at last those of a record that was
// not acknowledged. "Intended" is when the schedule
// says that a record is due, "actual" when the client's produce call is entered.
const (
	// PacerLateness is how late the pacer woke: the pacer's own error, before
	// the record is offered to anything else.
	PacerLateness Metric = iota
	// SendDelay is actual − intended send time.
	SendDelay
	// SendServiceTime is acknowledgement − actual send time.
	SendServiceTime
	// SendResponseTime is acknowledgement − intended send time.
	SendResponseTime
	// E2EServiceTime is delivery − actual send time.
	E2EServiceTime
	// E2EResponseTime is delivery − intended send time.
	E2EResponseTime
	// ProcessedResponseTime is the end of the simulated work − intended send time.
	ProcessedResponseTime
	// SettleTime is the time from a delivery of a queue's record until its
	// acknowledgement was taken, the work in it included.
	SettleTime
	// RedeliveryResponseTime is a delivery of a queue's record after its first −
	// intended send time.
	RedeliveryResponseTime
	// RedeliveryLateness is such a delivery − when it was due: the deadline of the
	// delivery before, or the end of the delay with which that was given back.
	// Negative is early.
	RedeliveryLateness
	// PollTime is the length of one poll call that returned records.
	PollTime
	// UnackedServiceTime is, of a record that was not acknowledged, the client's report
	// of that − actual send time.
	UnackedServiceTime
	// UnackedResponseTime is that report − intended send time.
	UnackedResponseTime

	// NumMetrics is how many there are; they are numbered from zero.
	NumMetrics = iota
)

var metricNames = [NumMetrics]string{
	PacerLateness:          "pacer_lateness",
	SendDelay:              "send_delay",
	SendServiceTime:        "send_service_time",
	SendResponseTime:       "send_response_time",
	E2EServiceTime:         "e2e_service_time",
	E2EResponseTime:        "e2e_response_time",
	ProcessedResponseTime:  "processed_response_time",
	SettleTime:             "settle_time",
	RedeliveryResponseTime: "redelivery_response_time",
	RedeliveryLateness:     "redelivery_lateness",
	PollTime:               "poll_time",
	UnackedServiceTime:     "unacked_service_time",
	UnackedResponseTime:    "unacked_response_time",
}

// String returns the name of the metric as result files spell it, for instance
// "e2e_response_time".
func (m Metric) String() string {
	if m >= NumMetrics {
		return "unknown_metric"
	}
	return metricNames[m]
}

// Tag names one metric in one book in a histogram log: the metric's name for
// the measured records, with "warmup_" before it for those of the warm-up.
func Tag(measured bool, m Metric) string {
	if measured {
		return m.String()
	}
	return "warmup_" + m.String()
}

// The two books. A value is in the book of the record that it belongs to, by
// the record's intended time; the books are never mixed in a total.
const (
	bookWarmup = iota
	bookMeasured
	numBooks
)

func bookOf(measured bool) int {
	if measured {
		return bookMeasured
	}
	return bookWarmup
}
