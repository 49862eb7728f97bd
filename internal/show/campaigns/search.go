package campaigns

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// WriteSearch writes the result of a search: the answer, its caveats, every probe, and the curve.
func WriteSearch(w io.Writer, s *result.Search, o report.Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	printSearch(p, s)
	return p.Print(w)
}

func printSearch(p *layout.Page, s *result.Search) {
	p.Painted(layout.Bold, 0, s.Answer)
	p.Line()
	p.Labelled("expected", strings.Join(s.Expectations, ", "))
	for _, caveat := range s.Caveats {
		p.Styled(layout.Yellow, "but", caveat)
	}
	searched := slices.DeleteFunc(slices.Clone(s.Probes), func(p result.Probe) bool { return p.Phase == result.PhaseCurve })
	if len(searched) > 0 {
		p.Heading("Probes", "")
		printProbes(p, searched, s.ResponseMetric)
	}
	if curve := s.Curve(); len(curve) > 0 {
		p.Heading("Curve", ", "+layout.Words(s.ResponseMetric)+" against offered load")
		printCurve(p, curve)
	}
}

func printProbes(p *layout.Page, all []result.Probe, metric string) {
	t := layout.Table{Gap: 3, Left: map[int]bool{1: true, 3: true}}
	t.Add("", "", "offered", "", "acked", layout.Words(metric)+" p50", "p99")
	for i, probe := range all {
		t.Add(fmt.Sprint(i+1), probe.Phase, offeredBy(probe), outcomeOf(probe), unit.PerSecond(probe.AckedPerS),
			optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns))
	}
	recorded := layout.Table{Left: map[int]bool{1: true, 3: true, 7: true},
		Rows: [][]string{append(slices.Clone(t.Rows[0]), "")}}
	for i, line := range t.Text() {
		p.Line("  ", line)
		if i > 0 {
			printFailures(p, all[i-1])
			recorded.Add(append(slices.Clone(t.Rows[i]), strings.Join(all[i-1].Failures, "; "))...)
		}
	}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: recorded, Heads: 1})
}

func printFailures(p *layout.Page, probe result.Probe) {
	for _, failure := range probe.Failures {
		for _, line := range layout.Wrap(failure, p.Width-8) {
			p.Line(strings.Repeat(" ", 8), line)
		}
	}
}

func printCurve(p *layout.Page, all []result.Probe) {
	var highest int64
	for _, probe := range all {
		if probe.ResponseP99Ns != nil {
			highest = max(highest, *probe.ResponseP99Ns)
		}
	}
	t := layout.Table{Gap: 3, Left: map[int]bool{3: true, 4: true}}
	t.Add("offered", "p50", "p99", "", "")
	for _, probe := range all {
		bar := ""
		if probe.ResponseP99Ns != nil && highest > 0 {
			bar = strings.Repeat("█", max(1, int(float64(curveColumns)*float64(*probe.ResponseP99Ns)/float64(highest))))
		}
		t.Add(offeredBy(probe), optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns),
			outcomeOf(probe), bar)
	}
	p.Record(layout.Block{Kind: layout.BlockTable, Table: t.Without(4), Heads: 1})
	for _, line := range t.Text() {
		p.Line("  ", line)
	}
}

const curveColumns = 30

// ProbeLine formats a probe without its rate.
func ProbeLine(probe result.Probe) string {
	parts := []string{"acked " + unit.PerSecond(probe.AckedPerS)}
	if outcome := outcomeOf(probe); outcome != "" {
		parts = append([]string{outcome}, parts...)
	}
	if probe.ResponseP50Ns != nil || probe.ResponseP99Ns != nil {
		parts = append(parts, fmt.Sprintf("response p50 %s, p99 %s", optionalNanos(probe.ResponseP50Ns),
			optionalNanos(probe.ResponseP99Ns)))
	}
	return strings.Join(append(parts, probe.Failures...), " · ")
}

func offeredBy(probe result.Probe) string {
	if probe.Phase == "capacity" {
		return "max"
	}
	return unit.PerSecond(probe.OfferedPerS)
}

func outcomeOf(probe result.Probe) string {
	switch {
	case probe.Stalled:
		return "stalled"
	case probe.Phase == "capacity":
		return ""
	case probe.Passed:
		return "passed"
	case probe.TooFew:
		return "too few"
	case probe.Limit == result.LimitTool:
		return "failed (tool)"
	}
	return "failed"
}

func optionalNanos(ns *int64) string {
	if ns == nil {
		return unit.Absent
	}
	return unit.Nanos(*ns)
}
