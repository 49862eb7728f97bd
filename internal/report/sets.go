package report

import (
	"fmt"
	"slices"
	"time"

	"kafka-bench/internal/figure"
	"kafka-bench/internal/result"
)

// Set is runs of one thing, to be compared with runs of another.
type Set struct {
	Label string // what a person calls it
	Runs  []*result.Recorded
}

// sample is what of a set figures are taken from: the valid runs in the order of
// time, or all that finished where none is valid.
type sample struct {
	Set
	runs  []*result.Recorded
	valid int
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
	slices.SortStableFunc(taken.runs, func(a, b *result.Recorded) int {
		return a.Run.Run.StartedAt.Compare(b.Run.Run.StartedAt)
	})
	return taken
}

// values are those of a figure, in the order of time, with the runs that they are
// of: a run that does not know the figure is passed over.
func (s sample) values(f figure.Figure) (values []float64, of []*result.Recorded) {
	for _, r := range s.runs {
		if v, known := f.Value(&r.Run); known {
			values, of = append(values, v), append(of, r)
		}
	}
	return values, of
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

// span is when the first and the last run that counts started.
func (s sample) span() (first, last time.Time) {
	if len(s.runs) == 0 {
		return first, last
	}
	return s.runs[0].Run.Run.StartedAt, s.runs[len(s.runs)-1].Run.Run.StartedAt
}
