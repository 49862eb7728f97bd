package latency

import "sync"

// Recorder holds the histograms of one worker, in two books: warm-up and measured window. The worker takes the
// lock once for a batch or a poll; the Collector takes it once an interval, to swap some pointers.
//
// A histogram (264 KiB) is allocated at the first value of its metric and book.
type Recorder struct {
	sync.Mutex
	active  [numBooks][NumMetrics]*Histogram
	used    [NumMetrics]bool
	metrics int
}

// NewRecorder returns a recorder for these metrics; it ignores values of others.
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

// Record counts one value of a metric in the measured or warm-up book. The caller holds the lock.
func (r *Recorder) Record(measured bool, m Metric, ns int64) {
	r.RecordN(measured, m, ns, 1)
}

// RecordN counts n equal values, like Record.
func (r *Recorder) RecordN(measured bool, m Metric, ns, n int64) {
	h := r.active[bookOf(measured)][m]
	if h == nil {
		if h = r.open(bookOf(measured), m); h == nil {
			return
		}
	}
	h.RecordN(ns, n)
}

func (r *Recorder) open(book int, m Metric) *Histogram {
	if !r.used[m] {
		return nil
	}
	h := NewHistogram()
	r.active[book][m] = h
	return h
}
