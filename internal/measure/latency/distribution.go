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
// Percentiles and the maximum are the upper ends of their slots, as HdrHistogram
// reports them: never below the true value and at most 0.1 % above it. Mean,
// standard deviation (of the population) and median absolute deviation take each value
// at the middle of its slot. The minimum is exact, and negative if a value was. All but
// Count are zero when Count is.
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
	// Negative counts values below zero, which were recorded as zero, and
	// OutOfRange those above HighestNs, which were recorded as HighestNs.
	Negative   int64
	OutOfRange int64
	// NotEnded is how many more the percentiles and the maximum are of, beside Count:
	// values that had not ended (see Histogram.Among). AtLeast names the figures that
	// are lower bounds for that, as result files spell them.
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

// ranks are the figures of a distribution that follow from a rank.
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

// distributionAmong returns all figures of h, as Among has those that follow from a
// rank.
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

// ended is how many values h holds, which may be nil.
func (h *Histogram) ended() int64 {
	if h == nil {
		return 0
	}
	return h.count
}

// Percentile returns the value that p percent of all values do not exceed, p in
// (0, 100]; zero when h is empty.
func (h *Histogram) Percentile(p float64) int64 {
	ns, _ := h.Among(p, nil, 0, 0)
	return ns
}

// Percentiles returns what Percentile returns for each of many percentiles, in one pass.
// They must ascend, from 0 (which asks for the lowest value) to 100.
func (h *Histogram) Percentiles(ascending []float64) []int64 {
	values := make([]int64, len(ascending))
	if h.count == 0 {
		return values
	}
	slot, end := h.span()
	upTo := h.counts[slot] // how many values there are up to the slot
	for i, p := range ascending {
		for rank := rankOf(p, h.count); upTo < rank && slot+1 < end; {
			slot++
			upTo += h.counts[slot]
		}
		values[i] = highest(slot)
	}
	return values
}

// Among returns the value that p percent of a population do not exceed, p in (0, 100].
// The population is the values of h, which have ended, and those that have not: each
// of them counts as greater than all that have. Open, which may be nil, has the ages
// at which some of them were given up; rest more are at least floorNs. Without a
// population the value is zero.
//
// The value is exact, or too high, if enough have ended. Otherwise it is a lower bound
// (atLeast): the value at this rank if each that has not ended has the least value
// that is proven, rounded down to the lowest value of its slot.
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

// rankOf returns the rank of the value that p percent of a population do not exceed, from
// 1 on. It is rounded up, after taking off the last bit of p: 0.07 has no exact float64,
// and the nearest, just above it, would ask for rank 8 of 10,000.
func rankOf(p float64, population int64) int64 {
	p = min(max(math.Nextafter(p, math.Inf(-1)), 0), 100)
	return min(max(int64(math.Ceil(p*float64(population)/100)), 1), population)
}

// valueAt returns the upper end of the slot of the value at a rank. h must not be empty.
func (h *Histogram) valueAt(rank int64) int64 {
	from, to := h.span()
	for i, n := range h.counts[from:to] {
		if rank -= n; rank <= 0 {
			return highest(from + i)
		}
	}
	return h.Max() // rank rounded to above count, beyond 2⁵³ values
}

// slotAmong returns the slot of the value at a rank among those of h, those of open,
// and rest in the slot floor.
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
	return slots - 1 // as in valueAt
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
	mean = h.mean()
	for s := range h.Slots() {
		off := float64(s.MiddleNs) - mean
		stddev += off * off * float64(s.Count)
	}
	return mean, math.Sqrt(stddev / float64(h.count))
}

// mean returns the mean. h must not be empty. In a block of slots of one width, values rise with
// the slot: so counts and places are added up as integers, and values are made of them once a block.
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

// deviation returns the median absolute deviation: the median of the distances of all
// values to their median, both by nearest rank. h must not be empty. From the median's
// slot it goes outwards, to the nearer side each time, until half of the values are
// within that distance.
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

// middle returns the value that stands for all of a slot.
func middle(slot int) int64 {
	lowest, width := slotValues(slot)
	return lowest + width/2
}

// Slot is a range of values that a histogram does not tell apart.
type Slot struct {
	HighestNs int64 // as percentiles report all values of the slot
	MiddleNs  int64 // as the mean takes them
	Count     int64
}

// Slots are the slots that have values, ascending.
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
