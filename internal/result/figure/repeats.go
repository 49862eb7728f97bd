package figure

import "kafkabench.example/kafka-bench/internal/result"

// Repeats are a figure of several runs. Ranked and AtLeast differ where a run has a
// lower bound only; an order statistic of the one is at least that of the other.
type Repeats struct {
	Ranked, AtLeast []float64
	ClockError      float64 // the largest of any run
}

// Over takes the figure from those of runs that have it.
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

// Format prints a statistic of the runs, as their median.
func (all Repeats) Format(f Figure, statistic func([]float64) float64) string {
	return f.FormatClocked(statistic(all.Ranked), statistic(all.AtLeast), all.ClockError)
}
