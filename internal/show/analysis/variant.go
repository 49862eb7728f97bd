package analysis

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Variant is the runs of one name: repeats of one thing.
type Variant struct {
	Name string
	// Runs are the ones that figures are taken from: the valid ones, or all
	// of them where none is valid.
	Runs  []*result.Recorded
	All   int
	Valid int
	Among []*result.Run // those of all names, its own included
}

// Variants groups runs by name, in the order in which the names come. A run
// that did not finish has no figures and only counts as not valid.
func Variants(runs []*result.Recorded) []Variant {
	var grouped []Variant
	for _, r := range runs {
		name := r.Run.Run.Name
		i := slices.IndexFunc(grouped, func(v Variant) bool { return v.Name == name })
		if i < 0 {
			i = len(grouped)
			grouped = append(grouped, Variant{Name: name})
		}
		grouped[i].All++
		if r.Run.Verdict.Status == result.Valid {
			grouped[i].Valid++
		}
		if r.Run.Finished() {
			grouped[i].Runs = append(grouped[i].Runs, r)
		}
	}
	for i := range grouped {
		v := &grouped[i]
		if v.Valid > 0 {
			v.Runs = slices.DeleteFunc(v.Runs,
				func(r *result.Recorded) bool { return r.Run.Verdict.Status != result.Valid })
		}
	}
	return besideEachOther(grouped)
}

// besideEachOther are variants whose figures stand in one table.
func besideEachOther(all []Variant) []Variant {
	var among []*result.Run
	for _, v := range all {
		among = append(among, runsOf(v.Runs)...)
	}
	for i := range all {
		all[i].Among = among
	}
	return all
}

// Reading takes one number from a run, and tells whether the run has it.
type Reading func(*result.Run) (float64, bool)

// Spread is a figure over repeated runs.
type Spread struct {
	N                int
	Low, Median, Top float64
	Least            *Spread // of lower bounds, where others are +Inf
	ClockError       float64 // as of figure.Repeats
}

// Figure takes a figure from each run that compares with all others of the table.
func (v Variant) Figure(f figure.Figure) Spread {
	f = f.Among(v.Among)
	s, least := v.Of(f.Ranked), v.Of(f.AtLeast)
	s.Least, s.ClockError = &least, f.Over(runsOf(v.Runs)).ClockError
	return s
}

// Values are those of a figure by which its runs are ranked.
func (v Variant) Values(f figure.Figure) []float64 {
	return f.Among(v.Among).Over(runsOf(v.Runs)).Ranked
}

// Of takes the figure from each run; n is zero where no run has it.
func (v Variant) Of(f Reading) Spread {
	var values []float64
	for _, r := range v.Runs {
		if x, ok := f(&r.Run); ok {
			values = append(values, x)
		}
	}
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	n := len(values)
	// of +Inf it is that
	return Spread{N: n, Low: values[0], Median: (values[(n-1)/2] + values[n/2]) / 2, Top: values[n-1]}
}

// Where is how many runs have a figure of which something is so.
func (v Variant) Where(f Reading, so func(float64) bool) (n int) {
	for _, r := range v.Runs {
		if x, ok := f(&r.Run); ok && so(x) {
			n++
		}
	}
	return n
}

// Typical is the run whose figure is nearest to the median, for a picture of
// one run; nil where no run has the figure.
func (v Variant) Typical(f Reading) *result.Recorded {
	median := v.Of(f).Median
	var best *result.Recorded
	var distance float64
	for _, r := range v.Runs {
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

// TypicalRun is the run that stands for repeats in a picture over time: of those with intervals the
// one whose p99, or else whose throughput, is nearest to the median of all, lower bounds included.
// It is the first if none has either, and nil without a run.
func TypicalRun(runs []*result.Recorded) *result.Recorded {
	with := slices.DeleteFunc(slices.Clone(runs), func(r *result.Recorded) bool { return len(r.Intervals) == 0 })
	if len(with) == 0 {
		with = runs
	}
	for _, name := range []string{PrimaryName, ThroughputFigure} {
		if r := (Variant{Runs: with}).Typical(FigureCalled(name).Ranked); r != nil {
			return r
		}
	}
	if len(with) == 0 {
		return nil
	}
	return with[0]
}

// FigureNamed reads a figure by a name that is known to be one.
func FigureNamed(name string) Reading {
	f, err := figure.Named(name)
	if err != nil {
		return func(*result.Run) (float64, bool) { return 0, false }
	}
	return f.Value
}

// AtLeastOfBound is the peak of what the lag was at the least, as a part of the bound,
// where several processes produce.
func AtLeastOfBound(r *result.Run) (float64, bool) {
	if r.Backpressure == nil {
		return 0, false
	}
	return value(r.Backpressure.PeakAtLeastToBound)
}

// References finds for the valid runs of variants what the same consumers delivered
// without backpressure. What an invalid run delivered is nothing to hold others
// against.
func References(compared []Variant) map[*result.Run]figure.Reference {
	var sets [][]*result.Run
	for _, v := range compared {
		var set []*result.Run
		for _, r := range v.Runs {
			if v.Valid > 0 {
				set = append(set, &r.Run)
			}
		}
		sets = append(sets, set)
	}
	return figure.References(sets)
}

// UnderBackpressure tells whether some variant was.
func UnderBackpressure(compared []Variant) bool { return slices.ContainsFunc(compared, Variant.Held) }

// Held tells whether a controller was there to hold load back.
func (v Variant) Held() bool {
	return slices.ContainsFunc(v.Runs, func(r *result.Recorded) bool { return r.Run.Backpressure != nil })
}

// The figures that are compared.
var (
	Scheduled   = whole("load.scheduled", func(r *result.Run) int64 { return r.Load.Scheduled })
	Shed        = whole("load.shed", func(r *result.Run) int64 { return r.Load.Shed })
	Deferred    = whole("load.deferred", func(r *result.Run) int64 { return r.Load.Deferred })
	LostRecords = checked(func(r *result.Run) int64 { return r.Delivery.Lost })
	pending     = checked(func(r *result.Run) int64 { return r.Delivery.Pending })
	delivered   = checked(func(r *result.Run) int64 { return r.Delivery.Unique })

	FailedShare = ofScheduled(whole("load.failed", func(r *result.Run) int64 { return r.Load.Failed + r.Load.Unknown }))

	ShedShare     = ofScheduled(Shed)
	DeferredShare = ofScheduled(Deferred)
	PendingShare  = ofScheduled(pending)
	AdmittedShare = ofScheduled(whole("load.admitted", func(r *result.Run) int64 { return r.Load.Admitted }))
	DeliveredPart = ofScheduled(delivered)
)

// OfferedPerS is the rate at which records came due; not known in a closed loop.
func OfferedPerS(r *result.Run) (float64, bool) {
	return r.Load.OfferedPerS, !r.Load.ClosedLoop && r.Says("load.offered_per_s")
}

// AckedPerS is the rate of acknowledgements in the measured window.
func AckedPerS(r *result.Run) (float64, bool) { return r.Load.AckedPerS, r.Says("load.acked_per_s") }

// PeakLag is the highest consumer lag, in records.
func PeakLag(r *result.Run) (float64, bool) { return value(r.Lag.PeakRecords) }

// PeakLagOfBound is the overshoot: above 1 the bound did not hold.
func PeakLagOfBound(r *result.Run) (float64, bool) { return FigureNamed("lag_peak_of_max_lag")(r) }

// Utilisation is the part of their time in which the workers worked.
func Utilisation(r *result.Run) (float64, bool) { return value(r.Consumer.Utilisation) }

// Capacity is how many records a second the workers can work through.
func Capacity(r *result.Run) (float64, bool) { return value(r.Consumer.CapacityPerS) }

// GateClosed is the share of the measured window.
func GateClosed(r *result.Run) (float64, bool) {
	w := Window(r)
	if r.Backpressure == nil || w <= 0 {
		return 0, false
	}
	return r.Backpressure.ClosedS * 1e9 / float64(w), true
}

// Drained is 1 if the consumers reached everything, and 0 if not.
func Drained(r *result.Run) (float64, bool) {
	known := consumed(r) && r.Says("lag.drained")
	if r.Lag.Drained {
		return 1, known
	}
	return 0, known
}

func consumed(r *result.Run) bool { return r.Consumer.Members > 0 }

// whole is a figure of records. A run of another tool may not tell it: path is where
// it is in run.json.
func whole(path string, f func(*result.Run) int64) Reading {
	return func(r *result.Run) (float64, bool) { return float64(f(r)), r.Says(path) }
}

// checked is a figure that only stamped records give.
func checked(f func(*result.Run) int64) Reading {
	return func(r *result.Run) (float64, bool) { return float64(f(r)), r.Delivery.Checked }
}

// ofScheduled is a figure of records as a share of what was scheduled.
func ofScheduled(f Reading) Reading {
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

// Phase is the run's phase of that name, or an empty one.
func Phase(r *result.Run, name string) result.Phase {
	for _, ph := range r.Run.Phases {
		if ph.Name == name {
			return ph
		}
	}
	return result.Phase{}
}

// Window is the length of the measured window, in nanoseconds.
func Window(r *result.Run) int64 {
	measured := Phase(r, "measure")
	return measured.EndNs - measured.StartNs
}
