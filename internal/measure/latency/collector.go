package latency

import "sync"

// Collector gathers what all recorders of a run have recorded, once an interval. It is safe for concurrent use, but an
// Interval that Collect returned is valid only until the next Collect.
//
// It swaps each recorder's full histograms for spares, so it holds two for each metric and book.
type Collector struct {
	mu        sync.Mutex
	recorders []*Recorder
	sources   []Source
	interval  sums
	run       sums
	both      *Histogram
	spares    []*Histogram
}

type sums [numBooks][NumMetrics]*Histogram

// Interval is what was recorded between two calls of Collect.
type Interval struct {
	sums      sums
	summaries [NumMetrics]Summary
}

// Histogram returns the histogram of a metric in one book; nil if empty. It is valid until the next Collect.
func (i Interval) Histogram(measured bool, m Metric) *Histogram {
	return i.sums[bookOf(measured)][m]
}

// Summary describes a metric in both books together.
func (i Interval) Summary(m Metric) Summary { return i.summaries[m] }

// Source returns what recorders of other processes have recorded.
type Source interface {
	// Recorded calls merge with everything recorded since its last call, as encoded Intervals. merge returns an
	// error for malformed bytes.
	Recorded(merge func(part Encoded) error)
}

// AddSource adds a source, from the next Collect on.
func (c *Collector) AddSource(s Source) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sources = append(c.sources, s)
}

// Add adds a recorder, from the next Collect on.
func (c *Collector) Add(r *Recorder) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recorders = append(c.recorders, r)
}

// Collect empties all recorders, adds their values to the run's totals and returns them. Values recorded under one
// hold of the lock are in one interval. The next Collect reuses the interval's histograms, but not its summaries.
func (c *Collector) Collect() Interval {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interval.reset()
	for _, r := range c.recorders {
		c.drain(r)
	}
	for _, s := range c.sources {
		s.Recorded(c.take)
	}
	var result Interval
	for m := range NumMetrics {
		for book := range numBooks {
			h := c.interval[book][m]
			if h == nil || h.count == 0 {
				continue
			}
			c.run.at(book, m).Merge(h)
			result.sums[book][m] = h
		}
		result.summaries[m] = c.summarise(result.sums[bookWarmup][m], result.sums[bookMeasured][m])
	}
	return result
}

func (c *Collector) take(part Encoded) error {
	if c.both == nil {
		c.both = NewHistogram()
	}
	defer c.both.Reset()
	return c.interval.mergeEncoded(part, c.both)
}

func (c *Collector) drain(r *Recorder) {
	for len(c.spares) < numBooks*r.metrics {
		c.spares = append(c.spares, NewHistogram())
	}
	full := c.swap(r)
	for book := range numBooks {
		for m := range NumMetrics {
			if h := full[book][m]; h != nil {
				c.interval.at(book, m).Merge(h)
				h.Reset()
				c.spares = append(c.spares, h)
			}
		}
	}
}

func (c *Collector) swap(r *Recorder) (full sums) {
	r.Lock()
	defer r.Unlock()
	for book := range numBooks {
		for m, h := range r.active[book] {
			switch {
			case h == nil:
			case h.count > 0:
				last := len(c.spares) - 1
				full[book][m], r.active[book][m] = h, c.spares[last]
				c.spares = c.spares[:last]
			case book == bookWarmup:
				r.active[book][m] = nil
			}
		}
	}
	return full
}

func (c *Collector) summarise(a, b *Histogram) Summary {
	switch {
	case a == nil && b == nil:
		return Summary{}
	case a == nil:
		return b.Summary()
	case b == nil:
		return a.Summary()
	}
	if c.both == nil {
		c.both = NewHistogram()
	}
	c.both.Reset()
	c.both.Merge(a)
	c.both.Merge(b)
	return c.both.Summary()
}

// Totals describes everything collected of a metric in one book.
func (c *Collector) Totals(measured bool, m Metric) Distribution {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.run[bookOf(measured)][m]
	if h == nil {
		return Distribution{}
	}
	return h.Distribution()
}

// Curve returns Histogram.Percentiles of everything collected of a metric in one book, and the number of values.
func (c *Collector) Curve(measured bool, m Metric, ascending []float64) (ns []int64, count int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	h := c.run[bookOf(measured)][m]
	if h == nil {
		return make([]int64, len(ascending)), 0
	}
	return h.Percentiles(ascending), h.count
}

// Population is the measured records that have a time of one metric, whether or not that time has ended.
type Population struct {
	Records int64
	// Open is the metric of records without an ack, such as UnackedServiceTime: how long their
	// times had lasted. It is NumMetrics if there is none. All other times that have not ended are
	// at least FloorNs long.
	Open    Metric
	FloorNs int64
}

// TotalsAmong is Totals of the measured records. Its percentiles and maximum are of a population, including the times
// that have not ended.
func (c *Collector) TotalsAmong(m Metric, of Population) Distribution {
	c.mu.Lock()
	defer c.mu.Unlock()
	h, open := c.run[bookMeasured][m], (*Histogram)(nil)
	if h == nil {
		h = NewHistogram()
	}
	if of.Open < NumMetrics {
		open = c.run[bookMeasured][of.Open]
	}
	return h.distributionAmong(open, max(0, of.Records-h.count-open.ended()), of.FloorNs)
}

func (s *sums) at(book, m int) *Histogram {
	if s[book][m] == nil {
		s[book][m] = NewHistogram()
	}
	return s[book][m]
}

func (s *sums) reset() {
	for book := range s {
		for _, h := range s[book] {
			if h != nil {
				h.Reset()
			}
		}
	}
}
