// Package latency records times in histograms, and writes and reads their logs (.hlog). Every value of a run goes
// into a histogram, and every figure of a time comes from one.
//
// The idea is Gil Tene's HdrHistogram. A value is counted in a bucket that is at most a thousandth of the value
// wide. So percentiles have three correct digits from a nanosecond to an hour. A histogram has a fixed size,
// recording is an increment, and two histograms add up exactly.
//
// Each worker owns a [Recorder] and records under its lock, taken once for a batch or poll. Once an interval, a
// [Collector] swaps the full histograms for empty ones, adds them up without the locks, and returns an [Interval].
// The run's totals grow by the same sums. A [LogWriter] appends the interval to a file that HdrHistogram's own
// tools read. Memory grows with the number of workers, not with the length of the run.
//
// The package reads no clock. All values are nanoseconds. Nothing is corrected for coordinated omission, because
// callers record against the intended send time.
//
// Files to know: metric.go, histogram.go, recorder.go, collector.go, logwriter.go.
package latency

// Metric is one of the times that a run measures.
type Metric uint8

// The metrics, in the order of a record's life; those of a record without an ack come last. Intended is when the
// record is due by the schedule, actual when the client's produce call is entered.
const (
	// PacerLateness is how late the pacer noticed a due record.
	PacerLateness Metric = iota
	// SendDelay is actual − intended send time.
	SendDelay
	// SendServiceTime is ack − actual send time.
	SendServiceTime
	// SendResponseTime is ack − intended send time.
	SendResponseTime
	// E2EServiceTime is delivery − actual send time.
	E2EServiceTime
	// E2EResponseTime is delivery − intended send time.
	E2EResponseTime
	// ProcessedResponseTime is the end of the simulated work − intended send time.
	ProcessedResponseTime
	// SettleTime is a queue's accepted acknowledgement − delivery; it includes the work.
	SettleTime
	// RedeliveryResponseTime is a later delivery of a queue's record − intended send time.
	RedeliveryResponseTime
	// RedeliveryLateness is a later delivery − when it was due. That is the deadline of the delivery before, or the
	// end of the delay after a Nack. Negative is early.
	RedeliveryLateness
	// PollTime is the length of one poll call that returned records.
	PollTime
	// UnackedServiceTime is the client's report on a record without an ack − actual send time.
	UnackedServiceTime
	// UnackedResponseTime is that report − intended send time.
	UnackedResponseTime

	// NumMetrics is the number of metrics; they are numbered from zero.
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

// String returns the name of the metric in result files, for example "e2e_response_time".
func (m Metric) String() string {
	if m >= NumMetrics {
		return "unknown_metric"
	}
	return metricNames[m]
}

// Tag returns the name of a metric and book in a histogram log: the metric's name, with "warmup_" before it for the
// warm-up.
func Tag(measured bool, m Metric) string {
	if measured {
		return m.String()
	}
	return "warmup_" + m.String()
}

// A record's intended time decides the book; totals never mix them.
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
