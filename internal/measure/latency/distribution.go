package latency

import (
	"iter"
	"math"
)

// Summary is the short form of a distribution, for a line of a time series.
type Summary struct {
	Count  int64
	P50Ns  int64
	P90Ns  int64
	P99Ns  int64
	MaxNs  int64
	MeanNs float64
}

// Distribution describes all values of a histogram, in nanoseconds.
//
// Percentiles and the maximum are the upper ends of their slots, as in HdrHistogram. They are at most 0.1 % above
// the true value. Mean, standard deviation (of the population) and median absolute deviation use the middle of
// each slot. The minimum is exact, and may be negative. If Count is zero, so are the other fields.
type Distribution struct {
	Count    int64
	MinNs    int64
	MeanNs   float64
	StddevNs float64
	MADNs    int64
	P50Ns    int64
	P75Ns    int64
	P90Ns    int64
	P95Ns    int64
	P99Ns    int64
	P995Ns   int64
	P999Ns   int64
	P9999Ns  int64
	MaxNs    int64
	// Negative counts values below zero, which are recorded as zero. OutOfRange counts values above HighestNs, which
	// are recorded as HighestNs.
	Negative   int64
	OutOfRange int64
	// NotEnded counts the times of the population that had not ended; percentiles and maximum include them
	// (Histogram.Among). AtLeast names the figures that are therefore lower bounds.
	NotEnded int64
	AtLeast  []string
}

// Summary returns the short form of h.
func (h *Histogram) Summary() Summary {
	if h.count == 0 {
		return Summary{}
	}
	return Summary{
		Count: h.count, P50Ns: h.Percentile(50), P90Ns: h.Percentile(90), P99Ns: h.Percentile(99), MaxNs: h.Max(),
		MeanNs: h.mean(),
	}
}

// Distribution returns all figures of h.
func (h *Histogram) Distribution() Distribution { return h.distributionAmong(nil, 0, 0) }

var ranks = []struct {
	p    float64
	name string
	of   func(*Distribution) *int64
}{
	{50, "p50_ns", func(d *Distribution) *int64 { return &d.P50Ns }},
	{75, "p75_ns", func(d *Distribution) *int64 { return &d.P75Ns }},
	{90, "p90_ns", func(d *Distribution) *int64 { return &d.P90Ns }},
	{95, "p95_ns", func(d *Distribution) *int64 { return &d.P95Ns }},
	{99, "p99_ns", func(d *Distribution) *int64 { return &d.P99Ns }},
	{99.5, "p99_5_ns", func(d *Distribution) *int64 { return &d.P995Ns }},
	{99.9, "p99_9_ns", func(d *Distribution) *int64 { return &d.P999Ns }},
	{99.99, "p99_99_ns", func(d *Distribution) *int64 { return &d.P9999Ns }},
	{100, "max_ns", func(d *Distribution) *int64 { return &d.MaxNs }},
}

// Figures that follow from a rank include open and rest (Among).
func (h *Histogram) distributionAmong(open *Histogram, rest, floorNs int64) (d Distribution) {
	if d.NotEnded = open.ended() + rest; h.count+d.NotEnded == 0 {
		return d
	}
	if h.count > 0 {
		d.Count, d.MinNs, d.Negative, d.OutOfRange = h.count, h.min, h.negative, h.outOfRange
		d.MeanNs, d.StddevNs = h.moments()
		d.MADNs = h.deviation()
	}
	for _, r := range ranks {
		ns, atLeast := h.Among(r.p, open, rest, floorNs)
		if *r.of(&d) = ns; atLeast {
			d.AtLeast = append(d.AtLeast, r.name)
		}
	}
	return d
}

func (h *Histogram) ended() int64 {
	if h == nil {
		return 0
	}
	return h.count
}

// Percentile returns the value that p percent of all values do not exceed, p in (0, 100]; zero if h is empty.
func (h *Histogram) Percentile(p float64) int64 {
	ns, _ := h.Among(p, nil, 0, 0)
	return ns
}

// Percentiles returns Percentile for many percentiles, in one pass. They must ascend, from 0 (the lowest value) to
// 100.
func (h *Histogram) Percentiles(ascending []float64) []int64 {
	values := make([]int64, len(ascending))
	if h.count == 0 {
		return values
	}
	slot, end := h.span()
	upTo := h.counts[slot]
	for i, p := range ascending {
		for rank := rankOf(p, h.count); upTo < rank && slot+1 < end; {
			slot++
			upTo += h.counts[slot]
		}
		values[i] = highest(slot)
	}
	return values
}

// Among returns the value that p percent of a population do not exceed, p in (0, 100]; zero without a population. The
// population is the values of h and those that have not ended, which rank above all of h. open, which may be nil, has
// the ages of the values that were given up. rest is the number of all others that have not ended; each is at least
// floorNs.
//
// The result is exact or too high if enough values have ended. Otherwise it is a lower bound
// (atLeast): each value that has not ended counts with its age, or else floorNs, rounded down to
// its slot.
func (h *Histogram) Among(p float64, open *Histogram, rest, floorNs int64) (ns int64, atLeast bool) {
	population := h.count + open.ended() + rest
	if population == 0 {
		return 0, false
	}
	rank := rankOf(p, population)
	if rank <= h.count {
		return h.valueAt(rank), false
	}
	lowest, _ := slotValues(h.slotAmong(rank, open, rest, slotOf(clamp(floorNs))))
	return lowest, true
}

// rankOf rounds the rank up, after taking off the last bit of p. Otherwise the float64 nearest to 0.07 would give
// rank 8 of 10,000.
func rankOf(p float64, population int64) int64 {
	p = min(max(math.Nextafter(p, math.Inf(-1)), 0), 100)
	return min(max(int64(math.Ceil(p*float64(population)/100)), 1), population)
}

// h must not be empty.
func (h *Histogram) valueAt(rank int64) int64 {
	from, to := h.span()
	for i, n := range h.counts[from:to] {
		if rank -= n; rank <= 0 {
			return highest(from + i)
		}
	}
	return h.Max() // rounding of the rank, beyond 2⁵³ values
}

func (h *Histogram) slotAmong(rank int64, open *Histogram, rest int64, floor int) int {
	for slot, n := range h.counts {
		rank -= n
		if open != nil {
			rank -= open.counts[slot]
		}
		if slot == floor {
			rank -= rest
		}
		if rank <= 0 {
			return slot
		}
	}
	return slots - 1
}

// Max returns the upper end of the highest value's slot; zero if h is empty.
func (h *Histogram) Max() int64 {
	if h.count == 0 {
		return 0
	}
	return highest(slotOf(clamp(h.max)))
}

func highest(slot int) int64 {
	lowest, width := slotValues(slot)
	return lowest + width - 1
}

// The second pass of moments, over distances to the mean, keeps the digits of a small deviation.
func (h *Histogram) moments() (mean, stddev float64) {
	mean = h.mean()
	for s := range h.Slots() {
		off := float64(s.MiddleNs) - mean
		stddev += off * off * float64(s.Count)
	}
	return mean, math.Sqrt(stddev / float64(h.count))
}

// Slots of one width come in blocks, so mean adds integers and computes values once a block.
func (h *Histogram) mean() (mean float64) {
	from, to := h.span()
	for from < to {
		end := min(to, (from>>halfBits+1)<<halfBits)
		lowest, width := slotValues(from)
		var count, places int64
		for i, n := range h.counts[from:end] {
			count += n
			places += n * int64(i)
		}
		mean += float64(lowest+width/2)*float64(count) + float64(width)*float64(places)
		from = end
	}
	return mean / float64(h.count)
}

func (h *Histogram) deviation() (distance int64) {
	half := rankOf(50, h.count)
	from, to := h.span()
	slot, upTo := from, h.counts[from]
	for upTo < half {
		slot++
		upTo += h.counts[slot]
	}
	median := middle(slot)
	below, above := slot-1, slot+1
	for within := h.counts[slot]; within < half; {
		if above >= to || below >= from && median-middle(below) <= middle(above)-median {
			distance = median - middle(below)
			within += h.counts[below]
			below--
		} else {
			distance = middle(above) - median
			within += h.counts[above]
			above++
		}
	}
	return distance
}

func middle(slot int) int64 {
	lowest, width := slotValues(slot)
	return lowest + width/2
}

// Slot is a range of values that a histogram counts together.
type Slot struct {
	HighestNs int64 // which percentiles report for every value of the slot
	MiddleNs  int64 // which the mean uses
	Count     int64
}

// Slots returns the slots with values, ascending.
func (h *Histogram) Slots() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		if h.count == 0 {
			return
		}
		from, to := h.span()
		for i, n := range h.counts[from:to] {
			if n != 0 && !yield(Slot{HighestNs: highest(from + i), MiddleNs: middle(from + i), Count: n}) {
				return
			}
		}
	}
}
