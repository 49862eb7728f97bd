package analysis

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// A figure without a good side, such as the offered load, is higher or lower, never better.
const (
	WordBetter       = "better"
	WordWorse        = "worse"
	WordHigher       = "higher"
	WordLower        = "lower"
	WordNoDifference = "no difference shown"
	WordTooFew       = "too few runs"
	WordExploratory  = "exploratory" // not tested
)

// DefaultAlpha is the default chance that a comparison raises a false alarm.
const DefaultAlpha = 0.05

// CompareOptions say what is compared, and how.
type CompareOptions struct {
	// Figures are shown. None means figure.Headline with Explore, or the figures of queues if every
	// run has a queue.
	Figures []figure.Figure
	// Explore tests only the primary figure and those that five runs of each set can decide (see
	// deciding). The other figures are exploratory. Without Explore, all Figures are tested.
	Explore bool
	// Alpha, in (0, 1), is the chance that the primary figure is called different although nothing
	// differs. All other tested figures share another chance of the same size. 0 means DefaultAlpha.
	Alpha float64
	// Primary is tested at the whole of Alpha. If it has no name, PrimaryOf chooses it from
	// Figures.
	Primary figure.Figure
	// FailIf are conditions under which a comparison fails. They share another Alpha, whatever
	// Figures are shown.
	FailIf []figure.Regression
}

// Comparison is what sets of runs show, each against the first.
type Comparison struct {
	// Alpha is the chance of a false alarm of the primary figure, and also the chance of a false
	// alarm of all other tested figures together. FiguresTested is the number of tests, including those of
	// the primary figure. It excludes exploratory figures, and a figure with the same value in all
	// runs of both sets, which cannot raise an alarm.
	Alpha         float64       `json:"alpha"`
	Primary       string        `json:"primary"` // "" if no figure of both sets has a good side
	FiguresTested int           `json:"figures_tested"`
	Sets          []ComparedSet `json:"sets"`
	Against       []Against     `json:"against_the_first"` // one for each further set

	Figures []figure.Figure `json:"-"`
	Samples []Sample        `json:"-"`
	Decided []Decided       `json:"-"`
	Others  int             `json:"-"` // tests of other figures than the primary one
	// NamedTwice is the number of runs that were named more than once; each counts
	// once.
	NamedTwice int `json:"-"`
}

// ComparedSet is one set of runs.
type ComparedSet struct {
	Letter string   `json:"letter"` // A is the base
	Label  string   `json:"label"`
	Runs   []string `json:"runs"`  // folders of the runs that figures are taken from
	All    int      `json:"all"`   // number of given runs, each counted once
	Valid  int      `json:"valid"` // number of these that are valid
	// Imported is the number of these that another tool made and nobody judged.
	Imported int `json:"imported,omitempty"`
	// Missing is the number of further runs that a campaign tried and that left no
	// files to read.
	Missing int `json:"missing,omitempty"`
}

// Against compares a set with the first.
type Against struct {
	Letter  string           `json:"letter"`
	Figures []ComparedFigure `json:"figures"`
	// Missing are figures that a set does not have: not measured, or too few
	// records for the percentile.
	Missing []string `json:"missing"`
	// Configuration are the differences between the scenarios. Hidden are other
	// differences, which no scenario asked for.
	Configuration []Difference `json:"configuration"`
	Hidden        []Difference `json:"hidden"`
	// Clients are effective client settings that differ when the scenarios do.
	Clients []Difference `json:"client_settings"`

	across across
	why    map[string]string // by figure of Missing
}

// Lacked returns the figures of Missing, each with the reason why a run does not have it.
func (a *Against) Lacked() []string {
	var all []string
	for _, name := range a.Missing {
		if why := a.why[name]; why != "" {
			name += " (" + why + ")"
		}
		all = append(all, name)
	}
	return all
}

// ComparedFigure is one figure of two sets.
type ComparedFigure struct {
	Figure string   `json:"figure"`
	A      Repeated `json:"a"`
	B      Repeated `json:"b"`
	// Difference is how much B is higher than A, relative to A's median: the
	// estimate of Hodges and Lehmann. Low and High bound it with the confidence 1 −
	// Level. They are null if there are too few runs, if A's median is 0, or if a
	// run has only a lower bound. Shift is the difference in the figure's unit.
	Difference *float64 `json:"difference_ratio"`
	Low        *float64 `json:"difference_ratio_low"`
	High       *float64 `json:"difference_ratio_high"`
	Shift      *float64 `json:"shift"`
	// P is the p-value of the single rank test. PHolm is the p-value to compare
	// with alpha, adjusted for the tests that share it. Level is the level to which
	// P was compared. An exploratory figure is not tested: its bounds have the single
	// level alpha, and PHolm is null.
	P     *float64 `json:"p"`
	PHolm *float64 `json:"p_holm"`
	Level float64  `json:"level"`
	Word  string   `json:"word" jsonschema:"enum=better,enum=worse,enum=higher,enum=lower,enum=no difference shown,enum=too few runs,enum=exploratory"`
	// More is the number of additional runs of each set that would be enough, if
	// there are too few; 0 if unknown.
	More int `json:"more_runs,omitempty"`
	// MoreToShow is the number of additional runs of each set that would show the
	// seen difference in four of five comparisons, if it is real. It is 0 if a
	// difference is shown, or if more than a thousand runs would be needed.
	MoreToShow int `json:"more_runs_to_show,omitempty"`

	Of       figure.Figure    `json:"-"`
	Test     stats.Comparison `json:"-"`
	Together int              `json:"-"` // tests that share one chance of a false alarm
	Why      string           `json:"-"` // the reason if the methods of the runs exclude the figure
}

// Decided is the result of one condition of CompareOptions.FailIf for one set.
type Decided struct {
	Condition figure.Regression
	Set       int
	Status    string
	Pair      ComparedFigure
	NoneValid bool
	// LeftOut reports whether the condition would pass if no runs had been left
	// out.
	LeftOut bool
}

// Statuses of a condition.
const (
	CheckPassed    = "passed"
	CheckFailed    = "failed"
	CheckUndecided = "undecided"
)

// Compare compares each further set with the first. It takes figures from valid runs, or from all
// runs if a set has no valid one. A run counts once in its set; a run in two sets is an error.
//
// Each figure is tested by ranks (stats.Compare). The primary figure has the whole of Alpha, and
// the tests of all others share a second Alpha (see decide).
func Compare(sets []Set, o CompareOptions) (*Comparison, error) {
	if len(sets) < 2 {
		return nil, errors.New("a comparison needs two sets of runs at least")
	}
	if err := inTwo(sets); err != nil {
		return nil, err
	}
	if o.Alpha == 0 {
		o.Alpha = DefaultAlpha
	}
	byDefault := o.Figures == nil || o.Explore
	if o.Figures == nil {
		var runs []*result.Recorded
		for _, set := range sets {
			runs = append(runs, set.Runs...)
		}
		o.Figures, o.Explore = comparedOf(runs)
	}
	if o.Primary.Name != "" && !contains(o.Figures, o.Primary.Name) {
		o.Figures = append([]figure.Figure{o.Primary}, o.Figures...)
	}
	c := &Comparison{Alpha: o.Alpha, Figures: o.Figures}
	for i, set := range sets {
		once, twice := result.Distinct(set.Runs)
		set.Runs, c.NamedTwice = once, c.NamedTwice+twice
		s := sampleOf(set)
		if len(s.Taken) == 0 {
			return nil, fmt.Errorf("%s has no run that finished: there is nothing to compare", set.Label)
		}
		c.Samples = append(c.Samples, s)
		c.Sets = append(c.Sets, comparedSet(i, s))
	}
	for i, b := range c.Samples[1:] {
		c.Against = append(c.Against, against(Letter(i+1), c.Samples[0], b, o.Figures, !byDefault))
	}
	has := func(name string) bool {
		return slices.ContainsFunc(c.Against, func(a Against) bool { return a.has(name) })
	}
	tested := o.Figures
	if o.Explore {
		tested = deciding(o.Figures, has)
	}
	if o.Primary.Name == "" {
		o.Primary = PrimaryOf(tested, func(f figure.Figure) bool { return has(f.Name) })
	}
	c.Primary = o.Primary.Name
	c.explore(append(slices.Clone(tested), o.Primary))
	primary, others := decideAll(c.Against, o.Alpha, o.Primary)
	c.FiguresTested, c.Others = primary+others, others
	c.check(o.FailIf, o.Alpha)
	return c, nil
}

// explore marks the figures that are not tested.
func (c *Comparison) explore(tested []figure.Figure) {
	for i := range c.Against {
		for k := range c.Against[i].Figures {
			f := &c.Against[i].Figures[k]
			if contains(tested, f.Figure) {
				continue
			}
			f.Test = Tested(f.A, f.B, c.Alpha)
			f.Word, f.Level, f.P = WordExploratory, c.Alpha, known(f.Test.P)
			f.take()
		}
	}
}

// PrimaryName is the figure closest to what users experience.
const PrimaryName = "e2e_response_time_p99"

// PrimaryOf returns the default figure by which runs are judged: the e2e response time p99, or else
// the first figure with a good side. It must be in figures, and has must be true for it. The Name
// is "" if there is none.
func PrimaryOf(figures []figure.Figure, has func(figure.Figure) bool) (primary figure.Figure) {
	for _, f := range figures {
		if f.Better == figure.Neither || !has(f) {
			continue
		}
		if f.Name == PrimaryName {
			return f
		}
		if primary.Name == "" {
			primary = f
		}
	}
	return primary
}

func contains(figures []figure.Figure, name string) bool {
	return slices.ContainsFunc(figures, func(f figure.Figure) bool { return f.Name == name })
}

func (a *Against) has(name string) bool {
	return slices.ContainsFunc(a.Figures, func(f ComparedFigure) bool { return f.Figure == name })
}

// Letter names a set: A, B … Z, and then its number.
func Letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("#%d", i+1)
}

func comparedSet(i int, s Sample) ComparedSet {
	set := ComparedSet{Letter: Letter(i), Label: s.Label, All: len(s.Runs), Valid: s.Valid - s.Imported, Imported: s.Imported, Missing: s.Missing,
		Runs: []string{}}
	for _, r := range s.Taken {
		set.Runs = append(set.Runs, r.Dir)
	}
	return set
}

// against also lists named figures that neither set has.
func against(letter string, a, b Sample, figures []figure.Figure, named bool) Against {
	found := Against{
		Letter: letter, Figures: []ComparedFigure{}, Missing: []string{}, across: acrossOf(a.Taken, b.Taken),
		why:           map[string]string{},
		Configuration: notNil(Differences(ScenarioSettings(a.Taken), ScenarioSettings(b.Taken))),
		Hidden:        notNil(Differences(Surroundings(a.Taken), Surroundings(b.Taken))), Clients: []Difference{},
	}
	clients := notNil(found.across.clientDifferences(a.Taken, b.Taken))
	if len(found.Configuration) > 0 {
		found.Clients = clients
	} else {
		found.Hidden = append(found.Hidden, clients...)
	}
	a, b = beside(a, b)
	for _, f := range figures {
		x, y := a.repeated(f), b.repeated(f)
		if x.N == 0 || y.N == 0 {
			if x.N+y.N > 0 || named {
				found.Missing = append(found.Missing, f.Name)
				found.why[f.Name] = cmp.Or(a.lacks(f), b.lacks(f))
			}
			continue
		}
		found.Figures = append(found.Figures, ComparedFigure{
			Figure: f.Name, A: x, B: y, Of: f, Test: Tested(x, y, DefaultAlpha),
		})
	}
	return found
}

func notNil(d []Difference) []Difference {
	if d == nil {
		return []Difference{}
	}
	return d
}

// decideAll sets the word of every figure of every set, and returns the numbers of tests. The tests
// of the primary figure share alpha, and the tests of all others share a second alpha.
func decideAll(all []Against, alpha float64, primary figure.Figure) (ofPrimary, ofOthers int) {
	family := func(of bool) (n int) {
		var figures []*ComparedFigure
		var tests []tested
		for i := range all {
			for k := range all[i].Figures {
				f := &all[i].Figures[k]
				if (f.Figure == primary.Name) != of || f.Word == WordExploratory {
					continue
				}
				t := tested{p: f.Test.P}
				if f.Constant() {
					t.p = math.NaN()
				} else {
					n++
				}
				figures, tests = append(figures, f), append(tests, t)
			}
		}
		decide(tests, alpha)
		for i, f := range figures {
			f.settle(tests[i])
		}
		return n
	}
	return family(true), family(false)
}

// Constant reports whether all runs of both sets have the same value. Lower bounds are not known to
// be the same value.
func (f *ComparedFigure) Constant() bool {
	a, b := f.A.Summary, f.B.Summary
	return !math.IsInf(a.Min, 1) && a.Min == a.Max && b.Min == b.Max && a.Min == b.Min
}

func (f *ComparedFigure) settle(t tested) {
	f.Test = Tested(f.A, f.B, t.level)
	f.Together = t.together
	f.Level, f.P, f.PHolm = t.level, known(t.p), known(t.adjusted)
	f.take()
	f.Word = WordNoDifference
	if f.Constant() {
		return
	}
	f.Word = wordFor(f.Test.Verdict, f.Of.Better)
	f.More, f.MoreToShow = f.Test.More, f.Test.MoreToShow
}

func (f *ComparedFigure) take() {
	f.Difference, f.Low, f.High = known(f.Test.Difference), known(f.Test.Low), known(f.Test.High)
	f.Shift = known(f.Test.Shift)
}

// Tested tests at level, in (0, 1), whether b differs from a. A difference that the errors of their clocks may
// explain is not shown.
func Tested(a, b Repeated, level float64) stats.Comparison {
	c := stats.CompareSamples(stats.Sample{Values: a.Values, AtLeast: a.AtLeasts},
		stats.Sample{Values: b.Values, AtLeast: b.AtLeasts}, level)
	if clocks := a.ClockError + b.ClockError; c.Verdict != stats.TooFew && clocks > 0 && math.Abs(c.Shift) <= clocks {
		c.Verdict, c.MoreToShow = stats.NoDifference, 0
	}
	return c
}

// ShownRange reports whether the first and the last cell differ, if one of them was chosen for its extreme median. They are
// not tested as a pair: the values of all cells are permuted among them.
func ShownRange(cells []Repeated) bool {
	groups := make([][]float64, len(cells))
	for i, c := range cells {
		groups[i] = c.Values
	}
	return stats.RangeTest(groups) <= DefaultAlpha
}

func wordFor(v stats.Verdict, good figure.Better) string {
	switch {
	case v == stats.TooFew:
		return WordTooFew
	case v == stats.NoDifference:
		return WordNoDifference
	case good == figure.Neither && v == stats.Higher:
		return WordHigher
	case good == figure.Neither:
		return WordLower
	case (v == stats.Higher) == (good == figure.Higher):
		return WordBetter
	}
	return WordWorse
}

func inTwo(sets []Set) error {
	var faults []error
	for i := range sets {
		for k := i + 1; k < len(sets); k++ {
			shared := result.Shared(sets[i].Runs, sets[k].Runs)
			if len(shared) == 0 {
				continue
			}
			rest := ": name it in one of them"
			if n := len(shared); n > 1 {
				rest = fmt.Sprintf(", one of %d that are: name each run in one of them", n)
			}
			first := ShortName(shared[0])
			faults = append(faults, fmt.Errorf("run %s is in %s and in %s%s", first, Letter(i), Letter(k), rest))
		}
	}
	return errors.Join(faults...)
}

func (c *Comparison) check(conditions []figure.Regression, alpha float64) {
	var tests []tested
	var pairs []ComparedFigure
	for i := range c.Samples[1:] {
		for _, condition := range conditions {
			first, further := beside(c.Samples[0], c.Samples[i+1])
			pair := ComparedFigure{
				Figure: condition.Figure.Name, Of: condition.Figure,
				A: first.repeated(condition.Figure), B: further.repeated(condition.Figure),
				Why: cmp.Or(first.otherwise(condition.Figure), further.otherwise(condition.Figure)),
			}
			t := tested{p: math.NaN()}
			if pair.A.N > 0 && pair.B.N > 0 && !pair.Constant() {
				t.p = Tested(pair.A, pair.B, alpha).P
			}
			pairs, tests = append(pairs, pair), append(tests, t)
		}
	}
	decide(tests, alpha)
	for i, pair := range pairs {
		d := Decided{Condition: conditions[i%len(conditions)], Set: i/len(conditions) + 1, Pair: pair}
		first, further := c.Samples[0], c.Samples[d.Set]
		d.NoneValid = first.Valid == 0 || further.Valid == 0
		d.judge(tests[i])
		if d.Status == CheckPassed && (first.Survivors() || further.Survivors()) {
			d.Status, d.LeftOut = CheckUndecided, true
		}
		c.Decided = append(c.Decided, d)
	}
}

// judge sets the condition to failed if the figure is shown to be worse, and the estimated
// difference is at least the one that the condition names. If the base is 0, any worsening that is
// shown exceeds every percentage.
func (d *Decided) judge(t tested) {
	f := &d.Pair
	d.Status = CheckUndecided
	if d.NoneValid || f.A.N == 0 || f.B.N == 0 {
		return
	}
	f.settle(t)
	switch {
	case f.Word == WordTooFew:
	case f.Word != WordWorse:
		d.Status = CheckPassed
	case math.IsNaN(f.Test.Difference) && d.Condition.Exceeded(f.LeastDifference()):
		d.Status = CheckFailed
	case math.IsNaN(f.Test.Difference):
	case d.Condition.Exceeded(f.Test.Difference):
		d.Status = CheckFailed
	default:
		d.Status = CheckPassed
	}
}

// LeastDifference is the least relative difference of B's median to A's, if B has
// lower bounds and A's median is a value; else NaN.
func (f *ComparedFigure) LeastDifference() float64 {
	a := f.A.Summary.Median
	if math.IsInf(a, 1) || a == 0 {
		return math.NaN()
	}
	return (f.B.Least.Median - a) / math.Abs(a)
}

// Failed reports whether a condition failed.
func (c *Comparison) Failed() bool { return c.has(CheckFailed) }

// Undecided reports whether a condition could not be decided: runs are too few, invalid or left
// out.
func (c *Comparison) Undecided() bool { return c.has(CheckUndecided) }

func (c *Comparison) has(status string) bool {
	return slices.ContainsFunc(c.Decided, func(d Decided) bool { return d.Status == status })
}
