package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// ShortName returns the name of a run for sentences.
func ShortName(r *result.Recorded) string { return r.Run.Run.Name + "-" + r.Run.Run.ID }

// StartedAt returns the start of a run; zero if an imported run does not have it.
func StartedAt(r *result.Run) time.Time {
	if !r.Says("run.started_at") {
		return time.Time{}
	}
	return r.Run.StartedAt
}

// inTime orders runs by start, then those without a start by name.
func inTime(a, b *result.Recorded) int {
	at, bt := StartedAt(&a.Run), StartedAt(&b.Run)
	switch {
	case at.IsZero() && bt.IsZero():
		return strings.Compare(a.Run.Run.Name, b.Run.Run.Name)
	case at.IsZero():
		return 1
	case bt.IsZero():
		return -1
	}
	return at.Compare(bt)
}

// Set is repeats of one configuration, to be compared with other sets.
type Set struct {
	Label string
	Runs  []*result.Recorded
	// Missing is the number of further runs that could not be started, or whose files are gone.
	Missing int
}

// CellSet returns the runs of a campaign's cell.
func CellSet(c *result.RecordedCampaign, cell int) Set {
	set := Set{Label: c.Campaign.Cells[cell].Name, Runs: c.Of(cell)}
	for i, planned := range c.Campaign.Runs {
		tried := planned.Status == result.Failed || planned.Dir != ""
		if planned.Cell == cell && tried && c.Runs[i] == nil {
			set.Missing++
		}
	}
	return set
}

// Sample is a set with the runs that figures are taken from: the valid and the imported ones in the
// order of time, or all finished ones if there is none.
type Sample struct {
	Set
	Taken []*result.Recorded
	// Valid is the number of valid and imported runs, Imported that of the imported ones, which
	// nobody judged.
	Valid    int
	Imported int
	Among    []*result.Run // runs that figures are compared with, including its own
}

func sampleOf(s Set) Sample {
	taken := Sample{Set: s}
	var finished []*result.Recorded
	for _, r := range s.Runs {
		if r.Run.Finished() {
			finished = append(finished, r)
		}
		if r.Run.Verdict.Status == result.Unchecked {
			taken.Imported++
		}
		if r.Run.Verdict.Usable() {
			taken.Valid++
			taken.Taken = append(taken.Taken, r)
		}
	}
	if taken.Valid == 0 {
		taken.Taken = finished
	}
	slices.SortStableFunc(taken.Taken, inTime)
	taken.Among = runsOf(taken.Taken)
	return taken
}

func runsOf(recorded []*result.Recorded) []*result.Run {
	runs := make([]*result.Run, len(recorded))
	for i, r := range recorded {
		runs[i] = &r.Run
	}
	return runs
}

func beside(a, b Sample) (Sample, Sample) {
	a.Among = append(runsOf(a.Taken), runsOf(b.Taken)...)
	b.Among = a.Among
	return a, b
}

func (s Sample) repeated(f figure.Figure) Repeated {
	return repeatedOf(f.Among(s.Among).Over(runsOf(s.Taken)))
}

// ValuesOf returns a figure's values in the order of time, with their runs. It skips a run without
// the figure. A lower bound is +Inf.
func (s Sample) ValuesOf(f figure.Figure) (values []float64, of []*result.Recorded) {
	f = f.Among(s.Among)
	for _, r := range s.Taken {
		if v, known := f.Ranked(&r.Run); known {
			values, of = append(values, v), append(of, r)
		}
	}
	return values, of
}

// lacks returns why a run of the sample does not have the figure; "" if all have it.
func (s Sample) lacks(f figure.Figure) string {
	f = f.Among(s.Among)
	for _, r := range s.Taken {
		if why := f.Missing(&r.Run); why != "" {
			return why
		}
	}
	return ""
}

func (s Sample) otherwise(f figure.Figure) string {
	for _, r := range s.Taken {
		if why := f.Among(s.Among).Otherwise(&r.Run); why != "" {
			return ": " + why
		}
	}
	return ""
}

// Survivors reports whether some of the tried runs are missing or invalid. They may have failed
// because of the effect that the comparison should find.
func (s Sample) Survivors() bool { return s.Valid != len(s.Runs)+s.Missing }

// Span returns the start times of the first and the last run that have one.
func (s Sample) Span() (first, last time.Time) {
	for _, r := range s.Taken {
		if at := StartedAt(&r.Run); !at.IsZero() {
			first, last = cmp.Or(first, at), at
		}
	}
	return first, last
}
