package answers

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// scales are the settings that a campaign may scale. The scaled setting is the first in which cells
// differ.
var scales = []string{"consume.consumers", "load.producers", "load.clients", "consume.cpu", "topic.partitions"}

// scaled names the scaled setting, and returns each cell's value divided by the first cell's; nil
// if no numeric setting differs.
func scaled(d *analysis.Study) (what string, by []float64) {
	for _, path := range scales {
		by := make([]float64, len(d.Cells))
		differ, whole := false, true
		for i := range d.Cells {
			n, err := strconv.ParseFloat(d.Cells[i].Setting(path), 64)
			if err != nil || n <= 0 {
				whole = d.Cells[i].Valid == 0 && whole
				continue
			}
			by[i] = n
			differ = differ || n != by[0]
		}
		if differ && whole && by[0] > 0 {
			for i := len(by) - 1; i >= 0; i-- {
				by[i] /= by[0]
			}
			return path[strings.LastIndex(path, ".")+1:], by
		}
	}
	return "", nil
}

func scaling(d *analysis.Study) Answer {
	const name = analysis.ThroughputFigure
	what, by := scaled(d)
	efficiency := column{"efficiency", func(c *analysis.Cell) string {
		text, _ := efficiencyOf(d, c, by)
		return text
	}}
	unconfined := column{"÷ unconfined", func(c *analysis.Cell) string {
		free := unconfinedOf(d, c)
		if free == nil {
			return unit.Absent
		}
		return CellMark(c, c.Of(name), quotient(c.Of(name), free.Of(name)))
	}}
	columns := append(throughputColumns(d, "speed-up", name), efficiency, unconfined,
		valued("confined process's CPU, cores", "consumer_cpu_cores"))
	table := tabulate(d, append(columns, costColumns()...)...)
	first := d.First()
	if first == nil || first.Of(name).N == 0 || first.PartlyRead() {
		return table.says("no valid run shows what the first scenario reaches, so there is nothing to scale from")
	}
	clauses := []string{fmt.Sprintf("%s reached %s%s", d.Said(first.Label),
		first.Of(name).Bounded(analysis.FigureCalled(name)), bottleneckClause(first))}
	for _, cell := range d.ValidCells() {
		if cell.Label == first.Label || cell.PartlyRead() {
			continue
		}
		if free := unconfinedOf(d, cell); free != nil {
			clauses = append(clauses,
				fmt.Sprintf("%s, confined to %s, reached %s times what %s did%s%s", d.Said(cell.Label), coresOf(cell),
					quotient(cell.Of(name), free.Of(name)), d.Said(free.Label), ifUnshown(cell.Of(name), free.Of(name)),
					bottleneckClause(cell)))
			continue
		}
		clause := fmt.Sprintf("%s reached %s times what %s did%s", d.Said(cell.Label),
			quotient(cell.Of(name), first.Of(name)), d.Said(first.Label), ifUnshown(cell.Of(name), first.Of(name)))
		if text, more := efficiencyOf(d, cell, by); more {
			clause += fmt.Sprintf(", with %g times the %s: an efficiency of %s",
				math.Round(10*moreOf(d, cell, by))/10, what, text)
		}
		clauses = append(clauses, clause+bottleneckClause(cell))
	}
	return table.says(slices.Concat(clauses, notRanked(d), tooShort(d))...)
}

// shortestScaled is the measured window in ns below which the throughput depends
// much on how reading begins and ends.
const shortestScaled = 1e9

func tooShort(d *analysis.Study) []string {
	var short []string
	for _, cell := range d.ValidCells() {
		if slices.ContainsFunc(cell.Sample.Taken,
			func(r *result.Recorded) bool { return analysis.Window(&r.Run) < shortestScaled }) {
			short = append(short, d.Said(cell.Label))
		}
	}
	if len(short) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("the measured window of %s is shorter than a second, too short for a throughput to be "+
		"relied on: fill more", layout.Enumerate(short))}
}

func bottleneckClause(c *analysis.Cell) string {
	most, text := cellBottleneck(c)
	of := strings.TrimPrefix(text, most) // in how many of the runs
	switch most {
	case "":
		return ""
	case notKnown:
		return ", and what limited it is not known" + of
	case offeredLoad:
		return ", which is all that was offered" + of
	default:
		return ", limited by " + text
	}
}

// moreOf is the cell's scaled setting ÷ that of the first cell; 0 if it is not known.
func moreOf(d *analysis.Study, c *analysis.Cell, by []float64) float64 {
	for i := range by {
		if d.Cells[i].Name == c.Name {
			return by[i]
		}
	}
	return 0
}

// efficiencyOf prints a cell's speed-up ÷ moreOf. more reports whether moreOf is not 1.
func efficiencyOf(d *analysis.Study, c *analysis.Cell, by []float64) (text string, more bool) {
	const name = analysis.ThroughputFigure
	times := moreOf(d, c, by)
	first := d.First()
	if times == 0 || confinedOtherwise(d, c) || first == nil || c.Of(name).N == 0 || first.Of(name).N == 0 ||
		c.PartlyRead() || first.PartlyRead() {
		return unit.Absent, false
	}
	speedUp := ratio(c.Of(name), first.Of(name))
	text = unit.WholePercent(speedUp.Value / times)
	if times != 1 && !math.IsNaN(speedUp.Low) {
		text += " (" + rangeOf(unit.WholePercent, speedUp.Low/times, speedUp.High/times) + ")"
	}
	return text, times != 1
}

// confinedOtherwise reports whether a cell has other CPU limits than the first while another
// setting is scaled, so the speed-up depends on both.
func confinedOtherwise(d *analysis.Study, c *analysis.Cell) bool {
	what, _ := scaled(d)
	first := d.First()
	return what != "cpu" && first != nil && c.Setting(consumerShare) != first.Setting(consumerShare)
}

const consumerShare = "consume.cpu"

func coresOf(c *analysis.Cell) string {
	switch cores := c.Setting(consumerShare); cores {
	case "", unit.Absent:
		return "another share of the processors"
	case "1":
		return "1 core"
	default:
		return cores + " cores"
	}
}

func unconfinedOf(d *analysis.Study, c *analysis.Cell) *analysis.Cell {
	if !confinedOtherwise(d, c) {
		return nil
	}
	for _, other := range d.ValidCells() {
		alike := func(path string) bool { return path == consumerShare || c.Setting(path) == other.Setting(path) }
		if !confinedOtherwise(d, other) &&
			!slices.ContainsFunc(scales, func(path string) bool { return !alike(path) }) {
			return other
		}
	}
	return nil
}
