package analysis

import (
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// Variant is the runs of one name, made by the same number and placement of agents: repeats of one
// configuration.
type Variant struct {
	Name string
	// Runs are the valid runs, or all finished ones if none is valid.
	Runs  []*result.Recorded
	All   int
	Valid int
	Among []*result.Run // the runs of all names, including its own
}

// VariantNames returns the name of each run's variant: the run's name, with its agents if finished
// runs of that name had other agents or none.
func VariantNames(runs []*result.Recorded) []string {
	fleets := map[string][]result.Fleet{}
	for _, r := range runs {
		name, fleet := r.Run.Run.Name, r.Run.Fleet()
		if r.Run.Finished() && !slices.Contains(fleets[name], fleet) {
			fleets[name] = append(fleets[name], fleet)
		}
	}
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.Run.Run.Name
		if r.Run.Finished() && len(fleets[names[i]]) > 1 {
			names[i] += ", " + r.Run.Fleet().String()
		}
	}
	return names
}

// Variants groups runs by VariantNames, in the order of the names' first runs. A run that did not
// finish counts only in All.
func Variants(runs []*result.Recorded) []Variant {
	var grouped []Variant
	names := VariantNames(runs)
	for i, r := range runs {
		name := names[i]
		i := slices.IndexFunc(grouped, func(v Variant) bool { return v.Name == name })
		if i < 0 {
			i = len(grouped)
			grouped = append(grouped, Variant{Name: name})
		}
		grouped[i].All++
		if r.Run.Verdict.Usable() {
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
				func(r *result.Recorded) bool { return !r.Run.Verdict.Usable() })
		}
	}
	return besideEachOther(grouped)
}

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

// Reading returns a number of a run, and whether the run has it.
type Reading func(*result.Run) (float64, bool)

// Spread is a figure over repeated runs.
type Spread struct {
	N                int
	Low, Median, Top float64
	Least            *Spread // with lower bounds in place of +Inf
	ClockError       float64 // as in figure.Repeats
}

// Figure returns a figure over the variant's runs, without values that are not comparable with the
// other variants (see figure.Figure.Among).
func (v Variant) Figure(f figure.Figure) Spread {
	f = f.Among(v.Among)
	s, least := v.Of(f.Ranked), v.Of(f.AtLeast)
	s.Least, s.ClockError = &least, f.Over(runsOf(v.Runs)).ClockError
	return s
}

// Values returns the figure's values for a rank test: one for each run that has it.
func (v Variant) Values(f figure.Figure) []float64 {
	return f.Among(v.Among).Over(runsOf(v.Runs)).Ranked
}

// Of returns the spread of a number over the runs; N is 0 if no run has it.
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
	// if one of the two is +Inf, so is the median
	return Spread{N: n, Low: values[0], Median: (values[(n-1)/2] + values[n/2]) / 2, Top: values[n-1]}
}

// Where returns the number of runs that have the number f and for which the condition so is true.
func (v Variant) Where(f Reading, so func(float64) bool) (n int) {
	for _, r := range v.Runs {
		if x, ok := f(&r.Run); ok && so(x) {
			n++
		}
	}
	return n
}

// Typical returns the run whose number is nearest to the median; nil if no run has
// it.
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
		if x == median {
			d = 0
		}
		if best == nil || d < distance {
			best, distance = r, d
		}
	}
	return best
}

// TypicalRun returns the run that represents repeats in a picture over time. Of the runs with
// intervals, or of all runs if none has intervals, it is the run whose p99, or else throughput, is
// nearest to the median. Without these figures it is the first of them, and without runs nil.
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

// AtLeastOfBound is the lowest possible peak of the lag ÷ the bound. A run has it only if several
// processes produce.
func AtLeastOfBound(r *result.Run) (float64, bool) {
	if r.Backpressure == nil {
		return 0, false
	}
	return value(r.Backpressure.PeakAtLeastToBound)
}

// References returns, for valid runs of the variants, what the same consumers delivered without
// backpressure under the same load.
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

// UnderBackpressure reports whether a variant has backpressure.
func UnderBackpressure(compared []Variant) bool { return slices.ContainsFunc(compared, Variant.Held) }

// Held reports whether a controller limited the load.
func (v Variant) Held() bool {
	return slices.ContainsFunc(v.Runs, func(r *result.Recorded) bool { return r.Run.Backpressure != nil })
}

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
	pendingShare  = ofScheduled(pending)
	AdmittedShare = ofScheduled(whole("load.admitted", func(r *result.Run) int64 { return r.Load.Admitted }))
	DeliveredPart = ofScheduled(delivered)
)

// OfferedPerS is the rate at which records came due; unknown in a closed loop.
func OfferedPerS(r *result.Run) (float64, bool) {
	return r.Load.OfferedPerS, !r.Load.ClosedLoop && r.Says("load.offered_per_s")
}

// AckedPerS is the rate of acks in the measured window.
func AckedPerS(r *result.Run) (float64, bool) { return r.Load.AckedPerS, r.Says("load.acked_per_s") }

// PeakLag is the highest consumer lag, in records.
func PeakLag(r *result.Run) (float64, bool) { return value(r.Lag.PeakRecords) }

// PeakLagOfBound is the peak of the lag relative to the bound.
func PeakLagOfBound(r *result.Run) (float64, bool) {
	return FigureCalled("lag_peak_of_max_lag").Value(r)
}

// Utilisation is the part of their time in which the workers worked.
func Utilisation(r *result.Run) (float64, bool) { return value(r.Consumer.Utilisation) }

// Capacity is the number of records that the workers can process per second.
func Capacity(r *result.Run) (float64, bool) { return value(r.Consumer.CapacityPerS) }

// GateClosed is the part of the measured window in which the gate was closed.
func GateClosed(r *result.Run) (float64, bool) {
	w := Window(r)
	if r.Backpressure == nil || w <= 0 {
		return 0, false
	}
	return r.Backpressure.ClosedS * 1e9 / float64(w), true
}

// Drained is 1 if the consumers read everything, and 0 if not.
func Drained(r *result.Run) (float64, bool) {
	known := consumed(r) && r.Says("lag.drained")
	if r.Lag.Drained {
		return 1, known
	}
	return 0, known
}

func consumed(r *result.Run) bool { return r.Consumer.Members > 0 }

// whole is a number of records. path is its place in run.json, which an imported run may lack.
func whole(path string, f func(*result.Run) int64) Reading {
	return func(r *result.Run) (float64, bool) { return float64(f(r)), r.Says(path) }
}

func checked(f func(*result.Run) int64) Reading {
	return func(r *result.Run) (float64, bool) { return float64(f(r)), r.Delivery.Checked }
}

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

// Phase returns the run's phase of that name, or an empty one.
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
