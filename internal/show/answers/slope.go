package answers

import (
	"fmt"
	"math"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
)

type storedSlope struct {
	stats.Slope         // bytes/s for each stored byte
	from, to    float64 // stored bytes at the begin and the end of the measured window
}

func (s storedSlope) times(bytes float64) stats.Estimate {
	return stats.Estimate{Value: s.Slope.Slope * bytes, Low: s.Low * bytes, High: s.High * bytes}
}

func (s storedSlope) relative() stats.Estimate { return s.times((s.to - s.from) / s.MeanY) }

// slopeOf fits the throughput of each whole interval of the measured window to the bytes stored at
// its middle.
func slopeOf(r *result.Recorded) storedSlope {
	xs, ys, from, to := analysis.Stored(r)
	return storedSlope{stats.SlopeOf(xs, ys, analysis.Confidence), from, to}
}

func slope(d *analysis.Study) Answer {
	columns := []column{
		{"stored", func(c *analysis.Cell) string {
			return ofSlopes(c, storedEnd, bytesOf)
		}},
		{"mean throughput", func(c *analysis.Cell) string {
			return ofSlopes(c, func(s storedSlope) float64 { return s.MeanY },
				func(v float64) string { return bytesOf(v) + "/s" })
		}},
		{"slopes", func(c *analysis.Cell) string {
			return fmt.Sprintf("%d of %d", len(slopesOf(c)),
				len(c.Sample.Taken))
		}},
		{"each GB more", func(c *analysis.Cell) string { return slopeText(c, perGB) }},
		{"over all of it", func(c *analysis.Cell) string { return slopeText(c, overAll) }},
		againstFirst(d, "÷ first", "acked_per_s"), valued("delivered/s", "delivered_per_s"),
	}
	table := tabulate(d, append(columns, costColumns()...)...)
	table.Notes = []string{
		"Stored are the keys and values that were acked until the measured window ended, those of a fill and of the warm-up included, which load.volume does not count. All of it: what the measured window added.",
		"The slopes are the means over the runs that have one; in parentheses their bounds, with a confidence of 95 %.",
	}
	var clauses []string
	for _, cell := range d.ValidCells() {
		slopes, runs := slopesOf(cell), len(cell.Sample.Taken)
		if len(slopes) == 0 {
			clauses = append(clauses, d.Said(cell.Label)+" has too few intervals for a slope")
			continue
		}
		begin, end := ofSlopes(cell, func(s storedSlope) float64 { return s.from }, bytesOf), ofSlopes(cell, storedEnd, bytesOf)
		of := ""
		if len(slopes) < runs {
			of = fmt.Sprintf(", by the slope of %d of %s (the rest have too few whole intervals for one)",
				len(slopes), unit.Things(int64(runs), "run"))
		}
		word := "which is shown to be a change"
		if e := slopeBounds(slopes, overAll); e.Low <= 0 && e.High >= 0 {
			word = "which is not shown to be a change"
		} else if len(slopes) == 1 && runs > 1 {
			word = "which as the change of a single run carries no claim"
		}
		clauses = append(clauses,
			fmt.Sprintf("while what was stored grew from %s to %s, the throughput of %s changed by %s for each GB, %s over all of that (bounds at 95 %%)%s, %s",
				begin, end, d.Said(cell.Label), slopeText(cell, perGB), slopeText(cell, overAll), of, word))
	}
	if first := d.First(); first != nil {
		for _, cell := range d.ValidCells() {
			if cell.Name != first.Name {
				clauses = append(clauses, fmt.Sprintf("%s wrote %s times what %s did%s", d.Said(cell.Label),
					quotient(cell.Of("acked_per_s"), first.Of("acked_per_s")), d.Said(first.Label),
					ifUnshown(cell.Of("acked_per_s"), first.Of("acked_per_s"))))
			}
		}
	}
	if memory := allInMemory(d); memory > 0 {
		clauses = append(clauses, fmt.Sprintf("all that was stored fits in half of the machine's memory (%s): the runs do not show what more would cost",
			bytesOf(memory)))
	}
	return table.says(clauses...)
}

// allInMemory returns the least memory of the machines if the logs of every run fit in half of it;
// else, if a disk was the limit, and for brokers on other machines, 0.
func allInMemory(d *analysis.Study) (least float64) {
	for _, cell := range d.ValidCells() {
		for _, r := range cell.Sample.Taken {
			stored, known := analysis.FigureCalled("disk_bytes").Value(&r.Run)
			memory := float64(r.Run.Run.Host.MemoryBytes)
			limit := r.Run.Bottleneck != nil && r.Run.Bottleneck.Resource == fullDisk
			if !known || limit || stored >= memory/2 || r.Run.Run.Cluster.Kind != "kafka" {
				return 0
			}
			if least == 0 || memory < least {
				least = memory
			}
		}
	}
	return least
}

func storedEnd(s storedSlope) float64 { return s.to }

func slopesOf(c *analysis.Cell) (all []storedSlope) {
	for _, r := range c.Sample.Taken {
		if s := slopeOf(r); !math.IsNaN(s.Slope.Slope) && s.MeanY > 0 {
			all = append(all, s)
		}
	}
	return all
}

func ofSlopes(c *analysis.Cell, of func(storedSlope) float64, print func(float64) string) string {
	var values []float64
	for _, r := range c.Sample.Taken {
		if s := slopeOf(r); s.N > 0 && s.MeanY > 0 {
			values = append(values, of(s))
		}
	}
	if len(values) == 0 {
		return unit.Absent
	}
	return print(analysis.FromValues(values).Summary.Median)
}

type slopeScale struct {
	of    func(storedSlope) stats.Estimate
	print func(float64) string
}

// perGB is the change for each stored GB. overAll is the change over all stored bytes, relative to
// the mean throughput.
var (
	perGB   = slopeScale{func(s storedSlope) stats.Estimate { return s.times(unitGB) }, signedBytes}
	overAll = slopeScale{storedSlope.relative, func(v float64) string { return fmt.Sprintf("%+.1f %%", 100*v) }}
)

const unitGB = 1e9

func signedBytes(v float64) string {
	sign := "+"
	if v < 0 {
		sign = "-"
	}
	return sign + bytesOf(math.Abs(v)) + "/s"
}

func slopeBounds(slopes []storedSlope, scale slopeScale) stats.Estimate {
	runs := make([]stats.Estimate, len(slopes))
	for i, s := range slopes {
		runs[i] = scale.of(s)
	}
	return stats.Across(runs, analysis.Confidence)
}

func slopeText(c *analysis.Cell, scale slopeScale) string {
	slopes := slopesOf(c)
	if len(slopes) == 0 {
		return unit.Absent
	}
	e := slopeBounds(slopes, scale)
	return fmt.Sprintf("%s (%s)", scale.print(e.Value), rangeOf(scale.print, e.Low, e.High))
}
