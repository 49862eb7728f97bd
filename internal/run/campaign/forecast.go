package campaign

import "time"

const firstGuess = 3 * time.Second

// Forecast estimates how long runs take: the mean time of their cell's earlier runs. For a cell
// without runs it is a guess from the scenario, plus the mean time by which other runs exceeded
// their guesses.
type Forecast struct {
	plan Plan
	took map[int]time.Duration
	runs map[int]int

	beyond time.Duration
	made   int
}

// NewForecast returns a forecast without runs.
func NewForecast(p Plan) *Forecast {
	return &Forecast{plan: p, took: make(map[int]time.Duration), runs: make(map[int]int)}
}

// Took records how long a run of the cell took.
func (f *Forecast) Took(cell int, d time.Duration) {
	f.took[cell] += d
	f.runs[cell]++
	f.beyond += d - f.guess(cell)
	f.made++
}

// Left returns how long the runs will take.
func (f *Forecast) Left(runs []PlannedRun) (left time.Duration) {
	for _, run := range runs {
		left = add(left, f.one(run.Cell))
	}
	return left
}

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
