package figure

import (
	"fmt"
	"math"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// Expectation is a bound on a figure of a run, or on that figure of each stretch of its window.
type Expectation struct {
	Figure   Figure
	Operator string        // <=, <, >=, > or =
	Bound    float64       // in the figure's unit
	Every    time.Duration // length of a stretch; 0 is the whole window

	bound string // as written
	tests int    // see Among
}

// Outcomes of an expectation.
const (
	Met       = "met"
	Failed    = "failed"
	Undecided = "undecided"  // the run does not have the figure, or only a lower bound of it
	NotJudged = "not judged" // the run is invalid
)

// Checked is an expectation with its outcome for one run.
type Checked struct {
	Expected string `json:"expected"` // as ParseExpectation reads it
	Outcome  string `json:"outcome" jsonschema:"enum=met,enum=failed,enum=undecided,enum=not judged"`
	// Value is in the figure's unit; of several stretches it is the worst one's. It is null if the run
	// does not have the figure.
	Value *float64 `json:"value"`
	Text  string   `json:"text"` // such as "e2e_response_time_p99 is 61.2 ms, expected <= 50ms"
}

// CheckAll checks a run against all that is expected of it. It judges no invalid run, because the figures of one are not to
// be relied on.
func CheckAll(r *result.Recorded) (all []Checked) {
	for _, text := range r.AllExpected() {
		one := Checked{Expected: text, Outcome: Undecided}
		if e, err := ParseExpectation(text); err != nil { // a newer version wrote it
			one.Text = err.Error()
		} else {
			one = e.Check(&r.Run, r.Intervals)
		}
		if !r.Run.Verdict.Usable() {
			one.Outcome = NotJudged
		}
		all = append(all, one)
	}
	return all
}

// Longer operators come first.
var operators = []string{"<=", ">=", "<", ">", "="}

// ParseExpectation reads a figure, an operator and a bound with its unit, such as
// "e2e_response_time_p99 <= 50ms", "acked_ratio >= 0.999", "backlog_growth <= 0", or, for each
// stretch of the window, "acked_per_s >= 9k/s in every 10s".
func ParseExpectation(text string) (Expectation, error) {
	fault := func(err error) (Expectation, error) {
		return Expectation{}, fmt.Errorf("expectation %q: %w", text, err)
	}
	whole, every, stretched := strings.Cut(text, inEvery)
	name, operator, bound, ok := cutOperator(whole)
	if !ok {
		return fault(fmt.Errorf("write a figure, one of %s, and a bound, as in e2e_response_time_p99 <= 50ms",
			strings.Join(operators, " ")))
	}
	f, err := Named(name)
	if err != nil {
		return fault(err)
	}
	e := Expectation{Figure: f, Operator: operator}
	if e.Bound, e.bound, err = f.Kind.parseBound(bound); err != nil {
		return fault(err)
	}
	if stretched {
		if err := e.stretch(strings.TrimSpace(every)); err != nil {
			return fault(err)
		}
	}
	return e, nil
}

func cutOperator(text string) (name, operator, bound string, ok bool) {
	at := strings.IndexAny(text, "<>=")
	if at < 0 {
		return "", "", "", false
	}
	for _, operator := range operators {
		if bound, found := strings.CutPrefix(text[at:], operator); found {
			bound = strings.TrimSpace(bound)
			return strings.TrimSpace(text[:at]), operator, bound, strings.TrimLeft(bound, "<>=") == bound
		}
	}
	return "", "", "", false
}

// Check checks a finished run. A figure that the run lacks decides nothing. Neither does a lower
// bound, unless all values above it have one outcome.
//
// A figure with a margin of error fails only if it is beyond its bound by more than the margin,
// which is two standard errors for backlog_growth, or more (Among). A time from two clocks fails if it is beyond its
// bound with the error of the clocks added or subtracted.
func (e Expectation) Check(r *result.Run, intervals []result.Interval) Checked {
	if e.Every > 0 {
		return e.checkStretches(r, intervals)
	}
	v, missing := e.Figure.take(r)
	if missing != "" {
		return e.checked(Undecided, nil, "is not known: "+missing+";")
	}
	clock := e.Figure.ClockError(r)
	if e.Figure.isBound(r) {
		return e.checked(e.above(v-clock), nil,
			fmt.Sprintf("is more than %s, for too many records had not ended;", e.Figure.Format(v)))
	}
	shown, margin := e.Figure.near(v, e.Bound), 0.0
	if clock > 0 {
		shown += " ± " + e.Figure.Format(clock)
	}
	if e.Figure.margin != nil {
		margin = e.Figure.margin(r, e.tests)
		shown += " ± " + e.Figure.Format(margin)
	}
	outcome := Failed
	if e.holds(v-clock, margin) && e.holds(v+clock, margin) {
		outcome = Met
	}
	return e.checked(outcome, &v, "is "+shown+",")
}

func (e Expectation) checked(outcome string, v *float64, is string) Checked {
	return Checked{Expected: e.String(), Outcome: outcome, Value: v,
		Text: fmt.Sprintf("%s %s expected %s", e.Figure.Name, is, strings.TrimPrefix(e.String(), e.Figure.Name+" "))}
}

// above returns the outcome of all values above v.
func (e Expectation) above(v float64) string {
	switch more := strings.HasPrefix(e.Operator, ">"); {
	case more && e.holds(v, 0):
		return Met
	case !more && (v > e.Bound || v == e.Bound && e.Operator == "<"):
		return Failed
	}
	return Undecided
}

// Among returns e for one of so many runs: the margin of backlog_growth is so wide that in at most
// one of twenty such series any run shows a growth, if no backlog grows.
func (e Expectation) Among(tests int) Expectation {
	e.tests = tests
	return e
}

// holds compares the value within v ± margin that is nearest to the bound.
func (e Expectation) holds(v, margin float64) bool {
	v += math.Copysign(min(margin, math.Abs(e.Bound-v)), e.Bound-v)
	switch e.Operator {
	case "<=":
		return v <= e.Bound
	case "<":
		return v < e.Bound
	case ">=":
		return v >= e.Bound
	case ">":
		return v > e.Bound
	case "=":
		return v == e.Bound
	}
	return false
}

func (e Expectation) written() string {
	if e.bound == "" {
		return e.Figure.Format(e.Bound)
	}
	return e.bound
}

// String returns e as ParseExpectation reads it.
func (e Expectation) String() string {
	text := e.Figure.Name + " " + e.Operator + " " + e.written()
	if e.Every > 0 {
		text += inEvery + unit.Duration(e.Every).String()
	}
	return text
}
