package report

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// The words of a comparison. A figure that is no merit in itself, such as the
// offered load, is higher or lower, and never better.
const (
	WordBetter       = "better"
	WordWorse        = "worse"
	WordHigher       = "higher"
	WordLower        = "lower"
	WordNoDifference = "no difference shown"
	WordTooFew       = "too few runs"
)

// DefaultAlpha is the chance of a false alarm that a comparison allows itself as
// a whole.
const DefaultAlpha = 0.05

// CompareOptions say what is compared.
type CompareOptions struct {
	// Figures are tested and shown; none stands for figure.Headline, or where every run
	// has a queue for those of queues.
	Figures []figure.Figure
	// Alpha, in (0, 1), is the chance that the primary figure is called better, worse,
	// higher or lower though nothing differs, and the same for all others together; 0 is
	// DefaultAlpha. Fewer figures leave each of these more of it.
	Alpha float64
	// Primary is tested at the whole of Alpha, and the other figures share another Alpha.
	// One without a name stands for what primaryOf finds among Figures.
	Primary figure.Figure
	// FailIf are conditions under which a comparison fails. They are tested
	// among themselves, at Alpha, whatever Figures are shown.
	FailIf []figure.Regression
}

// Comparison is what sets of runs show, each against the first. It is the JSON
// document of a comparison.
type Comparison struct {
	Head
	// Alpha is the chance that the primary figure raises a false alarm, and the chance that
	// any of the others does. FiguresTested is how many tests were made, those of the
	// primary figure included. A figure that is the same in all runs of both sets cannot
	// raise an alarm, and is not among them.
	Alpha         float64       `json:"alpha"`
	Primary       string        `json:"primary"` // "" if no figure of both sets has a good side
	FiguresTested int           `json:"figures_tested"`
	Sets          []ComparedSet `json:"sets"`
	Against       []Against     `json:"against_the_first"` // one for each further set
	Warnings      []string      `json:"warnings"`
	Checks        []Check       `json:"checks"` // of FailIf

	figures []figure.Figure
	samples []sample
	others  int // of FiguresTested, those that are not of the primary figure
}

// ComparedSet is one set of runs.
type ComparedSet struct {
	Letter string   `json:"letter"` // A is the base
	Label  string   `json:"label"`
	Runs   []string `json:"runs"`  // folders of those that figures are taken from
	All    int      `json:"all"`   // how many were given, each counted once
	Valid  int      `json:"valid"` // how many of these are valid
	// Missing is how many more a campaign has tried that left nothing to read.
	Missing int `json:"missing,omitempty"`
}

// Against is a set as it stands against the first.
type Against struct {
	Letter  string           `json:"letter"`
	Figures []ComparedFigure `json:"figures"`
	// Missing are figures that a set does not have: not measured, or with too
	// few records for the percentile.
	Missing []string `json:"missing"`
	// Configuration is what the scenarios ask for differently; Hidden is what
	// else differs, and nobody asked for.
	Configuration []Difference `json:"configuration"`
	Hidden        []Difference `json:"hidden"`
	// Clients are effective client settings that differ where the scenarios do.
	Clients []Difference `json:"client_settings"`

	across across
}

// ComparedFigure is one figure of two sets.
type ComparedFigure struct {
	Figure string   `json:"figure"`
	A      Repeated `json:"a"`
	B      Repeated `json:"b"`
	// Difference is by how much B is higher than A, as a part of A's median:
	// the estimate of Hodges and Lehmann. Low and High bound it with the
	// confidence 1 − Level. Null where there are too few runs, where A's median is 0,
	// or where a run has only a lower bound; Shift is the same in the figure's unit.
	Difference *float64 `json:"difference_ratio"`
	Low        *float64 `json:"difference_ratio_low"`
	High       *float64 `json:"difference_ratio_high"`
	Shift      *float64 `json:"shift"`
	// P is the p-value of the rank test by itself, and PHolm what may be held against the
	// comparison's alpha among the tests that share it. Level is what P was held against.
	P     *float64 `json:"p"`
	PHolm *float64 `json:"p_holm"`
	Level float64  `json:"level"`
	Word  string   `json:"word" jsonschema:"enum=better,enum=worse,enum=higher,enum=lower,enum=no difference shown,enum=too few runs"`
	// More is how many runs of each set more would do, where they are too few;
	// 0 where that cannot be said.
	More int `json:"more_runs,omitempty"`
	// MoreToShow is how many runs of each set more would show a difference like
	// the one seen, if it is real, in four of five comparisons, where none is
	// shown; 0 where that would take more than a thousand.
	MoreToShow int `json:"more_runs_to_show,omitempty"`

	figure   figure.Figure
	test     stats.Comparison
	together int    // tests that share one chance of a false alarm
	why      string // it is not in both, if that is for their methods
}

// Check is one condition of CompareOptions.FailIf against one set.
type Check struct {
	Condition string `json:"condition"`
	Letter    string `json:"letter"`
	// Status is failed where the figure is shown to be worse, by at least so
	// much; passed where it is not; undecided where there are too few runs to show
	// it, no valid ones, or where it would pass and some runs are left out: a
	// check that is held against survivors alone is none.
	Status string `json:"status" jsonschema:"enum=passed,enum=failed,enum=undecided"`
	Text   string `json:"text"`
}

// Statuses of a check.
const (
	CheckPassed    = "passed"
	CheckFailed    = "failed"
	CheckUndecided = "undecided"
)

// Compare sets the runs of each further set against those of the first. Figures
// are taken from valid runs, or from all where a set has no valid one. A run counts once
// in its set; one that is in two sets is an error.
//
// Each figure is tested by ranks (stats.Compare). The primary figure has the whole of Alpha,
// and the tests of all others share one (see decide). So of comparisons of a configuration
// with itself at most the share Alpha calls the primary figure different, and at most as many
// any of the others.
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
	if o.Figures == nil {
		var runs []*result.Recorded
		for _, set := range sets {
			runs = append(runs, set.Runs...)
		}
		o.Figures = comparedOf(runs)
	}
	if o.Primary.Name != "" && !contains(o.Figures, o.Primary.Name) {
		o.Figures = append([]figure.Figure{o.Primary}, o.Figures...)
	}
	c := &Comparison{
		Head: headOf(KindComparison, o.Figures), Alpha: o.Alpha,
		Warnings: []string{}, Checks: []Check{}, figures: o.Figures,
	}
	for i, set := range sets {
		set.Runs = c.once(set.Runs)
		s := sampleOf(set)
		if len(s.runs) == 0 {
			return nil, fmt.Errorf("%s has no run that finished: there is nothing to compare", set.Label)
		}
		c.samples = append(c.samples, s)
		c.Sets = append(c.Sets, comparedSet(i, s))
	}
	for i, b := range c.samples[1:] {
		c.Against = append(c.Against, against(letter(i+1), c.samples[0], b, o.Figures))
	}
	if o.Primary.Name == "" {
		o.Primary = primaryOf(o.Figures, func(f figure.Figure) bool {
			return slices.ContainsFunc(c.Against, func(a Against) bool { return a.has(f.Name) })
		})
	}
	c.Primary = o.Primary.Name
	primary, others := decideAll(c.Against, o.Alpha, o.Primary)
	c.FiguresTested, c.others = primary+others, others
	c.warn()
	c.check(o.FailIf, o.Alpha)
	return c, nil
}

// primaryName is the figure that users of a system feel most.
const primaryName = "e2e_response_time_p99"

// primaryOf is the figure that runs are judged by if nobody says by which: the e2e response
// time p99, or else the first that has a good side. The runs have to have it; none has no name.
func primaryOf(figures []figure.Figure, has func(figure.Figure) bool) (primary figure.Figure) {
	for _, f := range figures {
		if f.Better == figure.Neither || !has(f) {
			continue
		}
		if f.Name == primaryName {
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

// has tells whether a figure is in both sets.
func (a *Against) has(name string) bool {
	return slices.ContainsFunc(a.Figures, func(f ComparedFigure) bool { return f.Figure == name })
}

// letter names a set: A, B … Z, and then by its number.
func letter(i int) string {
	if i < 26 {
		return string(rune('A' + i))
	}
	return fmt.Sprintf("#%d", i+1)
}

func comparedSet(i int, s sample) ComparedSet {
	set := ComparedSet{Letter: letter(i), Label: s.Label, All: len(s.Runs), Valid: s.valid, Missing: s.Missing, Runs: []string{}}
	for _, r := range s.runs {
		set.Runs = append(set.Runs, r.Dir)
	}
	return set
}

// against sets b's figures beside those of a; nothing is decided yet.
func against(letter string, a, b sample, figures []figure.Figure) Against {
	found := Against{
		Letter: letter, Figures: []ComparedFigure{}, Missing: []string{}, across: acrossOf(a.runs, b.runs),
		Configuration: notNil(differences(configuration(a.runs), configuration(b.runs))),
		Hidden:        notNil(differences(surroundings(a.runs), surroundings(b.runs))), Clients: []Difference{},
	}
	clients := notNil(found.across.clientDifferences(a.runs, b.runs))
	if len(found.Configuration) > 0 {
		found.Clients = clients
	} else {
		found.Hidden = append(found.Hidden, clients...)
	}
	a, b = beside(a, b)
	for _, f := range figures {
		x, _ := a.values(f)
		y, _ := b.values(f)
		if len(x) == 0 || len(y) == 0 {
			if len(x)+len(y) > 0 {
				found.Missing = append(found.Missing, f.Name)
			}
			continue
		}
		found.Figures = append(found.Figures, ComparedFigure{
			Figure: f.Name, A: a.repeated(f), B: b.repeated(f), figure: f, test: stats.Compare(x, y, DefaultAlpha),
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

// decideAll finds the word for every figure of every set: the tests of the primary figure
// share alpha, and so do those of all others. It returns how many each are.
func decideAll(all []Against, alpha float64, primary figure.Figure) (ofPrimary, ofOthers int) {
	family := func(of bool) (n int) {
		var figures []*ComparedFigure
		var tests []tested
		for i := range all {
			for k := range all[i].Figures {
				f := &all[i].Figures[k]
				if (f.Figure == primary.Name) != of {
					continue
				}
				t := tested{p: f.test.P}
				if f.constant() {
					t.p = math.NaN() // it cannot raise an alarm, and shares nothing
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

// constant tells whether every run of both sets has the same value. Bounds are ranked
// alike, and not the same.
func (f *ComparedFigure) constant() bool {
	a, b := f.A.summary, f.B.summary
	return !math.IsInf(a.Min, 1) && a.Min == a.Max && b.Min == b.Max && a.Min == b.Min
}

// settle writes down what the test at its level shows.
func (f *ComparedFigure) settle(t tested) {
	f.test = stats.Compare(f.A.values, f.B.values, t.level)
	f.together = t.together
	f.Level, f.P, f.PHolm = t.level, known(t.p), known(t.adjusted)
	f.Difference, f.Low, f.High = known(f.test.Difference), known(f.test.Low), known(f.test.High)
	f.Shift = known(f.test.Shift)
	f.Word = WordNoDifference
	if f.constant() {
		return
	}
	f.Word = wordFor(f.test.Verdict, f.figure.Better)
	f.More, f.MoreToShow = f.test.More, f.test.MoreToShow
}

// wordFor says what a verdict means for a figure.
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

// text is the word, with what would help where there are too few runs.
func (f *ComparedFigure) text() string {
	switch {
	case f.constant():
		return sameInAll
	case f.Word == WordTooFew:
		return tooFew(f.More, f.together)
	}
	return f.Word
}

// sameInAll is what is said of a figure that had nothing to test.
const sameInAll = "the same in every run"

// tooFew says how many further runs would do, and for what: tests that share one
// chance of a false alarm need more of them than one by itself.
func tooFew(more, together int) string {
	if more == 0 {
		return WordTooFew
	}
	what := "this test by itself"
	if together > 1 {
		what = fmt.Sprintf("these %s tests together", unit.Count(int64(together)))
	}
	return fmt.Sprintf("%s: %s more of each would do for %s", WordTooFew, unit.Count(int64(more)), what)
}

// warn notes what speaks against the comparison as a whole.
func (c *Comparison) warn() {
	var all []*result.Recorded
	for i, s := range c.samples {
		all = append(all, s.runs...)
		name := letter(i) + " (" + s.Label + ")"
		switch left := s.leftOut(); {
		case s.valid == 0:
			c.Warnings = append(c.Warnings, name+": "+s.state()+".")
		case left != "":
			c.Warnings = append(c.Warnings, name+": "+left+". Ask why before you believe the others: a fault that makes runs invalid shows in none of these figures.")
		}
		for _, mixed := range [][]string{configuration(s.runs).mixed(), surroundings(s.runs).mixed()} {
			if len(mixed) > 0 {
				c.Warnings = append(c.Warnings, name+" mixes runs that differ in "+strings.Join(mixed, "; ")+".")
			}
		}
	}
	for i, b := range c.samples[1:] {
		if text := drifted(c.samples[0], b, letter(i+1)); text != "" {
			c.Warnings = append(c.Warnings, text)
		}
	}
	c.Warnings = append(c.Warnings, footnotes(all)...)
}

// drifted warns of sets that were made one after the other.
func drifted(a, b sample, letter string) string {
	if len(a.runs) < 2 || len(b.runs) < 2 {
		return ""
	}
	firstA, lastA := a.span()
	firstB, lastB := b.span()
	first, then := "A", letter
	switch {
	case firstA.IsZero() || firstB.IsZero():
		return "" // imported, and nobody knows
	case lastB.Before(firstA):
		first, then = letter, "A"
	case !lastA.Before(firstB):
		return ""
	}
	return fmt.Sprintf("%s's runs all came before %s's: whatever drifted between is in the difference. Run A %[3]s A %[3]s, or make both in one matrix (order: interleaved).", first, then, letter)
}

// inTwo finds runs that are in two sets: they would be compared with themselves.
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
			first := shortName(shared[0])
			faults = append(faults, fmt.Errorf("run %s is in %s and in %s%s", first, letter(i), letter(k), rest))
		}
	}
	return errors.Join(faults...)
}

// check decides the conditions. They are a family of their own: who names one
// condition before the runs are made pays for one test and not for a dozen.
func (c *Comparison) check(conditions []figure.Regression, alpha float64) {
	var tests []tested
	var pairs []ComparedFigure
	for i := range c.samples[1:] {
		for _, condition := range conditions {
			first, further := beside(c.samples[0], c.samples[i+1])
			a, _ := first.values(condition.Figure)
			b, _ := further.values(condition.Figure)
			pair := ComparedFigure{
				Figure: condition.Figure.Name, figure: condition.Figure,
				A: first.repeated(condition.Figure), B: further.repeated(condition.Figure),
				why: cmp.Or(first.otherwise(condition.Figure), further.otherwise(condition.Figure)),
			}
			t := tested{p: math.NaN()}
			if len(a) > 0 && len(b) > 0 && !pair.constant() {
				t.p = stats.Compare(a, b, alpha).P
			}
			pairs, tests = append(pairs, pair), append(tests, t)
		}
	}
	decide(tests, alpha)
	for i, pair := range pairs {
		condition, set := conditions[i%len(conditions)], i/len(conditions)+1
		check := Check{Condition: condition.String(), Letter: letter(set)}
		if c.samples[0].valid == 0 || c.samples[set].valid == 0 {
			check.Status, check.Text = CheckUndecided, "there are no valid runs"
		} else {
			check.Status, check.Text = judge(condition, pair, tests[i])
		}
		if left := c.leftOut(0, set); check.Status == CheckPassed && left != "" {
			check.Status = CheckUndecided
			check.Text += "; but " + left + ", and what is left cannot pass for all"
		}
		c.Checks = append(c.Checks, check)
	}
}

// leftOut says of which sets runs are left out, and how many.
func (c *Comparison) leftOut(sets ...int) string {
	var parts []string
	for _, i := range sets {
		if left := c.samples[i].leftOut(); left != "" {
			parts = append(parts, letter(i)+": "+left)
		}
	}
	return strings.Join(parts, "; ")
}

// judge decides one condition: it fails where the figure is shown to be worse and
// the estimate of by how much is at least what the condition names. From a base
// of zero any shown worsening is beyond every percentage.
func judge(condition figure.Regression, f ComparedFigure, t tested) (status, text string) {
	if f.A.N == 0 || f.B.N == 0 {
		return CheckUndecided, f.figure.Title + " was not measured in both" + f.why
	}
	f.settle(t)
	from := fmt.Sprintf("%s went from %s to %s", f.figure.Title, f.A.median(f.figure), f.B.median(f.figure))
	switch {
	case f.Word == WordTooFew:
		return CheckUndecided, from + "; " + f.text()
	case f.Word != WordWorse:
		return CheckPassed, from + "; " + f.text()
	case math.IsNaN(f.test.Difference) && condition.Exceeded(f.leastDifference()):
		return CheckFailed, fmt.Sprintf("%s, %s at the least, and that it is worse is shown (p %s)", from, difference(f.leastDifference()), pText(f.PHolm))
	case math.IsNaN(f.test.Difference):
		return CheckUndecided, fmt.Sprintf("%s: shown to be worse (p %s), and nobody knows by how much", from, pText(f.PHolm))
	case condition.Exceeded(f.test.Difference):
		return CheckFailed, fmt.Sprintf("%s, %s, and that is shown (p %s)", from, difference(f.test.Difference), pText(f.PHolm))
	}
	return CheckPassed, fmt.Sprintf("%s, %s: shown to be worse (p %s), by less than the condition names", from, difference(f.test.Difference), pText(f.PHolm))
}

// leastDifference is by how much B's median is higher than A's at the least, as a part
// of that, where B has bounds and A's median is none; else NaN.
func (f *ComparedFigure) leastDifference() float64 {
	a := f.A.summary.Median
	if math.IsInf(a, 1) || a == 0 {
		return math.NaN()
	}
	return (f.B.least.Median - a) / math.Abs(a)
}

// Failed tells whether some condition is met under which the comparison fails,
// and Undecided whether one could not be decided.
func (c *Comparison) Failed() bool { return c.has(CheckFailed) }

// Undecided tells whether some condition could not be decided: there are too few
// runs, no valid ones, or some that are left out.
func (c *Comparison) Undecided() bool { return c.has(CheckUndecided) }

func (c *Comparison) has(status string) bool {
	for _, check := range c.Checks {
		if check.Status == status {
			return true
		}
	}
	return false
}

// shortName names a run within a sentence.
func shortName(r *result.Recorded) string { return r.Run.Run.Name + "-" + r.Run.Run.ID }
