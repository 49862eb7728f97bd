package answers

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// knee answers at which record size the cost of the bytes equals the fixed cost of a record. It
// fits seconds for each record = a + b·size to the medians of the sizes: runs of one size share what the line misses
// there, so more of them say no more about the line. For a closed loop, the seconds
// are elapsed time. A scheduled load takes the same time at any cost, so the seconds are CPU time:
// of the tool, and of the brokers if every run has it.
func knee(d *analysis.Study) Answer {
	cost := fitted(d)
	head, spent := "time for each record", "elapsed time"
	switch spentBy(d) {
	case toolAndBrokers:
		head, spent = "CPU of tool and brokers for each record", "CPU time of tool and brokers"
	case tool:
		head, spent = "CPU of the tool for each record", "CPU time of the tool (that of the brokers is not known)"
	}
	columns := append(throughputColumns(d, "÷ first", analysis.ThroughputFigure),
		valued("e2e response time p99", analysis.PrimaryName),
		column{head, func(c *analysis.Cell) string { return eachRecord(d, c) }},
		column{"a + b·size", func(c *analysis.Cell) string { return modelled(c, cost) }},
	)
	table := tabulate(d, append(columns, costColumns()...)...)
	switch {
	case math.IsNaN(cost.Fixed):
		return table.says("there are too few sizes to separate the cost of a record from that of its bytes")
	case cost.FixedLow <= 0 || cost.PerUnitLow <= 0:
		return table.says("the runs do not show that both records and their bytes cost something, so there is no size at which one turns into the other")
	}
	parts := fmt.Sprintf("in %s, a record costs %s (%s) and each of its bytes %s (%s)",
		spent, costing(cost.Fixed), rangeOf(costing, cost.FixedLow, cost.FixedHigh), costing(cost.PerUnit), rangeOf(costing,
			cost.PerUnitLow, cost.PerUnitHigh))
	knee := fmt.Sprintf("from %s on (%s, with a confidence of 95 %%) the bytes cost more than the record", bytesOf(cost.Knee),
		rangeOf(bytesOf, cost.KneeLow, cost.KneeHigh))
	if spentBy(d) == time {
		knee += ": below that a run is bound by records, above it by bytes"
	}
	if largest := largestSize(d); cost.Knee > largest {
		knee += fmt.Sprintf(", which is beyond the largest that was measured (%s)", bytesOf(largest))
	}
	return table.says(append([]string{parts, knee}, misfit(d, cost)...)...)
}

func fitted(d *analysis.Study) stats.Cost {
	var sizes, costs []float64
	for _, cell := range d.ValidCells() {
		if size, took := sizeOf(cell), tookEach(d, cell); size > 0 && took > 0 {
			sizes, costs = append(sizes, size), append(costs, took)
		}
	}
	return stats.CostOf(sizes, costs, analysis.Confidence)
}

type currency int

const (
	time currency = iota
	tool
	toolAndBrokers
)

// spentBy returns how the campaign's costs are measured. They include the brokers' CPU only if
// every valid run has it.
func spentBy(d *analysis.Study) currency {
	spent := time
	for _, cell := range d.ValidCells() {
		for _, r := range cell.Sample.Taken {
			if r.Run.Load.ClosedLoop || r.Run.Load.Scheduled == 0 {
				return time
			}
			if _, known := analysis.FigureCalled("broker_cpu_per_record").Value(&r.Run); !known || spent == tool {
				spent = tool
			} else {
				spent = toolAndBrokers
			}
		}
	}
	return spent
}

// recordCost returns the mean size of a run's records in bytes, and the seconds
// spent on each.
func recordCost(r *result.Run, among []*result.Run, spent currency) (size, took float64, known bool) {
	of := func(name string) (v float64) {
		if known {
			v, known = analysis.FigureCalled(name).Among(among).Value(r)
		}
		return v
	}
	known = true
	perS, bytes := of(analysis.ThroughputFigure), of("throughput_bytes_per_s")
	if !known || perS <= 0 || bytes <= 0 {
		return 0, 0, false
	}
	switch spent {
	case toolAndBrokers:
		took = (of("cpu_per_record") + of("broker_cpu_per_record")) / 1e9
	case tool:
		took = of("cpu_per_record") / 1e9
	default:
		took = 1 / perS
	}
	return bytes / perS, took, known
}

// tookEach is the median cost of a record of the cell, in seconds; 0 if it is not
// known.
func tookEach(d *analysis.Study, c *analysis.Cell) float64 {
	var all []float64
	spent := spentBy(d)
	for _, r := range c.Sample.Taken {
		if _, took, known := recordCost(&r.Run, c.Sample.Among, spent); known {
			all = append(all, took)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return analysis.FromValues(all).Summary.Median
}

func eachRecord(d *analysis.Study, c *analysis.Cell) string {
	took := tookEach(d, c)
	if took == 0 {
		return unit.Absent
	}
	return costing(took)
}

func modelled(c *analysis.Cell, cost stats.Cost) string {
	size := sizeOf(c)
	if size == 0 || math.IsNaN(cost.Fixed) {
		return unit.Absent
	}
	return costing(cost.Fixed + cost.PerUnit*size)
}

// sizeOf is in bytes; 0 if it is not known.
func sizeOf(c *analysis.Cell) float64 {
	for _, r := range c.Sample.Taken {
		if size, _, known := recordCost(&r.Run, c.Sample.Among, time); known {
			return size
		}
	}
	return 0
}

func largestSize(d *analysis.Study) (size float64) {
	for _, cell := range d.ValidCells() {
		size = max(size, sizeOf(cell))
	}
	return size
}

// muchOff is the relative error of the fit from which the answer mentions it.
const muchOff = 0.25

func misfit(d *analysis.Study, cost stats.Cost) []string {
	worst, where := 0.0, ""
	for _, cell := range d.ValidCells() {
		took, size := tookEach(d, cell), sizeOf(cell)
		if took == 0 || size == 0 {
			continue
		}
		if off := math.Abs((cost.Fixed+cost.PerUnit*size)/took - 1); off > worst {
			worst, where = off, d.Said(cell.Label)
		}
	}
	if worst < muchOff {
		return nil
	}
	return []string{fmt.Sprintf("but the two parts are %s off at %s, so there is more to it than these",
		unit.WholePercent(worst), where)}
}

// costing prints seconds in a short unit: 412 ns, 5.1 ns, 0.08 ns.
func costing(s float64) string {
	if ns := s * 1e9; math.Abs(ns) < 100 {
		return unit.Decimals(ns, 2) + " ns"
	}
	return unit.Seconds(s)
}

func bytesOf(n float64) string { return unit.Bytes(int64(math.Round(n))) }

func rangeOf(print func(float64) string, low, high float64) string {
	return analysis.WithoutUnit(print(low), print(high)) + ".." + print(high)
}
