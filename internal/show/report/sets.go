package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

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

// sample is what of a set figures are taken from: the valid runs in the order of
// time, or all that finished where none is valid.
type sample struct {
	Set
	runs  []*result.Recorded
	valid int
	among []*result.Run // those that the figures are held against, and its own
}

func sampleOf(s Set) sample {
	taken := sample{Set: s}
	var finished []*result.Recorded
	for _, r := range s.Runs {
		if r.Run.Finished() {
			finished = append(finished, r)
		}
		if r.Run.Verdict.Status == result.Valid {
			taken.valid++
			taken.runs = append(taken.runs, r)
		}
	}
	if taken.valid == 0 {
		taken.runs = finished
	}
	slices.SortStableFunc(taken.runs, inTime)
	taken.among = runsOf(taken.runs)
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
func beside(a, b sample) (sample, sample) {
	a.among = append(runsOf(a.runs), runsOf(b.runs)...)
	b.among = a.among
	return a, b
}

// repeated is a figure over the runs that have it.
func (s sample) repeated(f figure.Figure) Repeated {
	return repeatedOf(f.Among(s.among).Over(runsOf(s.runs)))
}

// values are those of a figure, in the order of time, with the runs that they are
// of: a run that does not know the figure is passed over, and a lower bound is +Inf.
func (s sample) values(f figure.Figure) (values []float64, of []*result.Recorded) {
	f = f.Among(s.among)
	for _, r := range s.runs {
		if v, known := f.Ranked(&r.Run); known {
			values, of = append(values, v), append(of, r)
		}
	}
	return values, of
}

// otherwise says that runs do not have a figure because of their method; "" if all
// that matters of them is alike.
func (s sample) otherwise(f figure.Figure) string {
	for _, r := range s.runs {
		if why := f.Among(s.among).Otherwise(&r.Run); why != "" {
			return ": " + why
		}
	}
	return ""
}

// leftOut says how many runs figures are not taken from though they were tried; "" of
// none. The runs that are left are the survivors: what made the others invalid may
// well be what the comparison is to find.
func (s sample) leftOut() string {
	tried := len(s.Runs) + s.Missing
	if s.valid == tried {
		return ""
	}
	verb := "are"
	if tried-s.valid == 1 {
		verb = "is"
	}
	text := fmt.Sprintf("%d of %s %s invalid", tried-s.valid, count(int64(tried), "run"), verb)
	if s.Missing > 0 {
		text += fmt.Sprintf(" or missing (%d)", s.Missing)
	}
	return text + " and left out"
}

// described is the state, after what the runs are called where that is not what the
// set is.
func (s sample) described() string {
	var names []string
	for _, r := range s.Runs {
		if name := r.Run.Run.Name; name != s.Label && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return layout.List(strings.Join(names, ", "), s.state())
}

// state says in words how many runs there are, and how many count.
func (s sample) state() string {
	all := count(int64(len(s.Runs)), "run")
	switch {
	case s.valid == len(s.Runs) && s.valid == 1:
		return "1 run, valid"
	case s.valid == len(s.Runs):
		return all + ", all valid"
	case s.valid == 0 && len(s.runs) > 0:
		return all + ", NONE VALID: their figures are shown, and are not to be relied on"
	case s.valid == 0:
		return all + ", NONE VALID and none finished"
	}
	return fmt.Sprintf("%s, %d valid, the others left out", all, s.valid)
}

// span is when the first and the last run that counts started, of those that tell.
func (s sample) span() (first, last time.Time) {
	for _, r := range s.runs {
		if at := startedAt(&r.Run); !at.IsZero() {
			first, last = cmp.Or(first, at), at
		}
	}
	return first, last
}
