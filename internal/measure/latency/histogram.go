package latency

import (
	"math"
	"math/bits"
	"time"
)

// HighestNs is the highest value of a histogram, one hour. Higher values count there, and as out of range.
const HighestNs = int64(time.Hour)

// The layout is HdrHistogram's for three significant digits. Values below 2,048 have a slot each; above, each
// doubling has 1,024 slots.
const (
	linearBits = 11 // values below 1<<linearBits are counted exactly
	halfBits   = linearBits - 1
	doublings  = 31 // to above HighestNs
	slots      = (doublings + 2) << halfBits
)

// Histogram counts values in nanoseconds with three significant digits, from zero to HighestNs, in 264 KiB. Its layout
// and figures are those of HdrHistogram in Java. ADR 0005 says why it is our own. A percentile is the value at the
// smallest rank that covers it, as in Java.
//
// A Histogram is not synchronised.
type Histogram struct {
	min, max   int64 // as recorded, not clamped; min > max if empty
	count      int64
	negative   int64
	outOfRange int64
	counts     [slots]int64
}

// NewHistogram returns an empty histogram.
func NewHistogram() *Histogram {
	return &Histogram{min: math.MaxInt64, max: math.MinInt64}
}

// Record counts one value.
func (h *Histogram) Record(ns int64) { h.RecordN(ns, 1) }

// RecordN counts n equal values; nothing if n is not positive. A negative value counts as zero, one
// above HighestNs as HighestNs; Distribution reports how many there are.
func (h *Histogram) RecordN(ns, n int64) {
	if n <= 0 {
		return
	}
	if ns < h.min {
		h.min = ns
	}
	if ns > h.max {
		h.max = ns
	}
	if uint64(ns) > uint64(HighestNs) { // a negative value is a huge unsigned one
		h.countClamped(ns, n)
		ns = clamp(ns)
	}
	h.count += n
	h.counts[slotOf(ns)] += n
}

func (h *Histogram) countClamped(ns, n int64) {
	if ns < 0 {
		h.negative += n
	} else {
		h.outOfRange += n
	}
}

// Merge adds the values of o to h.
func (h *Histogram) Merge(o *Histogram) {
	if o.count == 0 {
		return
	}
	from, to := o.span()
	sums, addends := h.counts[from:to], o.counts[from:to]
	for i, n := range addends {
		sums[i] += n
	}
	h.min, h.max = min(h.min, o.min), max(h.max, o.max)
	h.count += o.count
	h.negative += o.negative
	h.outOfRange += o.outOfRange
}

// Reset empties h.
func (h *Histogram) Reset() {
	if h.count > 0 {
		from, to := h.span()
		clear(h.counts[from:to])
	}
	h.min, h.max = math.MaxInt64, math.MinInt64
	h.count, h.negative, h.outOfRange = 0, 0, 0
}

// Count returns how many values were recorded.
func (h *Histogram) Count() int64 { return h.count }

// h must not be empty.
func (h *Histogram) span() (from, to int) {
	return slotOf(clamp(h.min)), slotOf(clamp(h.max)) + 1
}

func clamp(ns int64) int64 { return min(max(ns, 0), HighestNs) }

// ns must be in [0, HighestNs].
func slotOf(ns int64) int {
	doubling := bits.Len64(uint64(ns)|(1<<linearBits-1)) - linearBits
	return doubling<<halfBits + int(ns>>doubling)
}

func slotValues(slot int) (lowest, width int64) {
	doubling := max(slot>>halfBits-1, 0)
	return int64(slot-doubling<<halfBits) << doubling, 1 << doubling
}
