package main

import (
	"fmt"
	"math"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
)

// confidence that is asked of the interval of a median. Five runs give no
// interval at 95 %: the lowest and the highest of five hold the median between
// them in 93.75 % of all cases.
const confidence = 0.9

// sweep is a table of a sweep: a row for each configuration, a column for each
// figure, as a median with its interval.
func (s *shelf) sweep(scenario string, names ...string) (string, error) {
	e := s.of(scenario)
	figures, err := named(names)
	if err != nil {
		return "", err
	}
	p := priorOf(scenario)
	head, rule := []string{methodsOf(e.runs())}, []string{"---"}
	for _, f := range figures {
		head, rule = append(head, f.Title), append(rule, "--:")
	}
	if p.Configurations != nil {
		head = append(head, "e2e p99 reported before", "GC cycles reported before")
		rule = append(rule, "--:", "--:")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "| %s |\n|%s|\n", strings.Join(head, " | "), strings.Join(rule, "|"))
	for _, c := range e.cells {
		row := []string{"`" + c.value + "`"}
		for _, f := range figures {
			row = append(row, withInterval(f, c.values(f.Among(summaries(e.runs())))))
		}
		if p.Configurations != nil {
			row = append(row, p.configuration(c.value).cells()...)
		}
		fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// cells are what was reported of one configuration.
func (c priorCell) cells() []string {
	time, cycles := absent, absent
	if c.E2eP99Ms != nil {
		time = fmt.Sprintf("%.1f ms", *c.E2eP99Ms)
	}
	if c.GCCycles != nil {
		cycles = fmt.Sprintf("%.0f to %.0f", c.GCCycles[0], c.GCCycles[1])
		if c.GCCycles[0] == c.GCCycles[1] {
			cycles = fmt.Sprintf("%.0f", c.GCCycles[0])
		}
	}
	return []string{time, cycles}
}

func named(names []string) ([]figure.Figure, error) {
	var figures []figure.Figure
	for _, name := range names {
		f, err := figure.Named(name)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// withInterval prints the median and the interval that holds it.
func withInterval(f figure.Figure, values figure.Repeats) string {
	if len(values.Ranked) == 0 {
		return absent
	}
	s, least := stats.Summarise(values.Ranked, confidence), stats.Summarise(values.AtLeast, confidence)
	median := f.FormatRanked(s.Median, least.Median)
	if math.IsNaN(s.Low) {
		return median
	}
	return fmt.Sprintf("%s [%s, %s]", median, f.FormatRanked(s.Low, least.Low), f.FormatRanked(s.High, least.High))
}

// best says for each figure which configuration is the best, and only where the
// intervals say so: its interval must lie apart from every other's.
func (s *shelf) best(scenario string, names ...string) (string, error) {
	figures, err := named(names)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, f := range figures {
		lines = append(lines, fmt.Sprintf("- %s: %s", f.Title, s.of(scenario).best(f)))
	}
	return strings.Join(lines, "\n"), nil
}

// best is the sentence for one figure.
func (e *entry) best(f figure.Figure) string {
	f = f.Among(summaries(e.runs()))
	var values []string
	var sums []stats.Summary
	for _, c := range e.cells {
		v := c.values(f).Ranked
		if len(v) == 0 {
			return fmt.Sprintf("there are no figures for `%s`.", c.value)
		}
		s := stats.Summarise(v, confidence)
		if math.IsNaN(s.Low) {
			return "too few runs for an interval, so none is called best."
		}
		values, sums = append(values, "`"+c.value+"`"), append(sums, s)
	}
	if len(sums) == 0 {
		return "there are no runs."
	}
	lead := 0
	for i := range sums {
		if better(f, sums[i].Median, sums[lead].Median) {
			lead = i
		}
	}
	var near []string
	for i := range sums {
		if i != lead && !apart(f, sums[lead], sums[i]) {
			near = append(near, values[i])
		}
	}
	if len(near) > 0 {
		return fmt.Sprintf("no one is shown to be best. %s has the best median, and its interval meets that of %s.",
			values[lead], strings.Join(near, ", "))
	}
	return fmt.Sprintf("**%s** is best: its interval lies apart from every other.", values[lead])
}

// intervals says what the intervals of a sweep's table are worth.
func (s *shelf) intervals(scenario string) string {
	reached, n := 1.0, 0
	for _, c := range s.of(scenario).cells {
		sum := stats.Summarise(make([]float64, len(c.runs)), confidence)
		reached, n = min(reached, sum.Confidence), sum.N
	}
	if n == 0 || reached == 0 {
		return "There are too few runs for an interval."
	}
	return fmt.Sprintf("Of %d runs it holds the median with a confidence of %s.", n, unit.Percent(reached))
}

func better(f figure.Figure, a, b float64) bool {
	if f.Better == figure.Higher {
		return a > b
	}
	return a < b
}

// apart tells whether the whole interval of a is better than that of b.
func apart(f figure.Figure, a, b stats.Summary) bool {
	if f.Better == figure.Higher {
		return a.Low > b.High
	}
	return a.High < b.Low
}
