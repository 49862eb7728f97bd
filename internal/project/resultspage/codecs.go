package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// cycles is a sentence that compares the GC cycles of codecs: those of the codec for which an
// earlier tool counted the most, and those of the others. It is "" without runs with the same
// client.
func (s *shelf) cycles() (string, error) {
	f, err := figure.Named("gc_cycles")
	if err != nil {
		return "", err
	}
	before := slices.DeleteFunc(slices.Clone(priorOf(presetNamed(bySarama)).Configurations),
		func(c priorCell) bool { return c.GCCycles == nil })
	most := slices.MaxFunc(before, func(a, b priorCell) int { return cmp.Compare(*a.GCCycles, *b.GCCycles) })
	values := map[string]analysis.Repeated{}
	for _, c := range s.of(bySarama).cells {
		if v := c.values(f); len(v.Ranked) > 0 {
			values[c.value] = analysis.FromValues(v.Ranked)
		}
	}
	var earlier []float64
	type timesOf struct {
		codec string
		stats.Estimate
	}
	var here []timesOf
	for _, c := range before {
		if c.Value == most.Value {
			continue
		}
		earlier = append(earlier, *most.GCCycles / *c.GCCycles)
		if e := stats.Ratio(values[c.Value].Values, values[most.Value].Values, analysis.DefaultAlpha); e.Low > 0 {
			here = append(here, timesOf{c.Value, e})
		}
	}
	if len(here) == 0 {
		return "", nil
	}
	slices.SortFunc(here, func(a, b timesOf) int { return cmp.Compare(a.Value, b.Value) })
	said := func(t timesOf) string {
		return fmt.Sprintf("%s (%s..%s) times those of %s", unit.Factor(t.Value), unit.Factor(t.Low),
			unit.Factor(t.High), t.codec)
	}
	text := fmt.Sprintf("The earlier tool counted %s GC cycles with %s, %s to %s times as many as with each other codec; "+
		"with its client, sarama, there are %s here, from %s to %s", f.Format(*most.GCCycles), most.Value,
		unit.Factor(slices.Min(earlier)), unit.Factor(slices.Max(earlier)), values[most.Value].Bounded(f), said(here[0]),
		said(here[len(here)-1]))
	if !slices.ContainsFunc(here, func(t timesOf) bool { return t.High >= slices.Min(earlier) }) {
		text += ", so the runs show no such excess"
	}
	return text + ".", nil
}

// codecs is how many times smaller each codec made a suite's batches, by payload; "" without runs.
func (s *shelf) codecs(suite string) string {
	e := s.of(suite)
	var names []string
	ratios := map[string][]float64{} // by payload and codec
	for _, c := range e.cells {
		for _, r := range valid(c.runs) {
			for _, pass := range r.Run.Compression {
				if pass.Codec == "none" {
					continue
				}
				if !slices.Contains(names, pass.Codec) {
					names = append(names, pass.Codec)
				}
				ratios[c.value+" "+pass.Codec] = append(ratios[c.value+" "+pass.Codec], pass.Ratio)
			}
		}
	}
	if len(names) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "How many times smaller one pass of each codec made batches of a run's own records:\n\n| %s | %s |\n|---|%s",
		methodsOf(e.runs()), strings.Join(names, " | "), strings.Repeat("--:|", len(names)))
	for _, c := range e.cells {
		fmt.Fprintf(&b, "\n| `%s` |", c.value)
		for _, name := range names {
			text := absent
			if values := ratios[c.value+" "+name]; len(values) > 0 {
				text = withRange(figure.Figure{Kind: figure.Number}, plain(values))
			}
			b.WriteString(" " + text + " |")
		}
	}
	return b.String()
}
