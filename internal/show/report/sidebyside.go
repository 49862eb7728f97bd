package report

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// SideBySide writes several runs: a table with a column for each name, sentences on the findings,
// and each lag over time on one scale. A name with several runs has the median and the range.
func SideBySide(w io.Writer, runs []*result.Recorded, o Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	PrintPictures(p, printSeveral(p, runs))
	return p.Print(w)
}

// Several returns the parts of SideBySide's report, without its pictures.
func Several(runs []*result.Recorded) []layout.Section {
	p := layout.NewPage(0, false)
	printSeveral(p, runs)
	return p.Sections()
}

func printSeveral(p *layout.Page, runs []*result.Recorded) (compared []analysis.Variant) {
	compared = analysis.Variants(runs)
	PrintSideBySide(p, compared)
	PrintExpected(p, Judge(runs))
	printFootnotes(p, runs)
	p.Heading("What it shows", "")
	for _, sentence := range Findings(compared) {
		p.Item(layout.Plain, sentence)
	}
	return compared
}

// A comparedRow has a reading or a figure.
type comparedRow struct {
	label   string
	full    string // the label without indentation; "" means label
	reading analysis.Reading
	figure  figure.Figure
	format  func(float64) string
	rare    bool // left out if it is 0 in all runs
}

func comparedRows(all []analysis.Variant) []comparedRow {
	rows := []comparedRow{
		{label: "offered", reading: analysis.OfferedPerS, format: unit.PerSecond},
		{label: "scheduled", reading: analysis.Scheduled, format: records},
		{label: "  admitted, of scheduled", reading: analysis.AdmittedShare, format: unit.Percent},
		{label: "  shed", reading: analysis.Shed, format: records},
		{label: "  shed, of scheduled", reading: analysis.ShedShare, format: unit.Percent},
	}
	rows = append(rows, reasonRows(all)...)
	rows = append(rows,
		comparedRow{label: "  deferred, peak", figure: analysis.FigureCalled("deferred_peak"), format: records,
			rare: true},
		comparedRow{label: "  deferred at the end", reading: analysis.Deferred, format: records},
		comparedRow{label: "acked", reading: analysis.AckedPerS, format: unit.PerSecond},
		comparedRow{label: "delivered", figure: analysis.FigureCalled("delivered_per_s"), format: unit.PerSecond},
	)
	if analysis.UnderBackpressure(all) {
		rows = append(rows, comparedRow{label: "  ÷ without backpressure", full: "delivered ÷ without backpressure",
			figure: figure.DeliveredOfOff(analysis.References(all)), format: unit.Percent})
	}
	return append(rows,
		comparedRow{label: "consumers busy", reading: analysis.Utilisation, format: unit.Percent},
		comparedRow{label: "delivered ÷ acked, in the window", figure: analysis.FigureCalled("delivered_to_acked_ratio"),
			format: unit.Percent},
		comparedRow{label: "delivered ÷ scheduled", reading: analysis.DeliveredPart, format: unit.Percent},
		comparedRow{label: "lost", reading: analysis.LostRecords, format: records},
		comparedRow{label: "duplicates", figure: analysis.FigureCalled("duplicates"), format: records, rare: true},
		comparedRow{},
		comparedRow{label: "consumer lag peak, records", reading: analysis.PeakLag, format: records},
		comparedRow{label: "  ÷ max_lag", full: "consumer lag peak ÷ max_lag", reading: analysis.PeakLagOfBound,
			format: times},
		comparedRow{label: "  ÷ max_lag, at the least", full: "consumer lag peak ÷ max_lag, at the least",
			reading: analysis.AtLeastOfBound, format: times},
		comparedRow{label: "  bound, lowest", figure: analysis.FigureCalled("bound_min"), format: records},
		comparedRow{label: "  bound, highest", figure: analysis.FigureCalled("bound_max"), format: records},
		comparedRow{label: "time lag peak", figure: analysis.FigureCalled("time_lag_peak"), format: nanos},
		comparedRow{label: "drained in time", reading: analysis.Drained, format: yesNo},
		comparedRow{label: "settling, slowest change", figure: analysis.FigureCalled("settling_time"), format: tenths},
		comparedRow{},
		comparedRow{label: "e2e response p50, admitted", figure: analysis.FigureCalled("e2e_response_time_p50"),
			format: nanos},
		comparedRow{label: "e2e response p90, admitted", figure: analysis.FigureCalled("e2e_response_time_p90"),
			format: nanos},
		comparedRow{label: "e2e response p99, admitted", figure: analysis.FigureCalled("e2e_response_time_p99"),
			format: nanos},
		comparedRow{label: "e2e response p99.9, admitted", figure: analysis.FigureCalled("e2e_response_time_p99_9"),
			format: nanos},
		comparedRow{label: "e2e service p99, admitted", figure: analysis.FigureCalled("e2e_service_time_p99"),
			format: nanos},
		comparedRow{label: "e2e p99 ÷ target", figure: analysis.P99OfTarget, format: times},
		comparedRow{label: "send response p99, admitted", figure: analysis.FigureCalled("send_response_time_p99"),
			format: nanos},
		comparedRow{label: "send service p99, admitted", figure: analysis.FigureCalled("send_service_time_p99"),
			format: nanos},
		comparedRow{label: "gate closed, of the window", reading: analysis.GateClosed, format: unit.Percent},
		comparedRow{label: "lag not known", figure: analysis.FigureCalled("blind_time"), format: nanos, rare: true},
	)
}

func reasonRows(all []analysis.Variant) (rows []comparedRow) {
	for _, reason := range shedReasons {
		row := comparedRow{label: "    " + reason.short, full: "shed " + reason.short,
			figure: analysis.FigureCalled(reason.figure), format: records, rare: true}
		if !row.blank(all) {
			rows = append(rows, row)
		}
	}
	if len(rows) < 2 {
		return nil
	}
	return rows
}

func (row comparedRow) of(v analysis.Variant) analysis.Spread {
	if row.reading != nil {
		return v.Of(row.reading)
	}
	return v.Figure(row.figure)
}

// A rare row is blank if it is 0 in all runs.
func (row comparedRow) blank(all []analysis.Variant) bool {
	for _, v := range all {
		if s := row.of(v); s.N > 0 && (!row.rare || s.Top > 0) {
			return false
		}
	}
	return true
}

func records(v float64) string { return unit.Count(int64(v + 0.5)) }

func nanos(v float64) string { return unit.Nanos(int64(v)) }

func times(v float64) string { return unit.Decimals(v, 2) + " ×" }

func yesNo(v float64) string {
	if v >= 0.5 {
		return "yes"
	}
	return "no"
}

// PrintSideBySide prints the tables of variants, each with as many columns as fit
// the width.
func PrintSideBySide(p *layout.Page, compared []analysis.Variant) {
	rows := comparedRows(compared)
	p.Record(layout.Block{Kind: layout.BlockTable, Table: oneTable(compared), Heads: 1})
	for i, block := range blocks(compared, rows, p.Width) {
		if i > 0 {
			p.Line()
		}
		t := tableOf(block, rows)
		for i, line := range t.Text() {
			if i == 0 {
				line = p.Paint(layout.Bold, line)
			}
			p.Line(strings.ReplaceAll(line, notValid, p.Paint(layout.Red, notValid)))
		}
	}
	if len(compared) > 0 {
		p.Text(0, repeats(compared))
	}
	for _, note := range append(boundNotes(compared), referenceNotes(compared)...) {
		p.Text(0, note)
	}
}

func boundNotes(compared []analysis.Variant) []string {
	var names []string
	for _, v := range compared {
		if v.Figure(analysis.FigureCalled("bound_max")).N > 0 && analysis.Estimates(v.Runs[0].Run.Backpressure) {
			names = append(names, v.Name)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return []string{"The bound of " + layout.Enumerate(names) +
		" is of the backlog as estimated between commits, not of the consumer lag."}
}

// MarkdownSideBySide writes one table with a column for each variant, and medians
// with their ranges.
func MarkdownSideBySide(m *layout.Markdown, compared []analysis.Variant) {
	t := oneTable(compared)
	for i, row := range t.Rows {
		t.Rows[i][0] = layout.Prose(row[0])
	}
	m.Table(t)
	m.Paragraph(layout.Prose(strings.Join(slices.Concat([]string{repeats(compared)}, boundNotes(compared),
		referenceNotes(compared)), " ")))
}

func oneTable(compared []analysis.Variant) (t layout.Table) {
	rows := comparedRows(compared)
	for i := range rows {
		rows[i].label = cmp.Or(rows[i].full, rows[i].label)
	}
	plain := tableOf(compared, rows)
	for i := 0; i < len(plain.Rows); i++ {
		row := slices.Clone(plain.Rows[i])
		if len(row) == 0 {
			continue
		}
		row[0] = strings.TrimSpace(row[0])
		if i+1 < len(plain.Rows) && len(plain.Rows[i+1]) > 0 && plain.Rows[i+1][0] == "" {
			i++
			for c, extent := range plain.Rows[i][1:] {
				if extent != "" {
					row[c+1] += " (" + extent + ")"
				}
			}
		}
		t.Add(row...)
	}
	return t
}

func tableOf(block []analysis.Variant, rows []comparedRow) layout.Table {
	head, verdicts, systems := []string{""}, []string{"verdict"}, []string{"system"}
	for _, v := range block {
		head = append(head, v.Name)
		verdicts = append(verdicts, verdictOf(v))
		systems = append(systems, system(v))
	}
	t := layout.Table{Gap: 3, Rows: [][]string{head, verdicts, systems}}
	for _, row := range rows {
		if row.format == nil {
			if len(t.Rows[len(t.Rows)-1]) > 0 { // no gap for a group without rows
				t.Add()
			}
			continue
		}
		if row.blank(block) {
			continue
		}
		medians, ranges, differ := []string{row.label}, []string{""}, false
		for _, v := range block {
			median, extent := cells(row.of(v), row.format)
			medians, ranges = append(medians, median), append(ranges, extent)
			differ = differ || extent != ""
		}
		t.Add(medians...)
		if differ {
			t.Add(ranges...)
		}
	}
	return t
}

func blocks(all []analysis.Variant, rows []comparedRow, width int) [][]analysis.Variant {
	var split [][]analysis.Variant
	for _, v := range all {
		last := len(split) - 1
		if last >= 0 && fits(append(slices.Clone(split[last]), v), rows, width) {
			split[last] = append(split[last], v)
			continue
		}
		split = append(split, []analysis.Variant{v})
	}
	return split
}

func fits(block []analysis.Variant, rows []comparedRow, width int) bool {
	t := tableOf(block, rows)
	for _, line := range t.Text() {
		if layout.Columns(line) > width {
			return false
		}
	}
	return true
}

func cells(s analysis.Spread, format func(float64) string) (median, extent string) {
	if s.N == 0 {
		return unit.Absent, ""
	}
	shown := func(v float64, of func(analysis.Spread) float64) string {
		switch {
		case !math.IsInf(v, 1):
			return format(v)
		case s.Least != nil && of(*s.Least) > 0:
			return "> " + format(of(*s.Least))
		}
		return unit.Absent
	}
	median = shown(s.Median, func(s analysis.Spread) float64 { return s.Median })
	if s.ClockError > 0 { // only times have it
		median = medianClocked(s)
	}
	low, top := shown(s.Low, func(s analysis.Spread) float64 { return s.Low }), shown(s.Top,
		func(s analysis.Spread) float64 { return s.Top })
	if low == top {
		return median, ""
	}
	// If both have the same unit, only the second shows it.
	if number, suffix, found := strings.Cut(low, " "); found && strings.HasSuffix(top, " "+suffix) {
		low = number
	}
	return median, strings.TrimSuffix(low, "/s") + ".." + top
}

func medianClocked(s analysis.Spread) string {
	least := 0.0
	if s.Least != nil {
		least = s.Least.Median
	}
	return figure.Figure{Kind: figure.Nanoseconds}.FormatClocked(s.Median, least, s.ClockError)
}

const notValid = "INVALID"

func verdictOf(v analysis.Variant) string {
	switch {
	case len(v.Runs) == 0:
		return notValid
	case v.Valid == v.All && v.All == 1:
		return Standing(&v.Runs[0].Run)
	case v.Valid == v.All:
		return fmt.Sprintf("%s, all %d", standingOf(v.Runs), v.All)
	case v.Valid == 0:
		return notValid
	}
	return fmt.Sprintf("%d of %d valid", v.Valid, v.All)
}

func standingOf(runs []*result.Recorded) string {
	word := Standing(&runs[0].Run)
	for _, r := range runs[1:] {
		if Standing(&r.Run) != word {
			return result.Valid + " or " + word
		}
	}
	return word
}

// If the statuses of a name's runs differ, system is the worst, with the number of runs that have
// it.
func system(v analysis.Variant) string {
	worst, n := "", 0
	for _, r := range v.Runs {
		switch status := statusOf(&r.Run); {
		case n == 0 || outcome.Worse(status, worst):
			worst, n = status, 1
		case status == worst:
			n++
		}
	}
	switch n {
	case 0:
		return unit.Absent
	case len(v.Runs):
		return worst
	}
	return fmt.Sprintf("%s, %d of %d", worst, n, len(v.Runs))
}

func repeats(block []analysis.Variant) string {
	most := slices.MaxFunc(block, func(a, b analysis.Variant) int { return a.All - b.All })
	if most.All == 1 {
		return "One run of each. Repeat them before a claim is made of a difference."
	}
	return "The median of the valid runs of each name, and lowest..highest below it."
}

func referenceNotes(compared []analysis.Variant) (notes []string) {
	if !analysis.UnderBackpressure(compared) {
		return nil
	}
	found := analysis.References(compared)
	against := map[string][]string{}
	var order, without []string
	for _, v := range compared {
		if !v.Held() || v.Valid == 0 {
			continue
		}
		reference, known := found[&v.Runs[0].Run]
		if !known {
			without = append(without, v.Name)
			continue
		}
		text := fmt.Sprintf("%s (%s), which differs in %s", called(compared, v, reference.Name),
			unit.PerSecond(reference.DeliveredPerS),
			layout.Enumerate(append([]string{"backpressure"}, reference.Differs...)))
		if len(reference.Differs) == 0 {
			text += " alone"
		}
		if against[text] == nil {
			order = append(order, text)
		}
		against[text] = append(against[text], v.Name)
	}
	for _, text := range order {
		notes = append(notes, "÷ without backpressure: "+layout.Enumerate(against[text])+" against "+text+".")
	}
	if len(without) > 0 {
		notes = append(notes,
			"÷ without backpressure: no valid run here offered the same to the same consumers as "+layout.Enumerate(without)+" and let it through.")
	}
	return notes
}

// called returns the name of the variant whose runs have the given name and were made by the same
// number and placement of agents as those of v.
func called(compared []analysis.Variant, v analysis.Variant, name string) string {
	for _, other := range compared {
		if len(other.Runs) > 0 && other.Runs[0].Run.Run.Name == name && other.Runs[0].Run.Fleet() == v.Runs[0].Run.Fleet() {
			return other.Name
		}
	}
	return name
}
