package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/draw"
)

const shownPartitions = 8

type partitioned struct {
	name   string
	axis   draw.Axis
	counts func(*result.Interval) []int64
	rate   bool // the values are counts per second
}

var partitionFields = []partitioned{
	{"backlog_records_partition", draw.Free("backlog", draw.Linear, count),
		func(i *result.Interval) []int64 { return i.BacklogPartition }, false},
	{"acked_records_partition", draw.Free("acked/s", draw.Linear, perS),
		func(i *result.Interval) []int64 { return i.AckedPartition }, true},
	{"delivered_records_partition", draw.Free("delivered/s", draw.Linear, perS),
		func(i *result.Interval) []int64 { return i.DeliveredPartition }, true},
}

func (f partitioned) value(i *result.Interval, partition int) float64 {
	if f.rate {
		return at(f.counts(i), partition) / seconds(i)
	}
	return at(f.counts(i), partition)
}

func partitions(in Input) (draw.Spec, error) {
	r, err := in.oneOver()
	if err != nil {
		return draw.Spec{}, err
	}
	worst, rest := worstPartitions(r)
	var ps panels
	for _, f := range partitionFields {
		p, err := f.panel(r, worst, rest)
		ps.add(p, nil, err)
	}
	s := only(r)
	if len(rest) > 0 {
		s.notes = append(s.notes, fmt.Sprintf("The lines are the %d partitions with the highest backlogs, or rates "+
			"if no backlog is known; the area is the range of the other %d.", len(worst), len(rest)))
	}
	return ps.spec(s, "Partitions", fmt.Sprintf("Backlog and rates of each partition of %s.", r.name))
}

// worstPartitions orders the partitions by the highest value of the first known field.
func worstPartitions(r named) (worst, rest []int) {
	var most []float64
	for _, f := range partitionFields {
		for i := range r.Intervals {
			for p := range f.counts(&r.Intervals[i]) {
				if p == len(most) {
					most = append(most, math.Inf(-1))
				}
				most[p] = max(most[p], f.value(&r.Intervals[i], p))
			}
		}
		if len(most) > 0 {
			break
		}
	}
	for p := range most {
		worst = append(worst, p)
	}
	slices.SortStableFunc(worst, func(a, b int) int { return cmp.Compare(most[b], most[a]) })
	if len(worst) > shownPartitions {
		worst, rest = worst[:shownPartitions], worst[shownPartitions:]
	}
	slices.Sort(worst)
	return worst, rest
}

func (f partitioned) panel(r named, worst, rest []int) (draw.Panel, error) {
	p := draw.Panel{Y: f.axis}
	if !slices.ContainsFunc(r.Intervals, func(i result.Interval) bool { return len(f.counts(&i)) > 0 }) {
		return p, r.lacks(intervalsFile, f.name, "")
	}
	if len(rest) > 0 {
		p.Series = append(p.Series, f.band(r, rest))
	}
	for _, partition := range worst {
		one := field{name: f.name, value: func(i *result.Interval) float64 { return f.value(i, partition) }}
		s, err := one.of(r, fmt.Sprintf("partition %d", partition))
		if err != nil {
			return p, err
		}
		p.Series = append(p.Series, s)
	}
	return p, nil
}

func (f partitioned) band(r named, of []int) draw.Series {
	s := draw.Series{Name: fmt.Sprintf("the other %d", len(of)), Figure: f.name, Kind: draw.Band}
	for i := range r.Intervals {
		iv := &r.Intervals[i]
		low, high := math.Inf(1), math.Inf(-1)
		for _, p := range of {
			if p < len(f.counts(iv)) {
				low, high = min(low, f.value(iv, p)), max(high, f.value(iv, p))
			}
		}
		if low > high {
			low, high = math.NaN(), math.NaN()
		}
		s.X0, s.X1 = append(s.X0, float64(iv.StartNs)), append(s.X1, float64(iv.EndNs))
		s.Low, s.High = append(s.Low, low), append(s.High, high)
	}
	return s
}
