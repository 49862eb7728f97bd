package answers

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

type column struct {
	head string
	text func(*analysis.Cell) string
}

func valued(head, name string) column {
	f := analysis.FigureCalled(name)
	return column{head, func(c *analysis.Cell) string {
		r := c.Of(name)
		if r.N == 0 {
			return unit.Absent
		}
		return CellMark(c, r, r.Bounded(f))
	}}
}

func summed(head, name string) column {
	f := analysis.FigureCalled(name)
	return column{head, func(c *analysis.Cell) string {
		sum, known := c.Sum(name)
		if !known {
			return unit.Absent
		}
		return f.Format(sum)
	}}
}

func limited() column {
	return column{"bottleneck", func(c *analysis.Cell) string {
		_, text := cellBottleneck(c)
		return cmp.Or(text, unit.Absent)
	}}
}

func tabulate(d *analysis.Study, columns ...column) Answer {
	t := Answer{Table: layout.Table{Left: map[int]bool{}, Rows: make([][]string, len(d.Cells)+1)}}
	t.Rows[0] = []string{cmp.Or(analysis.CellsHead(d), "scenario"), "runs"}
	for i := range d.Cells {
		t.Rows[i+1] = []string{d.Cells[i].Label, CellRuns(&d.Cells[i])}
		if d.Cells[i].PartlyRead() {
			t.Rows[i+1][1] += ", not read out"
		}
	}
	for _, column := range columns {
		texts, says := make([]string, len(d.Cells)), false
		for i := range d.Cells {
			texts[i] = column.text(&d.Cells[i])
			says = says || texts[i] != unit.Absent
		}
		if !says {
			continue
		}
		t.Left[len(t.Rows[0])] = column.head == limited().head
		t.Rows[0] = append(t.Rows[0], column.head)
		for i, text := range texts {
			t.Rows[i+1] = append(t.Rows[i+1], text)
		}
	}
	return t
}

// cellBottleneck names the most frequent bottleneck of the cell's runs, with its saturation; "" if
// no run names one.
func cellBottleneck(d *analysis.Cell) (most, text string) {
	named := map[string][]float64{}
	var order []string
	for _, r := range d.Sample.Taken {
		if b := r.Run.Bottleneck; b != nil {
			if named[b.Resource] == nil {
				order = append(order, b.Resource)
			}
			named[b.Resource] = append(named[b.Resource], b.Saturation)
		}
	}
	for _, resource := range order {
		if most == "" || len(named[resource]) > len(named[most]) {
			most = resource
		}
	}
	if most == "" {
		return "", ""
	}
	text = most
	if most != offeredLoad && most != notKnown {
		text += " " + unit.WholePercent(analysis.FromValues(named[most]).Summary.Median)
	}
	if n := len(d.Sample.Taken); len(named[most]) < n {
		text += fmt.Sprintf(" (%d of %d runs)", len(named[most]), n)
	}
	return most, text
}

// Names of package bottleneck; the first two are for no resource.
const (
	offeredLoad = "offered load"
	notKnown    = "not known"
	fullDisk    = "disk"
)

func quotient(r, base analysis.Repeated) string {
	if r.N == 0 || base.N == 0 || base.Summary.Median == 0 || math.IsInf(base.Summary.Median, 1) {
		return unit.Absent
	}
	if math.IsInf(r.Summary.Median, 1) {
		return "> " + unit.Factor(r.Least.Median/base.Summary.Median)
	}
	e := ratio(r, base)
	text := unit.Factor(e.Value)
	if !math.IsNaN(e.Low) {
		text += fmt.Sprintf(" (%s..%s)", unit.Factor(e.Low), unit.Factor(e.High))
	}
	return text
}

// ratio divides the values of r by those of base. If a value is 0 or only a lower bound, it divides
// the medians and has no bounds.
func ratio(r, base analysis.Repeated) stats.Estimate {
	e := stats.Ratio(base.Values, r.Values, analysis.DefaultAlpha)
	if math.IsNaN(e.Value) {
		e.Value = r.Summary.Median / base.Summary.Median
	}
	return e
}

func againstFirst(d *analysis.Study, head, name string) column {
	named := slices.ContainsFunc(d.Cells, func(c analysis.Cell) bool { return d.NamedBase(&c) != nil })
	switch {
	case named:
		head = "÷ base"
	case d.VariantsAt() >= 0:
		head += " of variant"
	}
	return column{head, func(c *analysis.Cell) string {
		base := d.Base(c)
		switch {
		case base == nil || base.Valid == 0 || c.PartlyRead() || base.PartlyRead():
			return unit.Absent
		case c.Name == base.Name && c.Of(name).N > 0:
			return "1"
		}
		text := quotient(c.Of(name), base.Of(name))
		if named && text != unit.Absent {
			text += " of " + base.Label
		}
		return CellMark(c, c.Of(name), text)
	}}
}

func throughputColumns(d *analysis.Study, against, by string) []column {
	columns := []column{valued(titleOf(by), by), valued("bytes/s", "throughput_bytes_per_s"),
		againstFirst(d, against, by)}
	for _, other := range []string{"acked_per_s", "delivered_per_s"} {
		if other != by && by != analysis.ThroughputFigure {
			columns = append(columns, valued(titleOf(other), other))
		}
	}
	return columns
}

func titleOf(name string) string {
	if name == analysis.ThroughputFigure {
		return "records/s"
	}
	f := analysis.FigureCalled(name)
	if f.Kind == figure.PerSecond {
		return f.Title + "/s"
	}
	return f.Title
}

func costColumns() []column {
	return []column{
		valued("all clients' CPU, cores", "cpu_cores"),
		valued("brokers' CPU, cores", "broker_cpu_cores"),
		valued("client memory", "rss_peak"),
		valued("disk writes ÷ yardstick", "disk_yardstick_ratio"),
		limited(),
		summed("lost", "lost"),
	}
}

func medianOf(c *analysis.Cell, name string) string {
	return c.Of(name).Bounded(analysis.FigureCalled(name))
}

func worst(head, name string) column {
	f := analysis.FigureCalled(name)
	return column{head, func(c *analysis.Cell) string {
		r := c.Of(name)
		if r.N < 2 {
			return unit.Absent
		}
		return f.Format(r.Summary.Max)
	}}
}

// CellRuns prints the number of runs that a cell's figures come from.
func CellRuns(d *analysis.Cell) string {
	switch all := len(d.Sample.Runs); {
	case all == 0:
		return "none"
	case d.Valid == 0:
		return "none of " + strconv.Itoa(all) + " valid"
	case d.Valid < all:
		return fmt.Sprintf("%d of %d valid", d.Valid, all)
	default:
		return strconv.Itoa(all)
	}
}

// OfInvalid marks the figures of a cell without a valid run.
const OfInvalid = "†"

// CellMark appends OfInvalid to the text of a figure if the cell has no valid run.
func CellMark(d *analysis.Cell, r analysis.Repeated, text string) string {
	if d.Valid > 0 || r.N == 0 {
		return text
	}
	return text + OfInvalid
}

func queueCosts() []column {
	return []column{
		valued("requests of the queue per record", "queue_requests_per_record"),
		valued("broker requests per record", "broker_requests_per_record"),
		valued("broker bytes in per record", "broker_bytes_in_per_record"),
		valued("out", "broker_bytes_out_per_record"),
		valued("written by the queue per record", "queue_written_bytes_per_record"),
		{"CPU of clients and brokers, each record", func(c *analysis.Cell) string {
			each := cpuOfEach(c)
			if each.N == 0 {
				return unit.Absent
			}
			return CellMark(c, each, each.Bounded(figure.Figure{Kind: figure.Nanoseconds}))
		}},
		valued("all clients' CPU, cores", "cpu_cores"), valued("brokers' CPU, cores", "broker_cpu_cores"), limited(),
	}
}

// cpuOfEach is the CPU time of a record in ns, over the runs with the CPU of both clients and
// brokers.
func cpuOfEach(c *analysis.Cell) analysis.Repeated {
	var values []float64
	for _, r := range c.Sample.Taken {
		clients, known := analysis.FigureCalled("cpu_cores").Value(&r.Run)
		brokers, too := analysis.FigureCalled("broker_cpu_cores").Value(&r.Run)
		if acked, is := analysis.FigureCalled("queue_acked_per_s").Value(&r.Run); known && too && is && acked > 0 {
			values = append(values, (clients+brokers)*1e9/acked)
		}
	}
	if len(values) == 0 {
		return analysis.Repeated{}
	}
	return analysis.FromValues(values)
}
