package chart

import (
	"cmp"
	"errors"
	"fmt"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func (in Input) searchOf() (*result.Search, string, error) {
	if in.Campaign == nil {
		return nil, "", errors.New("it draws a search: name the campaign of one")
	}
	name := in.Campaign.Campaign.Campaign.Name
	if s := in.Campaign.Campaign.Search; s != nil && len(s.Probes) > 0 {
		return s, name, nil
	}
	return nil, name, &Missing{Of: name, Field: "search.probes", File: campaignFile,
		Why: "it is not a search, or made no probe yet"}
}

func fate(p result.Probe) string {
	switch {
	case p.Phase == "capacity":
		return "closed loop"
	case p.Stalled:
		return "stalled"
	case p.TooFew:
		return "too few records"
	case p.Passed:
		return "passed"
	}
	return "failed"
}

func search(in Input) (draw.Spec, error) {
	found, name, err := in.searchOf()
	if err != nil {
		return draw.Spec{}, err
	}
	names := make([]string, len(found.Probes))
	p := draw.Panel{Y: draw.Free("offered/s", draw.Linear, perS)}
	for _, word := range []string{"closed loop", "passed", "failed", "stalled", "too few records"} {
		s := draw.Series{Name: word, Figure: "offered_per_s", Kind: draw.Points}
		for i, probe := range found.Probes {
			names[i] = fmt.Sprintf("%d %s", i+1, probe.Phase)
			if fate(probe) == word {
				s.X0, s.Y = append(s.X0, float64(i)), append(s.Y, probe.OfferedPerS)
			}
		}
		if len(s.X0) > 0 {
			p.Series = append(p.Series, s)
		}
	}
	if found.HighestPerS != nil {
		p.Series = append(p.Series, draw.Series{Name: "highest that holds", Figure: "highest_per_s", Kind: draw.Line,
			X0: []float64{0, float64(len(names) - 1)}, Y: []float64{*found.HighestPerS, *found.HighestPerS}})
	}
	return draw.Spec{
		Title: "Search for the highest rate: " + name, X: rows("probe", names), Panels: []draw.Panel{p},
		Alt: "The rate of each probe of a search, and whether it passed. " + found.Answer,
	}, nil
}

func capacity(in Input) (draw.Spec, error) {
	found, name, err := in.searchOf()
	if err != nil {
		return draw.Spec{}, err
	}
	if found.HighestPerS == nil || *found.HighestPerS <= 0 {
		return draw.Spec{}, &Missing{Of: name, Field: "search.highest_per_s", File: campaignFile, Why: "no rate held"}
	}
	probes := found.Curve()
	if len(probes) == 0 {
		return draw.Spec{}, &Missing{Of: name, Field: "search.probes of phase curve", File: campaignFile,
			Why: "it was made without --curve"}
	}
	p50 := draw.Series{Name: "p50", Figure: "response_p50_ns", Kind: draw.Line}
	p99 := draw.Series{Name: "p99", Figure: "response_p99_ns", Kind: draw.Line}
	failed := draw.Series{Name: "did not pass", Figure: "response_p99_ns", Kind: draw.Points}
	for _, probe := range probes {
		x := probe.OfferedPerS / *found.HighestPerS
		p50.X0, p50.Y = append(p50.X0, x), append(p50.Y, some(probe.ResponseP50Ns))
		p99.X0, p99.Y = append(p99.X0, x), append(p99.Y, some(probe.ResponseP99Ns))
		if !probe.Passed {
			failed.X0, failed.Y = append(failed.X0, x), append(failed.Y, some(probe.ResponseP99Ns))
		}
	}
	p := draw.Panel{Y: draw.Free(inWords(cmp.Or(found.ResponseMetric, "e2e_response_time")), draw.Log, nanos),
		Series: []draw.Series{p50, p99}}
	if len(failed.X0) > 0 {
		p.Series = append(p.Series, failed)
	}
	return draw.Spec{
		Title: "Latency by share of the highest rate: " + name, Panels: []draw.Panel{p},
		X: draw.Free("offered ÷ highest rate that holds, "+perS(*found.HighestPerS), draw.Linear, share),
		Alt: fmt.Sprintf("The response time by offered rate, as a share of the highest that holds, %s.",
			perS(*found.HighestPerS)),
	}, nil
}
