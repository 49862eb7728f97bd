package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// throughputColumns are what every table of throughputs has, by the figure that the
// cells are ranked by.
func throughputColumns(d *analysis.Study, against, by string) []answerColumn {
	columns := []answerColumn{valued(columnOf(by), by), valued("bytes/s", "throughput_bytes_per_s"), againstFirst(d, against, by)}
	for _, other := range []string{"acked_per_s", "delivered_per_s"} {
		if other != by && by != analysis.ThroughputFigure {
			columns = append(columns, valued(columnOf(other), other))
		}
	}
	return columns
}

// columnOf heads a column of a figure.
func columnOf(name string) string {
	if name == analysis.ThroughputFigure {
		return "records/s"
	}
	f := analysis.FigureCalled(name)
	if f.Kind == figure.PerSecond {
		return f.Title + "/s"
	}
	return f.Title
}

// costColumns are what a throughput took, and what it lost.
func costColumns() []answerColumn {
	return []answerColumn{
		valued("all clients' CPU, cores", "cpu_cores"),
		valued("brokers' CPU, cores", "broker_cpu_cores"),
		valued("client memory", "rss_peak"),
		limited(),
		summed("lost", "lost"),
	}
}

// most says which cell reached the most, and how much of it the others did. It calls
// one that only where a test tells it from every other. Cells of several variants that
// are not alike (one produces, another consumes) are told variant by variant; where a
// variant offers all of its cells the same, they differ in time and not in throughput.
func most(d *analysis.Study) (AnswerTable, string) {
	columns := append(throughputColumns(d, "÷ first", cmp.Or(d.By.Name, analysis.ThroughputFigure)),
		valued("e2e response time p50", "e2e_response_time_p50"), valued("e2e response time p99", "e2e_response_time_p99"))
	table := tabulate(d, append(columns, costColumns()...)...)
	var clauses []string
	table.Notes = variantNotes(d)
	parts, separated := d.ByVariant(), ", "
	if len(parts) == 1 {
		separated = "; "
	}
	for _, part := range parts {
		clauses = append(clauses, part.Prefix+mostOf(part.Cells, separated))
	}
	return table, phrases(clauses)
}

// variantNotes explain what the cells of a campaign of unlike variants are held against.
func variantNotes(d *analysis.Study) []string {
	if d.VariantsAt() < 0 {
		return nil
	}
	return []string{"Each variant does something else: a figure is divided by that of the first scenario of the same variant, if that is valid."}
}

// mostOf is the clauses of cells that are alike, separated like this. A cell that did not
// read all that was there is named and not ranked: its client may have paused, so its
// figure need not be its speed.
func mostOf(d *analysis.Study, separated string) string {
	var notRanked []string
	ranked := slices.DeleteFunc(d.Ranked(), func(c analysis.Cell) bool {
		if c.PartlyRead() {
			notRanked = append(notRanked, d.Said(c.Label)+" is not ranked: it did not read all")
		}
		return c.PartlyRead()
	})
	if len(ranked) == 0 {
		return cmp.Or(strings.Join(notRanked, separated), "no valid run tells what it reached")
	}
	head, rest := bestOf(d, ranked)
	clauses := []string{head}
	for _, other := range rest {
		part := "reached %s of that"
		if d.By.Better == figure.Lower {
			part = "has %s times that"
		}
		clauses = append(clauses, d.Said(other.Name)+" "+fmt.Sprintf(part, quotient(other.B, other.A)))
	}
	if last := lastNearBest(d, ranked); last != "" {
		clauses = append(clauses, last)
	}
	return strings.Join(append(clauses, notRanked...), separated)
}

// bestOf says which of ranked cells is the best, and from which of the others it is not
// told apart.
func bestOf(d *analysis.Study, ranked []analysis.Cell) (head string, rest []analysis.Contender) {
	reached, side := "reached the most", "highest"
	switch {
	case d.By.Better == figure.Lower:
		reached, side = "has the lowest "+d.By.Title, "lowest"
	case d.By.Name != analysis.ThroughputFigure:
		reached = "has the highest " + columnOf(d.By.Name)
	}
	best := ranked[0].Figures[d.By.Name]
	head = fmt.Sprintf("%s %s, %s", d.Said(ranked[0].Label), reached, best.Bounded(d.By))
	if len(ranked) == 1 {
		return head + ", and there is nothing to hold it against", nil
	}
	rest = d.Against(ranked)
	var alike []string
	for _, other := range rest {
		if other.Word != analysis.WordWorse && best.N > 1 {
			alike = append(alike, d.Said(other.Name))
		}
	}
	if len(alike) > 0 {
		head = fmt.Sprintf("the %s median is that of %s, %s, which is not told apart from %s", side, d.Said(ranked[0].Label), best.Bounded(d.By), layout.Enumerate(alike))
	}
	return head, rest
}

// nearBest is how much less than the best a rate may be that has not fallen.
const nearBest = 0.1

// lastNearBest says up to where along a numeric axis the rate stays near the best; "" where
// the cells do not lie along one.
func lastNearBest(d *analysis.Study, ranked []analysis.Cell) string {
	if len(d.Axes) != 1 || len(ranked) < 2 || d.By.Better != figure.Higher {
		return ""
	}
	best, last := ranked[0].Figures[d.By.Name].Summary.Median, 0
	highest, reach := math.Inf(-1), math.Inf(-1)
	for i, cell := range ranked {
		at, err := strconv.ParseFloat(strings.Join(cell.Values, ""), 64)
		if err != nil {
			return ""
		}
		highest = max(highest, at)
		if cell.Figures[d.By.Name].Summary.Median >= (1-nearBest)*best && at > reach {
			last, reach = i, at
		}
	}
	name := d.Said(ranked[last].Label)
	if reach == highest {
		return fmt.Sprintf("so it has not fallen at %s, the highest that was measured", name)
	}
	return fmt.Sprintf("so %s is the last that is within %s of the best", name, wholePercent(nearBest))
}

// scales are the settings by which a campaign scales what it measures, the first that
// differs among the cells counting.
var scales = []string{"consume.consumers", "load.producers", "load.clients", "consume.cpu", "topic.partitions"}

// scaled are by how much more of something each cell has than the first, and what that
// is; nil where the cells do not differ in a number.
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

// scaling says how many times the first cell the others reached, and which part that
// is of what they had more.
func scaling(d *analysis.Study) (AnswerTable, string) {
	const name = analysis.ThroughputFigure
	what, by := scaled(d)
	efficiency := answerColumn{"efficiency", func(c *analysis.Cell) string {
		text, _ := efficiencyOf(d, c, by)
		return text
	}}
	unconfined := answerColumn{"÷ unconfined", func(c *analysis.Cell) string {
		free := unconfinedOf(d, c)
		if free == nil {
			return unit.Absent
		}
		return cellMark(c, c.Of(name), quotient(c.Of(name), free.Of(name)))
	}}
	columns := append(throughputColumns(d, "speed-up", name), efficiency, unconfined, valued("confined process's CPU, cores", "consumer_cpu_cores"))
	table := tabulate(d, append(columns, costColumns()...)...)
	first := d.First()
	if first == nil || first.Of(name).N == 0 {
		return table, "the first scenario has no throughput in a valid run, so there is nothing to scale from."
	}
	clauses := []string{fmt.Sprintf("%s reached %s%s", d.Said(first.Label), first.Of(name).Bounded(analysis.FigureCalled(name)), bottleneckClause(first))}
	for _, cell := range d.ValidCells() {
		if cell.Label == first.Label {
			continue
		}
		if free := unconfinedOf(d, cell); free != nil {
			clauses = append(clauses, fmt.Sprintf("%s, confined to %s, reached %s times what %s did%s", d.Said(cell.Label), coresOf(cell),
				quotient(cell.Of(name), free.Of(name)), d.Said(free.Label), bottleneckClause(cell)))
			continue
		}
		clause := fmt.Sprintf("%s reached %s times what %s did", d.Said(cell.Label), quotient(cell.Of(name), first.Of(name)), d.Said(first.Label))
		if text, more := efficiencyOf(d, cell, by); more {
			clause += fmt.Sprintf(" with %s times the %s, an efficiency of %s", unit.Decimals(moreOf(d, cell, by), 1), what, text)
		}
		clauses = append(clauses, clause+bottleneckClause(cell))
	}
	return table, phrases(clauses) + tooShort(d)
}

// shortestScaled is the measured window below which a throughput says as much of how
// reading begins and ends as of how it goes on.
const shortestScaled = 1e9 // ns

// tooShort warns of cells that were measured too shortly for an efficiency; "" of none.
func tooShort(d *analysis.Study) string {
	var short []string
	for _, cell := range d.ValidCells() {
		if slices.ContainsFunc(cell.Sample.Taken, func(r *result.Recorded) bool { return analysis.Window(&r.Run) < shortestScaled }) {
			short = append(short, d.Said(cell.Label))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return fmt.Sprintf(" The measured window of %s is shorter than a second, too short for an efficiency to be relied on: fill more.", layout.Enumerate(short))
}

// bottleneckClause names what kept a cell from more; "" where nobody says.
func bottleneckClause(c *analysis.Cell) string {
	switch b := cellBottleneck(c); b {
	case "":
		return ""
	case notKnown:
		return ", limited by nothing that was measured"
	case offeredLoad:
		return ", which is all that was offered"
	default:
		return ", limited by " + b
	}
}

// more is how many times what the first cell has a cell has; 0 where that is not known.
func moreOf(d *analysis.Study, c *analysis.Cell, by []float64) float64 {
	for i := range by {
		if d.Cells[i].Name == c.Name {
			return by[i]
		}
	}
	return 0
}

// efficiency is the speed-up ÷ what a cell has more than the first; it says something
// of a cell that has.
func efficiencyOf(d *analysis.Study, c *analysis.Cell, by []float64) (text string, more bool) {
	const name = analysis.ThroughputFigure
	times := moreOf(d, c, by)
	first := d.First()
	if times == 0 || confinedOtherwise(d, c) || first == nil || c.Of(name).N == 0 || first.Of(name).N == 0 {
		return unit.Absent, false
	}
	speedUp := c.Of(name).Summary.Median / first.Of(name).Summary.Median
	return wholePercent(speedUp / times), times != 1
}

// confinedOtherwise tells whether a cell has another share of the processors than the
// first, where something else is scaled: then the speed-up is of both.
func confinedOtherwise(d *analysis.Study, c *analysis.Cell) bool {
	what, _ := scaled(d)
	first := d.First()
	return what != "cpu" && first != nil && c.Setting(consumerShare) != first.Setting(consumerShare)
}

// consumerShare is the setting that confines consumers to a share of the processors.
const consumerShare = "consume.cpu"

// coresOf says how much of the processors a cell's consumers have.
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

// unconfined is the valid cell that differs from one that is confined otherwise in
// nothing that is scaled but the share of the processors; nil where there is none.
func unconfinedOf(d *analysis.Study, c *analysis.Cell) *analysis.Cell {
	if !confinedOtherwise(d, c) {
		return nil
	}
	for _, other := range d.ValidCells() {
		alike := func(path string) bool { return path == consumerShare || c.Setting(path) == other.Setting(path) }
		if !confinedOtherwise(d, other) && !slices.ContainsFunc(scales, func(path string) bool { return !alike(path) }) {
			return other
		}
	}
	return nil
}

// ackedBytes is the mean size of an acked record; 0 where none was acked.
func ackedBytes(r *result.Run) float64 {
	if r.Load.Acked == 0 {
		return 0
	}
	return float64(r.Load.Bytes) / float64(r.Load.Acked)
}
