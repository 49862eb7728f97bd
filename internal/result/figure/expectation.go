package figure

import (
	"fmt"
	"math"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// Expectation is a bound on a figure of a run.
type Expectation struct {
	Figure   Figure
	Operator string  // <=, <, >=, > or =
	Bound    float64 // in the figure's unit

	bound string // as written
	tests int    // see Among
}

// Longer operators come first.
var operators = []string{"<=", ">=", "<", ">", "="}

// ParseExpectation reads a figure, an operator and a bound with its unit, such as
// "e2e_response_time_p99 <= 50ms", "acked_ratio >= 0.999" or "backlog_growth <= 0".
func ParseExpectation(text string) (Expectation, error) {
	fault := func(err error) (Expectation, error) {
		return Expectation{}, fmt.Errorf("expectation %q: %w", text, err)
	}
	name, operator, bound, ok := cutOperator(text)
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

// Check reports whether a run meets the expectation, with a text such as "e2e_response_time_p99 is
// 61.2 ms, expected <= 50ms". A missing figure and a lower bound meet no expectation.
//
// A figure with a margin of error fails only if it is beyond its bound by more than the margin,
// which is two standard errors for backlog_growth, or more (Among). A time from two clocks fails if it is beyond its
// bound with the error of the clocks added or subtracted.
func (e Expectation) Check(r *result.Run) (met bool, text string) {
	v, missing := e.Figure.take(r)
	if missing != "" {
		return false, fmt.Sprintf("%s is not known: %s; expected %s %s", e.Figure.Name, missing, e.Operator,
			e.written())
	}
	if e.Figure.isBound(r) {
		return false, fmt.Sprintf("%s is more than %s, for too many records had not ended; expected %s %s",
			e.Figure.Name, e.Figure.Format(v), e.Operator, e.written())
	}
	shown, margin, clock := e.Figure.near(v, e.Bound), 0.0, e.Figure.ClockError(r)
	if clock > 0 {
		shown += " ± " + e.Figure.Format(clock)
	}
	if e.Figure.margin != nil {
		margin = e.Figure.margin(r, e.tests)
		shown += " ± " + e.Figure.Format(margin)
	}
	return e.holds(v-clock, margin) && e.holds(v+clock, margin), fmt.Sprintf("%s is %s, expected %s %s", e.Figure.Name, shown, e.Operator, e.written())
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
func (e Expectation) String() string { return e.Figure.Name + " " + e.Operator + " " + e.written() }
