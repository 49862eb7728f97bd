package campaign

import "time"

// firstGuess is what a run is taken to need beyond what its scenario says, before
// one was made: the topic, the group, a short drain, the clean-up.
const firstGuess = 3 * time.Second

// Forecast says how long the rest of a campaign will take: what a cell's runs
// took so far, and for a cell that had none what its scenario says, with what
// runs took beyond that.
type Forecast struct {
	plan Plan
	took map[int]time.Duration // by cell, all its runs together
	runs map[int]int

	beyond time.Duration // of all runs together
	made   int
}

// NewForecast begins with no run made.
func NewForecast(p Plan) *Forecast {
	return &Forecast{plan: p, took: make(map[int]time.Duration), runs: make(map[int]int)}
}

// Took notes how long a run of the cell took.
func (f *Forecast) Took(cell int, d time.Duration) {
	f.took[cell] += d
	f.runs[cell]++
	f.beyond += d - f.guess(cell)
	f.made++
}

// Left is how long the runs will take.
func (f *Forecast) Left(runs []PlannedRun) (left time.Duration) {
	for _, run := range runs {
		left += f.one(run.Cell)
	}
	return left
}

// one is how long a run of the cell will take.
func (f *Forecast) one(cell int) time.Duration {
	if n := f.runs[cell]; n > 0 {
		return f.took[cell] / time.Duration(n)
	}
	beyond := firstGuess
	if f.made > 0 {
		beyond = f.beyond / time.Duration(f.made)
	}
	return max(0, f.guess(cell)+beyond)
}

func (f *Forecast) guess(cell int) time.Duration { return guess(f.plan.Cells[cell].Scenario) }
