package figure

import "kafkabench.example/kafka-bench/internal/result"

// Repeats are a figure of several runs. Ranked and AtLeast differ if a run has only a lower bound.
type Repeats struct {
	Ranked, AtLeast []float64
	ClockError      float64 // the largest of any run
}

// Over returns the figure of those runs that have it.
func (f Figure) Over(runs []*result.Run) (all Repeats) {
	for _, r := range runs {
		if v, known := f.Ranked(r); known {
			atLeast, _ := f.AtLeast(r)
			all.Ranked, all.AtLeast = append(all.Ranked, v), append(all.AtLeast, atLeast)
			all.ClockError = max(all.ClockError, f.ClockError(r))
		}
	}
	return all
}

// Format formats a statistic of the runs, such as their median.
func (all Repeats) Format(f Figure, statistic func([]float64) float64) string {
	return f.FormatClocked(statistic(all.Ranked), statistic(all.AtLeast), all.ClockError)
}
