package answers

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

// knee says at which size of a record its bytes cost as much as the record itself:
// seconds for each record = a + b·size, over all valid runs. Of a load that is sent as fast as it
// goes these are seconds of time. Of one with a schedule, which takes as long whatever its records
// cost, they are seconds of CPU, of the tool and of those brokers whose CPU is known.
func knee(d *analysis.Study) Answer {
	cost := cost(d)
	head, takes := "time for each record", "costs"
	if scheduled(d) {
		head, takes = "CPU for each record", "takes in CPU time"
	}
	columns := append(throughputColumns(d, "÷ first", analysis.ThroughputFigure),
		valued("e2e response time p99", analysis.PrimaryName),
		column{head, eachRecord},
		column{"a + b·size", func(c *analysis.Cell) string { return modelled(c, cost) }},
	)
	table := tabulate(d, append(columns, costColumns()...)...)
	switch {
	case math.IsNaN(cost.Fixed):
		return table.says("sizes and runs are too few to tell the cost of a record from that of its bytes.")
	case math.IsNaN(cost.Knee) || math.IsNaN(cost.KneeHigh):
		return table.says("the runs do not show that both records and their bytes cost something, so there is no size at which one turns into the other.")
	}
	parts := fmt.Sprintf("a record %s %s (%s) and each of its bytes %s (%s)",
		takes, costing(cost.Fixed), rangeOf(costing, cost.FixedLow, cost.FixedHigh), costing(cost.PerUnit), rangeOf(costing,
			cost.PerUnitLow, cost.PerUnitHigh))
	knee := fmt.Sprintf("from %s on (%s, with a confidence of 95 %%) the bytes cost more than the record", bytesOf(cost.Knee),
		rangeOf(bytesOf, cost.KneeLow, cost.KneeHigh))
	if !scheduled(d) {
		knee += ": below that a run is bound by records, above it by bytes"
	}
	return table.says(parts + "; " + knee + misfit(d, cost) + ".")
}

// cost fits the costs of all valid runs whose size and throughput are known.
func cost(d *analysis.Study) stats.Cost {
	var sizes, costs []float64
	for _, cell := range d.ValidCells() {
		for _, r := range cell.Sample.Taken {
			if size, took, known := recordCost(&r.Run, cell.Sample.Among); known {
				sizes, costs = append(sizes, size), append(costs, took)
			}
		}
	}
	return stats.CostOf(sizes, costs, analysis.Confidence)
}

// recordCost is the mean size of a run's records, in bytes, and the seconds that each
// took.
func recordCost(r *result.Run, among []*result.Run) (size, took float64, known bool) {
	of := func(name string) (float64, bool) { return analysis.FigureCalled(name).Among(among).Value(r) }
	perS, ok := of(analysis.ThroughputFigure)
	bytes, sized := of("throughput_bytes_per_s")
	if !ok || !sized || perS <= 0 || bytes <= 0 {
		return 0, 0, false
	}
	took = 1 / perS
	if hasSchedule(r) {
		tool, known := of("cpu_per_record")
		if !known {
			return 0, 0, false
		}
		brokers, _ := of("broker_cpu_per_record")
		took = (tool + brokers) / 1e9
	}
	return bytes / perS, took, true
}

// hasSchedule tells whether a run's load was to be sent at certain times.
func hasSchedule(r *result.Run) bool { return r.Load.Scheduled > 0 && !r.Load.ClosedLoop }

// scheduled tells whether the campaign's loads have a schedule.
func scheduled(d *analysis.Study) bool {
	for _, cell := range d.ValidCells() {
		for _, r := range cell.Sample.Taken {
			return hasSchedule(&r.Run)
		}
	}
	return false
}

// tookEach is the median of what each of a cell's records took, in seconds; 0 where it is not known.
func tookEach(c *analysis.Cell) float64 {
	var all []float64
	for _, r := range c.Sample.Taken {
		if _, took, known := recordCost(&r.Run, c.Sample.Among); known {
			all = append(all, took)
		}
	}
	if len(all) == 0 {
		return 0
	}
	return analysis.FromValues(all).Summary.Median
}

// eachRecord prints the median of what each of a cell's records took.
func eachRecord(c *analysis.Cell) string {
	took := tookEach(c)
	if took == 0 {
		return unit.Absent
	}
	return costing(took)
}

// modelled is what the two parts of the cost give for a cell's size.
func modelled(c *analysis.Cell, cost stats.Cost) string {
	size := sizeOf(c)
	if size == 0 || math.IsNaN(cost.Fixed) {
		return unit.Absent
	}
	return costing(cost.Fixed + cost.PerUnit*size)
}

// sizeOf is the size of a cell's records, by their bytes and their number; 0 where it
// is not known.
func sizeOf(c *analysis.Cell) float64 {
	for _, r := range c.Sample.Taken {
		if size, _, known := recordCost(&r.Run, c.Sample.Among); known {
			return size
		}
	}
	return 0
}

// muchOff is from where on a line that does not fit is told of.
const muchOff = 0.25

// misfit says where the two parts do not describe a cell.
func misfit(d *analysis.Study, cost stats.Cost) string {
	worst, where := 0.0, ""
	for _, cell := range d.ValidCells() {
		took, size := tookEach(cell), sizeOf(cell)
		if took == 0 || size == 0 {
			continue
		}
		if off := math.Abs((cost.Fixed+cost.PerUnit*size)/took - 1); off > worst {
			worst, where = off, d.Said(cell.Label)
		}
	}
	if worst < muchOff {
		return ""
	}
	return fmt.Sprintf("; but the two parts are %s off at %s, so there is more to it than these",
		unit.WholePercent(worst), where)
}

// costing prints seconds as short as they come: 412 ns, or 5.1 ns, or 0.08 ns.
func costing(s float64) string {
	if ns := s * 1e9; math.Abs(ns) < 100 {
		return unit.Decimals(ns, 2) + " ns"
	}
	return unit.Seconds(s)
}

func bytesOf(n float64) string { return unit.Bytes(int64(math.Round(n))) }

// rangeOf prints two bounds; one that there is none of is told.
func rangeOf(print func(float64) string, low, high float64) string {
	if math.IsInf(high, 1) {
		return "from " + print(low) + " on, with no upper bound"
	}
	return analysis.WithoutUnit(print(low), print(high)) + ".." + print(high)
}
