package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

func outage(in Input) (draw.Spec, error) {
	r, err := in.one()
	if err != nil {
		return draw.Spec{}, err
	}
	kept, err := gapsOf(r)
	if err != nil {
		return draw.Spec{}, err
	}
	var ps panels
	for _, p := range []draw.Panel{
		faultRows(r), gapRows(kept.acks, "no acknowledgement", kept.acksName),
		gapRows(kept.deliveries, "no delivery", kept.deliveriesName),
	} {
		if len(p.Series) > 0 {
			ps.add(p, nil, nil)
		}
	}
	if len(ps.all) == 0 {
		return draw.Spec{}, r.lacks(runFile, "gaps and no faults", "nothing was out of service for as long as gaps are kept")
	}
	under := func(i *result.Interval) float64 { return some(i.UnderReplicated) }
	leaderless := func(i *result.Interval) float64 { return some(i.Leaderless) }
	ps.add(panelOf(draw.Free("partitions", draw.Linear, count), r,
		call{"under-replicated", field{name: "under_replicated_partitions", value: under}},
		call{"without a leader", field{name: "leaderless_partitions", value: leaderless}}))
	s := only(r)
	s.notes = append(s.notes, kept.notes...)
	spec, err := ps.spec(s, "Outage",
		fmt.Sprintf("When partitions of %s had no acknowledgement, or delivered nothing.", r.name))
	spec.Marks = append(phaseMarks(&r.Run), eventMarks(r, "fault", "broker", "rebalance")...)
	return spec, err
}

type keptGaps struct {
	acks, deliveries         []result.AckGap
	acksName, deliveriesName string
	notes                    []string
}

// An older run kept only the longest gap of each partition.
func gapsOf(r named) (keptGaps, error) {
	if g := r.Run.Gaps; g != nil {
		notes := []string{"Shown are gaps of " + unit.Nanos(g.AtLeastNs) + " or longer."}
		if g.LeftOut > 0 {
			notes = append(notes, "The run kept only the longest of these, and left out "+unit.Things(int64(g.LeftOut), "shorter one")+".")
		}
		return keptGaps{g.Acks, g.Deliveries, "gaps.acks", "gaps.deliveries", notes}, nil
	}
	if a := r.Run.Availability; a != nil {
		return keptGaps{a.AckGaps, a.DeliveryGaps, "availability.ack_gaps", "availability.delivery_gaps",
			[]string{"The run kept the longest gap of each partition, and no others."}}, nil
	}
	return keptGaps{}, r.lacks(runFile, "gaps and no availability", "")
}

func gapRows(gaps []result.AckGap, label, figure string) draw.Panel {
	type place struct {
		group     string
		partition int32
	}
	var places []place
	for _, g := range gaps {
		places = append(places, place{g.Group, g.Partition})
	}
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.partition, b.partition))
	})
	places = slices.Compact(places)
	if len(places) == 0 {
		return draw.Panel{}
	}
	names := make([]string, len(places))
	for i, p := range places {
		names[i] = fmt.Sprintf("partition %d", p.partition)
		if p.group != "" {
			names[i] += ", " + p.group
		}
	}
	s := draw.Series{Name: label, Figure: figure, Kind: draw.Bars}
	for _, g := range gaps {
		s.X0, s.X1 = append(s.X0, float64(g.FromNs)), append(s.X1, float64(g.ToNs))
		s.Y = append(s.Y, float64(slices.Index(places, place{g.Group, g.Partition})))
	}
	return draw.Panel{Y: rows(label, names), Height: rowHeight * float64(len(names)), Series: []draw.Series{s}}
}

// A fault's row ends when its target was back, or at the run's end.
func faultRows(r named) draw.Panel {
	var names []string
	s := draw.Series{Name: "fault", Figure: "faults", Kind: draw.Bars}
	for _, f := range r.Run.Faults {
		name := f.Name + " " + f.Target
		if f.Hit != "" {
			name += ", " + f.Hit
		}
		end := float64(f.StartNs) // a fault without a duration
		switch {
		case f.EndNs != nil:
			end = float64(*f.EndNs)
		case f.Name == "kill" || f.Name == "stop" || f.Name == "pause":
			end = math.Max(end, float64(endOfRun(r)))
		}
		names = append(names, name)
		s.X0, s.X1, s.Y = append(s.X0, float64(f.StartNs)), append(s.X1, end), append(s.Y, float64(len(names)-1))
	}
	if len(names) == 0 {
		return draw.Panel{}
	}
	return draw.Panel{Y: rows("fault", names), Height: rowHeight * float64(len(names)), Series: []draw.Series{s}}
}

func endOfRun(r named) (end int64) {
	end = analysis.Phase(&r.Run, "drain").EndNs
	if n := len(r.Intervals); n > 0 {
		end = max(end, r.Intervals[n-1].EndNs)
	}
	return end
}
