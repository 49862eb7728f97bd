package latency

import "sync"

// Recorder holds the histograms of one worker, in two books: the records of the
// warm-up and those of the measured window. The worker takes the lock once for
// a batch or a poll, records all of it, and lets go; the Collector takes it once
// an interval, for as long as it takes to swap some pointers.
//
// A histogram is allocated when its metric is first recorded in its book, so a
// Recorder takes at most 2 × 264 KiB for each of its metrics.
type Recorder struct {
	sync.Mutex
	active  [numBooks][NumMetrics]*Histogram
	used    [NumMetrics]bool
	metrics int // how many are used
}

// NewRecorder returns a recorder for these metrics. Others are ignored when they
// are recorded, so that a worker that must not report some time (the response
// times of a closed loop) leaves it out once, here.
func NewRecorder(metrics ...Metric) *Recorder {
	r := &Recorder{}
	for _, m := range metrics {
		if !r.used[m] {
			r.used[m] = true
			r.metrics++
		}
	}
	return r
}

// Record counts one value of a metric in the book of the measured window or of
// the warm-up. Call it with the lock held.
func (r *Recorder) Record(measured bool, m Metric, ns int64) {
	r.RecordN(measured, m, ns, 1)
}

// RecordN counts n equal values, as Record does.
func (r *Recorder) RecordN(measured bool, m Metric, ns, n int64) {
	h := r.active[bookOf(measured)][m]
	if h == nil {
		if h = r.open(bookOf(measured), m); h == nil {
			return
		}
	}
	h.RecordN(ns, n)
}

// open allocates a histogram, or returns nil for a metric that is not used.
func (r *Recorder) open(book int, m Metric) *Histogram {
	if !r.used[m] {
		return nil
	}
	h := NewHistogram()
	r.active[book][m] = h
	return h
}
