package stats

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Kinds of warnings.
const (
	Few     = "few"     // too few values for an interval of the median
	Drift   = "drift"   // the values rise or fall with time
	Bimodal = "bimodal" // the values form two groups
	Outlier = "outlier" // single values are far from the rest
)

// doubt is the level of each test. With dozens of figures, some would always warn at 5 %.
const doubt = 0.01

// Warning is a reason to doubt a summary.
type Warning struct {
	Kind string // few, drift, bimodal, outlier
	Text string // numbers runs from 1
	At   []int  // from 0; empty: all
}

// Warnings checks xs, which are in order of time. Every summary keeps the values that a warning names.
//
//   - few: below six there is no interval of the median at 95 %.
//   - drift: see trend. Values that rise or fall are not repeats; perhaps a disk fills or a processor heats up.
//   - bimodal: see dip. A median between two modes describes no run.
//   - outlier: see farOff.
func Warnings(xs []float64) []Warning {
	var found []Warning
	if n := len(xs); n == 0 {
		return nil
	} else if k, _ := medianRank(n, 0.95); k == 0 {
		found = append(found, Warning{Kind: Few, Text: fmt.Sprintf("%s: an interval of the median needs 6", runs(n))})
	}
	if w, drifts := driftOf(xs); drifts {
		found = append(found, w)
	}
	if w, two := modesOf(xs); two {
		found = append(found, w)
	} else if w, some := outliersOf(xs); some {
		found = append(found, w)
	}
	return found
}

func driftOf(xs []float64) (Warning, bool) {
	s, p := trend(xs)
	if p > doubt {
		return Warning{}, false
	}
	direction := "rises"
	if s < 0 {
		direction = "falls"
	}
	n := len(xs)
	early, late := median(xs[:n/2]), median(xs[n-n/2:])
	text := fmt.Sprintf("%s over the campaign%s (p = %.2g): these are not repeats of one thing",
		direction, byHowMuch(late-early, early, ", by %s from its first half to its second"), p)
	return Warning{Kind: Drift, Text: text}, true
}

func modesOf(xs []float64) (Warning, bool) {
	if dip(spreadTies(xs)) <= dipLimit(len(xs)) {
		return Warning{}, false
	}
	most, fewer := split(xs)
	side := "higher"
	if len(fewer) > len(most) {
		most, fewer, side = fewer, most, "lower"
	}
	from, to := medianAt(xs, most), medianAt(xs, fewer)
	text := fmt.Sprintf("two groups: %s, and %d that are%s %s (%s)",
		runs(len(most)), len(fewer), byHowMuch(to-from, from, " %s"), side, named(fewer))
	return Warning{Kind: Bimodal, Text: text, At: fewer}, true
}

func outliersOf(xs []float64) (Warning, bool) {
	far := farOff(xs)
	if len(far) == 0 {
		return Warning{}, false
	}
	middle := median(xs)
	var words []string
	for _, i := range far {
		side := "above"
		if xs[i] < middle {
			side = "below"
		}
		words = append(words, fmt.Sprintf("run %d is%s %s the median", i+1,
			byHowMuch(math.Abs(xs[i]-middle), middle, " %s"), side))
	}
	return Warning{Kind: Outlier, Text: strings.Join(words, ", "), At: far}, true
}

// byHowMuch formats a percentage of base, or a multiple; "" if base is 0.
func byHowMuch(difference, base float64, format string) string {
	ratio := math.Abs(relative(difference, base))
	switch {
	case math.IsInf(ratio, 0) || ratio == 0:
		return ""
	case ratio >= 10:
		return fmt.Sprintf(format, fmt.Sprintf("%.0f times", ratio))
	case ratio >= 0.1:
		return fmt.Sprintf(format, fmt.Sprintf("%.0f %%", 100*ratio))
	}
	return fmt.Sprintf(format, fmt.Sprintf("%.2g %%", 100*ratio))
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func named(at []int) string {
	words := make([]string, len(at))
	for i, place := range at {
		words[i] = fmt.Sprint(place + 1)
	}
	last := len(words) - 1
	if last == 0 {
		return "run " + words[0]
	}
	return "runs " + strings.Join(words[:last], ", ") + " and " + words[last]
}

func medianAt(xs []float64, at []int) float64 {
	values := make([]float64, len(at))
	for i, place := range at {
		values[i] = xs[place]
	}
	return median(values)
}

// farOff returns the values whose distance from the median, in median distances, is above the limit
// for the sample size. It is the modified z-score (B. Iglewicz and D. C. Hoaglin, How to Detect and
// Handle Outliers, 1993). The authors' fixed bound of 3.5 is for many values. If more than half of
// the values are equal, the mean distance replaces the median one.
func farOff(xs []float64) []int {
	n := len(xs)
	if n < 5 {
		return nil
	}
	middle := median(xs)
	distances := make([]float64, n)
	for i, x := range xs {
		distances[i] = math.Abs(x - middle)
	}
	scale := median(distances) / 0.6745 // of a normal sample, its deviation
	if scale == 0 {
		mean, _ := moments(distances)
		scale = mean * math.Sqrt(math.Pi/2)
	}
	var far []int
	for i, d := range distances {
		if d > limitAt(outlierLimits, n)*scale {
			far = append(far, i)
		}
	}
	return far
}

// split cuts xs in two so that the squares about both means are least (W. D. Fisher, On Grouping
// for Maximum Homogeneity, 1958).
func split(xs []float64) (lower, upper []int) {
	sorted := slices.Sorted(slices.Values(xs))
	total := 0.0
	for _, x := range sorted {
		total += x
	}
	mean, n := total/float64(len(xs)), float64(len(xs))
	bestCut, best, left := sorted[0], -1.0, 0.0
	for i, x := range sorted[:len(sorted)-1] {
		left += x - mean
		k := float64(i + 1)
		// explained is the sum of squares that the two means explain. left is the centred sum of
		// the lower side; that of the upper side is −left.
		if explained := left * left * n / (k * (n - k)); explained > best && x != sorted[i+1] {
			best, bestCut = explained, x
		}
	}
	for i, x := range xs {
		if x <= bestCut {
			lower = append(lower, i)
		} else {
			upper = append(upper, i)
		}
	}
	return lower, upper
}

// limitAt is linear between rows and constant after the last.
func limitAt(table []limit, n int) float64 {
	i, found := slices.BinarySearchFunc(table, n, func(l limit, n int) int { return l.n - n })
	switch {
	case found || i == 0:
		return table[i].value
	case i == len(table):
		return table[i-1].value
	}
	low, high := table[i-1], table[i]
	return low.value + (high.value-low.value)*float64(n-low.n)/float64(high.n-low.n)
}

type limit struct {
	n     int
	value float64
}

// One normal sample in a hundred exceeds outlierLimits. This was simulated with 200,000 samples of
// each size up to 50 values, and with 20,000 of each larger size.
var outlierLimits = []limit{
	{5, 18.6}, {6, 10.2}, {7, 10.6}, {8, 8.06}, {9, 8.29}, {10, 6.92}, {11, 7.08}, {12, 6.30},
	{15, 6.00}, {20, 5.23}, {30, 4.76}, {50, 4.47}, {100, 4.33}, {500, 4.33},
}
