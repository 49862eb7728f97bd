package latency

import "math"

// Summary is the short form of a distribution, for a line of a time series.
type Summary struct {
	Count int64
	P50Ns int64
	P99Ns int64
	MaxNs int64
}

// Distribution describes all values of a histogram, in nanoseconds.
//
// Percentiles and the maximum are the upper ends of their slots, as HdrHistogram
// reports them: never below the true value and at most 0.1 % above it. Mean and
// standard deviation (of the population) take each value at the middle of its
// slot. The minimum is exact, and negative if a value was. All but Count are
// zero when Count is.
type Distribution struct {
	Count    int64
	MinNs    int64
	MeanNs   float64
	StddevNs float64
	P50Ns    int64
	P75Ns    int64
	P90Ns    int64
	P95Ns    int64
	P99Ns    int64
	P995Ns   int64
	P999Ns   int64
	P9999Ns  int64
	MaxNs    int64
	// Negative counts values below zero, which were recorded as zero, and
	// OutOfRange those above HighestNs, which were recorded as HighestNs.
	Negative   int64
	OutOfRange int64
}

// Summary returns count, median, 99th percentile and maximum.
func (h *Histogram) Summary() Summary {
	return Summary{
		Count: h.count,
		P50Ns: h.Percentile(50),
		P99Ns: h.Percentile(99),
		MaxNs: h.Max(),
	}
}

// Distribution returns all figures of h.
func (h *Histogram) Distribution() Distribution {
	if h.count == 0 {
		return Distribution{}
	}
	mean, stddev := h.moments()
	return Distribution{
		Count:      h.count,
		MinNs:      h.min,
		MeanNs:     mean,
		StddevNs:   stddev,
		P50Ns:      h.Percentile(50),
		P75Ns:      h.Percentile(75),
		P90Ns:      h.Percentile(90),
		P95Ns:      h.Percentile(95),
		P99Ns:      h.Percentile(99),
		P995Ns:     h.Percentile(99.5),
		P999Ns:     h.Percentile(99.9),
		P9999Ns:    h.Percentile(99.99),
		MaxNs:      h.Max(),
		Negative:   h.negative,
		OutOfRange: h.outOfRange,
	}
}

// Percentile returns the value that p percent of all values do not exceed, p in
// (0, 100]; zero when h is empty.
func (h *Histogram) Percentile(p float64) int64 {
	if h.count == 0 {
		return 0
	}
	// The rank is rounded up, after taking off the last bit of p: 0.07 has no
	// exact float64, and the nearest, just above it, would ask for rank 8 of 10,000.
	p = min(max(math.Nextafter(p, math.Inf(-1)), 0), 100)
	rank := max(int64(math.Ceil(p*float64(h.count)/100)), 1)
	from, to := h.span()
	for i, n := range h.counts[from:to] {
		if rank -= n; rank <= 0 {
			return highest(from + i)
		}
	}
	return h.Max() // rank rounded to above count, beyond 2⁵³ values
}

// Max returns the upper end of the highest value's slot; zero when h is empty.
func (h *Histogram) Max() int64 {
	if h.count == 0 {
		return 0
	}
	return highest(slotOf(clamp(h.max)))
}

// highest returns the highest value that slot counts.
func highest(slot int) int64 {
	lowest, width := slotValues(slot)
	return lowest + width - 1
}

// moments returns mean and standard deviation. h must not be empty. The second
// pass, over distances to the mean, is what keeps the digits of a small
// deviation from a large mean.
func (h *Histogram) moments() (mean, stddev float64) {
	total := float64(h.count)
	h.eachMiddle(func(middle, n float64) { mean += middle * n })
	mean /= total
	h.eachMiddle(func(middle, n float64) { stddev += (middle - mean) * (middle - mean) * n })
	return mean, math.Sqrt(stddev / total)
}

func (h *Histogram) eachMiddle(visit func(middle, n float64)) {
	from, to := h.span()
	for i, n := range h.counts[from:to] {
		if n != 0 {
			lowest, width := slotValues(from + i)
			visit(float64(lowest+width/2), float64(n))
		}
	}
}
