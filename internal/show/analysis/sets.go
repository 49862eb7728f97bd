package analysis

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// ShortName names a run within a sentence.
func ShortName(r *result.Recorded) string { return r.Run.Run.Name + "-" + r.Run.Run.ID }

// StartedAt is when a run began; zero where an imported one cannot say.
func StartedAt(r *result.Run) time.Time {
	if !r.Says("run.started_at") {
		return time.Time{}
	}
	return r.Run.StartedAt
}

// inTime orders runs by when they began, those that cannot say last and by name.
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

// Set is runs of one thing, to be compared with runs of another.
type Set struct {
	Label string // what a person calls it
	Runs  []*result.Recorded
	// Missing is how many runs more were tried and left nothing to read: they
	// could not be started, or their files are gone.
	Missing int
}

// CellSet is the runs of a campaign's cell.
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

// Sample is what of a set figures are taken from: the valid runs in the order of
// time, or all that finished where none is valid.
type Sample struct {
	Set
	Taken []*result.Recorded
	Valid int
	Among []*result.Run // those that the figures are held against, and its own
}

func sampleOf(s Set) Sample {
	taken := Sample{Set: s}
	var finished []*result.Recorded
	for _, r := range s.Runs {
		if r.Run.Finished() {
			finished = append(finished, r)
		}
		if r.Run.Verdict.Status == result.Valid {
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

// runsOf are the runs without what lies beside their summaries.
func runsOf(recorded []*result.Recorded) []*result.Run {
	runs := make([]*result.Run, len(recorded))
	for i, r := range recorded {
		runs[i] = &r.Run
	}
	return runs
}

// beside are samples whose figures are held against each other.
func beside(a, b Sample) (Sample, Sample) {
	a.Among = append(runsOf(a.Taken), runsOf(b.Taken)...)
	b.Among = a.Among
	return a, b
}

// repeated is a figure over the runs that have it.
func (s Sample) repeated(f figure.Figure) Repeated {
	return repeatedOf(f.Among(s.Among).Over(runsOf(s.Taken)))
}

// ValuesOf are those of a figure, in the order of time, with the runs that they are
// of: a run that does not know the figure is passed over, and a lower bound is +Inf.
func (s Sample) ValuesOf(f figure.Figure) (values []float64, of []*result.Recorded) {
	f = f.Among(s.Among)
	for _, r := range s.Taken {
		if v, known := f.Ranked(&r.Run); known {
			values, of = append(values, v), append(of, r)
		}
	}
	return values, of
}

// otherwise says that runs do not have a figure because of their method; "" if all
// that matters of them is alike.
func (s Sample) otherwise(f figure.Figure) string {
	for _, r := range s.Taken {
		if why := f.Among(s.Among).Otherwise(&r.Run); why != "" {
			return ": " + why
		}
	}
	return ""
}

// Survivors tells whether figures are not taken from all runs that were tried: what made
// the others invalid may well be what the comparison is to find.
func (s Sample) Survivors() bool { return s.Valid != len(s.Runs)+s.Missing }

// Span is when the first and the last run that counts started, of those that tell.
func (s Sample) Span() (first, last time.Time) {
	for _, r := range s.Taken {
		if at := StartedAt(&r.Run); !at.IsZero() {
			first, last = cmp.Or(first, at), at
		}
	}
	return first, last
}
