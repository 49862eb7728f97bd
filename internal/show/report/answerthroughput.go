package report

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// throughputColumns are what every table of throughputs has, by the figure that the
// cells are ranked by.
func (d *CampaignDocument) throughputColumns(against, by string) []answerColumn {
	columns := []answerColumn{valued(columnOf(by), by), valued("bytes/s", "throughput_bytes_per_s"), d.againstFirst(against, by)}
	for _, other := range []string{"acked_per_s", "delivered_per_s"} {
		if other != by && by != throughputFigure {
			columns = append(columns, valued(columnOf(other), other))
		}
	}
	return columns
}

// throughputFigure is what a run reached at what it was made for.
const throughputFigure = "throughput_per_s"

// columnOf heads a column of a figure.
func columnOf(name string) string {
	if name == throughputFigure {
		return "records/s"
	}
	f := figureCalled(name)
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
func (d *CampaignDocument) most() (AnswerTable, string) {
	columns := append(d.throughputColumns("÷ first", cmp.Or(d.by.Name, throughputFigure)),
		valued("e2e response time p50", "e2e_response_time_p50"), valued("e2e response time p99", "e2e_response_time_p99"))
	table := d.tabulate(append(columns, costColumns()...)...)
	var clauses []string
	table.Notes = d.variantNotes()
	parts, separated := d.byVariant(), ", "
	if len(parts) == 1 {
		separated = "; "
	}
	for _, part := range parts {
		clauses = append(clauses, part.prefix+part.cells.mostOf(separated))
	}
	return table, phrases(clauses)
}

// A part of a campaign is the cells of one variant.
type campaignPart struct {
	prefix string
	cells  *CampaignDocument // with these cells alone, ranked by what they can differ in
}

// byVariant are the parts of a campaign of variants and of something else; a campaign
// that has not both is one part.
func (d *CampaignDocument) byVariant() (parts []campaignPart) {
	at := d.variantsAt()
	if at < 0 {
		return []campaignPart{{"", d}}
	}
	for _, value := range d.Axes[at].Values {
		part := *d
		part.Cells = slices.DeleteFunc(slices.Clone(d.Cells), func(c CellDocument) bool { return at >= len(c.Values) || c.Values[at] != value })
		part.Axes = slices.Delete(slices.Clone(d.Axes), at, at+1)
		for i := range part.Cells { // the clause has said which variant it is of
			part.Cells[i].Values = slices.Delete(slices.Clone(part.Cells[i].Values), at, at+1)
			part.Cells[i].label = strings.Join(part.Cells[i].Values, ", ")
		}
		by := throughputFigure
		if open := part.of("offered_per_s"); open {
			by = primaryName
		}
		parts = append(parts, campaignPart{value + ": ", part.rankedOtherwise(by)})
	}
	return parts
}

// rankedOtherwise is the campaign with its cells ranked by a figure.
func (d *CampaignDocument) rankedOtherwise(by string) *CampaignDocument {
	other := *d
	other.by, other.Cells = figureCalled(by), slices.Clone(d.Cells)
	for i := range other.Cells {
		c := &other.Cells[i]
		c.Figures = maps.Clone(c.Figures)
		if r := c.of(by); r.N > 0 {
			c.Figures[by] = r
		}
	}
	return &other
}

// variantNotes explain what the cells of a campaign of unlike variants are held against.
func (d *CampaignDocument) variantNotes() []string {
	if d.variantsAt() < 0 {
		return nil
	}
	return []string{"Each variant does something else: a figure is divided by that of the first scenario of the same variant, if that is valid."}
}

// of tells whether a cell has a figure.
func (d *CampaignDocument) of(name string) bool {
	return slices.ContainsFunc(d.Cells, func(c CellDocument) bool { return c.of(name).N > 0 })
}

// mostOf is the clauses of cells that are alike, separated like this. A cell that did not
// read all that was there is named and not ranked: its client may have paused, so its
// figure need not be its speed.
func (d *CampaignDocument) mostOf(separated string) string {
	var notRanked []string
	ranked := slices.DeleteFunc(d.ranked(), func(c CellDocument) bool {
		if c.partlyRead() {
			notRanked = append(notRanked, d.said(c.label)+" is not ranked: it did not read all")
		}
		return c.partlyRead()
	})
	if len(ranked) == 0 {
		return cmp.Or(strings.Join(notRanked, separated), "no valid run tells what it reached")
	}
	head, rest := d.bestOf(ranked)
	clauses := []string{head}
	for _, other := range rest {
		part := "reached %s of that"
		if d.by.Better == figure.Lower {
			part = "has %s times that"
		}
		clauses = append(clauses, d.said(other.name)+" "+fmt.Sprintf(part, quotient(other.B, other.A)))
	}
	if last := d.lastNearBest(ranked); last != "" {
		clauses = append(clauses, last)
	}
	return strings.Join(append(clauses, notRanked...), separated)
}

// bestOf says which of ranked cells is the best, and from which of the others it is not
// told apart.
func (d *CampaignDocument) bestOf(ranked []CellDocument) (head string, rest []contender) {
	reached, side := "reached the most", "highest"
	switch {
	case d.by.Better == figure.Lower:
		reached, side = "has the lowest "+d.by.Title, "lowest"
	case d.by.Name != throughputFigure:
		reached = "has the highest " + columnOf(d.by.Name)
	}
	best := ranked[0].Figures[d.by.Name]
	head = fmt.Sprintf("%s %s, %s", d.said(ranked[0].label), reached, best.bounded(d.by))
	if len(ranked) == 1 {
		return head + ", and there is nothing to hold it against", nil
	}
	rest = d.against(ranked)
	var alike []string
	for _, other := range rest {
		if other.Word != WordWorse && best.N > 1 {
			alike = append(alike, d.said(other.name))
		}
	}
	if len(alike) > 0 {
		head = fmt.Sprintf("the %s median is that of %s, %s, which is not told apart from %s", side, d.said(ranked[0].label), best.bounded(d.by), layout.Enumerate(alike))
	}
	return head, rest
}

// nearBest is how much less than the best a rate may be that has not fallen.
const nearBest = 0.1

// lastNearBest says up to where along a numeric axis the rate stays near the best; "" where
// the cells do not lie along one.
func (d *CampaignDocument) lastNearBest(ranked []CellDocument) string {
	if len(d.Axes) != 1 || len(ranked) < 2 || d.by.Better != figure.Higher {
		return ""
	}
	best, last := ranked[0].Figures[d.by.Name].summary.Median, 0
	highest, reach := math.Inf(-1), math.Inf(-1)
	for i, cell := range ranked {
		at, err := strconv.ParseFloat(strings.Join(cell.Values, ""), 64)
		if err != nil {
			return ""
		}
		highest = max(highest, at)
		if cell.Figures[d.by.Name].summary.Median >= (1-nearBest)*best && at > reach {
			last, reach = i, at
		}
	}
	name := d.said(ranked[last].label)
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
func (d *CampaignDocument) scaled() (what string, by []float64) {
	for _, path := range scales {
		by := make([]float64, len(d.Cells))
		differ, whole := false, true
		for i := range d.Cells {
			n, err := strconv.ParseFloat(d.Cells[i].setting(path), 64)
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
func (d *CampaignDocument) scaling() (AnswerTable, string) {
	const name = throughputFigure
	what, by := d.scaled()
	efficiency := answerColumn{"efficiency", func(c *CellDocument) string {
		text, _ := d.efficiency(c, by)
		return text
	}}
	unconfined := answerColumn{"÷ unconfined", func(c *CellDocument) string {
		free := d.unconfined(c)
		if free == nil {
			return absent
		}
		return c.mark(c.of(name), quotient(c.of(name), free.of(name)))
	}}
	columns := append(d.throughputColumns("speed-up", name), efficiency, unconfined, valued("confined process's CPU, cores", "consumer_cpu_cores"))
	table := d.tabulate(append(columns, costColumns()...)...)
	first := d.first()
	if first == nil || first.of(name).N == 0 {
		return table, "the first scenario has no throughput in a valid run, so there is nothing to scale from."
	}
	clauses := []string{fmt.Sprintf("%s reached %s%s", d.said(first.label), first.of(name).bounded(figureCalled(name)), bottleneckClause(first))}
	for _, cell := range d.validCells() {
		if cell.label == first.label {
			continue
		}
		if free := d.unconfined(cell); free != nil {
			clauses = append(clauses, fmt.Sprintf("%s, confined to %s, reached %s times what %s did%s", d.said(cell.label), coresOf(cell),
				quotient(cell.of(name), free.of(name)), d.said(free.label), bottleneckClause(cell)))
			continue
		}
		clause := fmt.Sprintf("%s reached %s times what %s did", d.said(cell.label), quotient(cell.of(name), first.of(name)), d.said(first.label))
		if text, more := d.efficiency(cell, by); more {
			clause += fmt.Sprintf(" with %s times the %s, an efficiency of %s", decimals(d.more(cell, by), 1), what, text)
		}
		clauses = append(clauses, clause+bottleneckClause(cell))
	}
	return table, phrases(clauses) + d.tooShort()
}

// shortestScaled is the measured window below which a throughput says as much of how
// reading begins and ends as of how it goes on.
const shortestScaled = 1e9 // ns

// tooShort warns of cells that were measured too shortly for an efficiency; "" of none.
func (d *CampaignDocument) tooShort() string {
	var short []string
	for _, cell := range d.validCells() {
		if slices.ContainsFunc(cell.sample.runs, func(r *result.Recorded) bool { return window(&r.Run) < shortestScaled }) {
			short = append(short, d.said(cell.label))
		}
	}
	if len(short) == 0 {
		return ""
	}
	return fmt.Sprintf(" The measured window of %s is shorter than a second, too short for an efficiency to be relied on: fill more.", layout.Enumerate(short))
}

// bottleneckClause names what kept a cell from more; "" where nobody says.
func bottleneckClause(c *CellDocument) string {
	switch b := c.bottleneck(); b {
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
func (d *CampaignDocument) more(c *CellDocument, by []float64) float64 {
	for i := range by {
		if d.Cells[i].Name == c.Name {
			return by[i]
		}
	}
	return 0
}

// efficiency is the speed-up ÷ what a cell has more than the first; it says something
// of a cell that has.
func (d *CampaignDocument) efficiency(c *CellDocument, by []float64) (text string, more bool) {
	const name = throughputFigure
	times := d.more(c, by)
	first := d.first()
	if times == 0 || d.confinedOtherwise(c) || first == nil || c.of(name).N == 0 || first.of(name).N == 0 {
		return absent, false
	}
	speedUp := c.of(name).summary.Median / first.of(name).summary.Median
	return wholePercent(speedUp / times), times != 1
}

// confinedOtherwise tells whether a cell has another share of the processors than the
// first, where something else is scaled: then the speed-up is of both.
func (d *CampaignDocument) confinedOtherwise(c *CellDocument) bool {
	what, _ := d.scaled()
	first := d.first()
	return what != "cpu" && first != nil && c.setting(consumerShare) != first.setting(consumerShare)
}

// consumerShare is the setting that confines consumers to a share of the processors.
const consumerShare = "consume.cpu"

// coresOf says how much of the processors a cell's consumers have.
func coresOf(c *CellDocument) string {
	switch cores := c.setting(consumerShare); cores {
	case "", absent:
		return "another share of the processors"
	case "1":
		return "1 core"
	default:
		return cores + " cores"
	}
}

// unconfined is the valid cell that differs from one that is confined otherwise in
// nothing that is scaled but the share of the processors; nil where there is none.
func (d *CampaignDocument) unconfined(c *CellDocument) *CellDocument {
	if !d.confinedOtherwise(c) {
		return nil
	}
	for _, other := range d.validCells() {
		alike := func(path string) bool { return path == consumerShare || c.setting(path) == other.setting(path) }
		if !d.confinedOtherwise(other) && !slices.ContainsFunc(scales, func(path string) bool { return !alike(path) }) {
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
