package report

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// variant is the runs of one name: repeats of one thing.
type variant struct {
	name string
	// runs are the ones that figures are taken from: the valid ones, or all
	// of them where none is valid.
	runs  []*result.Recorded
	all   int
	valid int
	among []*result.Run // those of all names, its own included
}

// variants groups runs by name, in the order in which the names come. A run
// that did not finish has no figures and only counts as not valid.
func variants(runs []*result.Recorded) []variant {
	var grouped []variant
	for _, r := range runs {
		name := r.Run.Run.Name
		i := slices.IndexFunc(grouped, func(v variant) bool { return v.name == name })
		if i < 0 {
			i = len(grouped)
			grouped = append(grouped, variant{name: name})
		}
		grouped[i].all++
		if r.Run.Verdict.Status == result.Valid {
			grouped[i].valid++
		}
		if r.Run.Finished() {
			grouped[i].runs = append(grouped[i].runs, r)
		}
	}
	for i := range grouped {
		v := &grouped[i]
		if v.valid > 0 {
			v.runs = slices.DeleteFunc(v.runs, func(r *result.Recorded) bool { return r.Run.Verdict.Status != result.Valid })
		}
	}
	return besideEachOther(grouped)
}

// besideEachOther are variants whose figures stand in one table.
func besideEachOther(all []variant) []variant {
	var among []*result.Run
	for _, v := range all {
		among = append(among, runsOf(v.runs)...)
	}
	for i := range all {
		all[i].among = among
	}
	return all
}

// reading takes one number from a run, and tells whether the run has it.
type reading func(*result.Run) (float64, bool)

// spread is a figure over repeated runs.
type spread struct {
	n                int
	low, median, top float64
	least            *spread // of lower bounds, where others are +Inf
}

// figure takes a figure from each run that compares with all others of the table.
func (v variant) figure(f figure.Figure) spread {
	f = f.Among(v.among)
	s, least := v.of(f.Ranked), v.of(f.AtLeast)
	s.least = &least
	return s
}

// values are those of a figure by which its runs are ranked.
func (v variant) values(f figure.Figure) []float64 {
	return f.Among(v.among).Over(runsOf(v.runs)).Ranked
}

// of takes the figure from each run; n is zero where no run has it.
func (v variant) of(f reading) spread {
	var values []float64
	for _, r := range v.runs {
		if x, ok := f(&r.Run); ok {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return spread{}
	}
	slices.Sort(values)
	n := len(values)
	return spread{n: n, low: values[0], median: (values[(n-1)/2] + values[n/2]) / 2, top: values[n-1]} // of +Inf it is that
}

// where is how many runs have a figure of which something is so.
func (v variant) where(f reading, so func(float64) bool) (n int) {
	for _, r := range v.runs {
		if x, ok := f(&r.Run); ok && so(x) {
			n++
		}
	}
	return n
}

// typical is the run whose figure is nearest to the median, for a picture of
// one run; nil where no run has the figure.
func (v variant) typical(f reading) *result.Recorded {
	median := v.of(f).median
	var best *result.Recorded
	var distance float64
	for _, r := range v.runs {
		x, ok := f(&r.Run)
		if !ok {
			continue
		}
		d := max(x-median, median-x)
		if x == median { // of bounds too
			d = 0
		}
		if best == nil || d < distance {
			best, distance = r, d
		}
	}
	return best
}

// The figures that are compared.
var (
	scheduled   = whole("load.scheduled", func(r *result.Run) int64 { return r.Load.Scheduled })
	shed        = whole("load.shed", func(r *result.Run) int64 { return r.Load.Shed })
	deferred    = whole("load.deferred", func(r *result.Run) int64 { return r.Load.Deferred })
	lostRecords = checked(func(r *result.Run) int64 { return r.Delivery.Lost })
	pending     = checked(func(r *result.Run) int64 { return r.Delivery.Pending })
	delivered   = checked(func(r *result.Run) int64 { return r.Delivery.Unique })

	failedShare = ofScheduled(whole("load.failed", func(r *result.Run) int64 { return r.Load.Failed + r.Load.Unknown }))

	shedShare     = ofScheduled(shed)
	deferredShare = ofScheduled(deferred)
	pendingShare  = ofScheduled(pending)
	admittedShare = ofScheduled(whole("load.admitted", func(r *result.Run) int64 { return r.Load.Admitted }))
	deliveredPart = ofScheduled(delivered)
)

func offeredPerS(r *result.Run) (float64, bool) {
	return r.Load.OfferedPerS, !r.Load.ClosedLoop && r.Says("load.offered_per_s")
}

func ackedPerS(r *result.Run) (float64, bool) { return r.Load.AckedPerS, r.Says("load.acked_per_s") }

func peakLag(r *result.Run) (float64, bool) { return value(r.Lag.PeakRecords) }

// peakLagOfBound is the overshoot: above 1 the bound did not hold.
func peakLagOfBound(r *result.Run) (float64, bool) { return figureNamed("lag_peak_of_max_lag")(r) }

func utilisation(r *result.Run) (float64, bool) { return value(r.Consumer.Utilisation) }

func capacity(r *result.Run) (float64, bool) { return value(r.Consumer.CapacityPerS) }

// gateClosed is the share of the measured window.
func gateClosed(r *result.Run) (float64, bool) {
	w := window(r)
	if r.Backpressure == nil || w <= 0 {
		return 0, false
	}
	return r.Backpressure.ClosedS * 1e9 / float64(w), true
}

func drained(r *result.Run) (float64, bool) {
	known := consumed(r) && r.Says("lag.drained")
	if r.Lag.Drained {
		return 1, known
	}
	return 0, known
}

func consumed(r *result.Run) bool { return r.Consumer.Members > 0 }

// whole is a figure of records. A run of another tool may not tell it: path is where
// it is in run.json.
func whole(path string, f func(*result.Run) int64) reading {
	return func(r *result.Run) (float64, bool) { return float64(f(r)), r.Says(path) }
}

// checked is a figure that only stamped records give.
func checked(f func(*result.Run) int64) reading {
	return func(r *result.Run) (float64, bool) { return float64(f(r)), r.Delivery.Checked }
}

// ofScheduled is a figure of records as a share of what was scheduled.
func ofScheduled(f reading) reading {
	return func(r *result.Run) (float64, bool) {
		n, ok := f(r)
		return n / float64(r.Load.Scheduled), ok && r.Load.Scheduled > 0
	}
}

func value[T int64 | float64](p *T) (float64, bool) {
	if p == nil {
		return 0, false
	}
	return float64(*p), true
}
