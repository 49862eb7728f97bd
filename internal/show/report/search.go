package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
)

// curvePhase is the phase of the probes that are apart from the search.
const curvePhase = "curve"

// Search writes what a search found: the answer, what to know with it, every probe
// in the order in which it was made, and the curve, if there is one.
func Search(w io.Writer, s *result.Search, o Options) error {
	p := newPage(o)
	p.search(s)
	return p.writeTo(w)
}

func (p *page) search(s *result.Search) {
	for _, line := range wrap(s.Answer, p.width) {
		p.line(p.paint(bold, line))
	}
	p.line()
	p.labelled("expected", strings.Join(s.Expectations, ", "))
	for _, caveat := range s.Caveats {
		p.styled(yellow, "but", caveat)
	}
	searched, curve := split(s)
	if len(searched) > 0 {
		p.heading("Probes", "")
		p.probes(searched, s.ResponseMetric)
	}
	if len(curve) > 0 {
		p.heading("Curve", ", "+words(s.ResponseMetric)+" against offered load")
		p.curve(curve)
	}
}

// split parts the probes of the search from those of the curve, which has the
// confirmed answer among its points, by rate.
func split(s *result.Search) (searched, curve []result.Probe) {
	var confirmed []result.Probe
	for _, probe := range s.Probes {
		if probe.Phase == curvePhase {
			curve = append(curve, probe)
			continue
		}
		searched = append(searched, probe)
		if probe.Phase == "confirm" && probe.Passed && s.HighestPerS != nil && probe.OfferedPerS == *s.HighestPerS {
			confirmed = []result.Probe{probe}
		}
	}
	if len(curve) > 0 {
		curve = append(curve, confirmed...)
		slices.SortStableFunc(curve, func(a, b result.Probe) int { return cmp.Compare(a.OfferedPerS, b.OfferedPerS) })
	}
	return searched, curve
}

// probes is a line for each probe, and below it what it did not meet.
func (p *page) probes(all []result.Probe, metric string) {
	t := table{gap: 3, left: map[int]bool{1: true, 3: true}}
	t.add("", "", "offered", "", "acked", words(metric)+" p50", "p99")
	for i, probe := range all {
		t.add(fmt.Sprint(i+1), probe.Phase, offeredBy(probe), outcomeOf(probe), unit.PerSecond(probe.AckedPerS),
			optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns))
	}
	for i, line := range t.lines() {
		p.line("  ", line)
		if i > 0 {
			p.failures(all[i-1])
		}
	}
}

// failures say why a probe did not pass.
func (p *page) failures(probe result.Probe) {
	for _, failure := range probe.Failures {
		for _, line := range wrap(failure, p.width-8) {
			p.line("        ", line)
		}
	}
}

// curve is a line for each rate, with a bar for the p99.
func (p *page) curve(all []result.Probe) {
	var highest int64
	for _, probe := range all {
		if probe.ResponseP99Ns != nil {
			highest = max(highest, *probe.ResponseP99Ns)
		}
	}
	t := table{gap: 3, left: map[int]bool{3: true, 4: true}}
	t.add("offered", "p50", "p99", "", "")
	for _, probe := range all {
		bar := ""
		if probe.ResponseP99Ns != nil && highest > 0 {
			bar = strings.Repeat("█", max(1, int(float64(curveColumns)*float64(*probe.ResponseP99Ns)/float64(highest))))
		}
		t.add(offeredBy(probe), optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns), outcomeOf(probe), bar)
	}
	for _, line := range t.lines() {
		p.line("  ", line)
	}
}

// curveColumns is the width of the longest bar of a curve.
const curveColumns = 30

// ProbeLine is a probe in a line, without its rate.
func ProbeLine(probe result.Probe) string {
	parts := []string{"acked " + unit.PerSecond(probe.AckedPerS)}
	if outcome := outcomeOf(probe); outcome != "" {
		parts = append([]string{outcome}, parts...)
	}
	if probe.ResponseP50Ns != nil || probe.ResponseP99Ns != nil {
		parts = append(parts, fmt.Sprintf("response p50 %s, p99 %s", optionalNanos(probe.ResponseP50Ns), optionalNanos(probe.ResponseP99Ns)))
	}
	return strings.Join(append(parts, probe.Failures...), " · ")
}

// offeredBy is the rate of a probe; a closed loop has none.
func offeredBy(probe result.Probe) string {
	if probe.Phase == "capacity" {
		return "max"
	}
	return unit.PerSecond(probe.OfferedPerS)
}

// outcomeOf is what came of a probe in a word.
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
		return absent
	}
	return unit.Nanos(*ns)
}
