package campaigns

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"kafkabench.example/kafka-bench/internal/measure/stats"
	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/answers"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// Write writes the report of a campaign in the format of o. A campaign without figures is reported
// as far as it got.
func Write(w io.Writer, c *result.RecordedCampaign, o report.Options) error {
	d, err := Analyse(c, o.By)
	if err != nil {
		return err
	}
	return report.Forms{Head: d.Head, Text: d.text, Markdown: d.markdown, Sheets: d.sheets(), Sheet: "campaign",
		Document: d}.Write(w, o)
}

func (d *CampaignDocument) text(w io.Writer, o report.Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	d.print(p)
	if d.pictured() {
		report.PrintPictures(p, d.study.Variants())
	}
	p.Heading("Files", " in "+d.Dir+", and its runs beside it")
	return p.Print(w)
}

// Sections returns the sections of the text, without its pictures.
func (d *CampaignDocument) Sections() []layout.Section {
	p := layout.NewPage(0, false)
	d.print(p)
	return p.Sections()
}

func (d *CampaignDocument) print(p *layout.Page) {
	if d.Campaign.Question != "" {
		p.Labelled("Question", d.Campaign.Question)
	}
	switch {
	case d.Search != nil:
		printSearch(p, d.Search)
		p.Line()
	case d.Answer.Name != "": // the answer is below the answer's table
	default:
		d.Answer.print(p)
		if by := d.Answer.rankedBy(); by != "" {
			p.Labelled("Ranked by", by)
		}
		p.Line()
	}
	p.Text(0, d.state())
	report.PrintExpected(p, d.judged)
	switch all := d.study.Variants(); {
	case d.Search != nil:
	case d.Answer.Name != "":
		printAnswerTable(p, d)
	case analysis.UnderBackpressure(all):
		p.Line()
		report.PrintSideBySide(p, all)
		printCampaignAgainst(p, d)
	default:
		d.cells(p)
		printCampaignAgainst(p, d)
	}
	d.caveats(p)
}

// Variants returns the cells with their finished runs.
func (d *CampaignDocument) Variants() []analysis.Variant { return d.study.Variants() }

// Figures returns the figures of the table of cells, which differ between runs.
func (d *CampaignDocument) Figures() []figure.Figure {
	shown, _ := d.varying()
	return shown
}

const picturedCells = 4

// pictured reports whether the lag of the cells is drawn. Without backpressure, the lag seldom
// differs between the cells of a matrix.
func (d *CampaignDocument) pictured() bool {
	return len(d.Cells) <= picturedCells && d.Search == nil &&
		(len(d.Axes) == 0 || analysis.UnderBackpressure(d.study.Variants()))
}

func (d *CampaignDocument) state() string {
	planned, made, valid, interrupted := 0, 0, 0, 0
	for _, cell := range d.Cells {
		planned, made, valid = planned+cell.Planned, made+len(cell.Runs), valid+cell.Valid
		interrupted += cell.Interrupted
	}
	runs := fmt.Sprintf("%s, %s valid", unit.Things(int64(made), "run"), unit.Count(int64(valid)))
	if made < planned {
		runs = fmt.Sprintf("%s of %s planned runs made, %s valid", unit.Count(int64(made)),
			unit.Count(int64(planned)), unit.Count(int64(valid)))
	}
	if interrupted > 0 {
		runs += fmt.Sprintf(", %s interrupted and left out", unit.Count(int64(interrupted)))
	}
	order := ""
	if len(d.Cells) > 1 && d.Campaign.Repeat > 1 {
		order = d.Campaign.Order
	}
	resume := ""
	if d.Campaign.FinishedAt.IsZero() {
		resume = "NOT FINISHED"
		if d.Campaign.Kind == result.KindRuns {
			resume += ", can be resumed"
		}
	}
	return layout.List(d.Campaign.Name, runs, order, d.Campaign.StartedAt.UTC().Format("2006-01-02 15:04 UTC"),
		"kafka-bench "+d.Campaign.Tool.Version, report.Methods(d.study.Among()), result.LabelText(d.Campaign.Labels), resume)
}

func (d *CampaignDocument) cells(p *layout.Page) {
	shown, same := d.varying()
	if len(shown) > 0 {
		p.Line()
		t, data := d.table(shown)
		p.TableOf(t, headLines, data)
		p.Line()
	}
	for _, line := range d.legend("below them") {
		p.Text(0, line)
	}
	if len(same) > 0 {
		p.Labelled("all alike", layout.List(same...))
	}
}

const (
	headLines   = 3
	headColumns = 12
)

func headOfColumn(title string) [headLines]string {
	var head [headLines]string
	lines := layout.WrapWords(title, headColumns)
	for len(lines) > headLines {
		lines = append(lines[:headLines-1], strings.Join(lines[headLines-1:], " "))
	}
	copy(head[headLines-len(lines):], lines)
	return head
}

func (d *CampaignDocument) varying() (shown []figure.Figure, same []string) {
	for _, f := range d.study.Figures {
		var all []float64
		for _, cell := range d.Cells {
			all = append(all, cell.Figures[f.Name].Values...)
		}
		switch {
		case len(all) == 0:
		case len(d.Cells) > 1 && f.Name != d.study.By.Name && slices.Min(all) == slices.Max(all) &&
			analysis.OnlyBounds(all) == 0:
			same = append(same, f.Title+" "+f.Format(all[0]))
		default:
			shown = append(shown, f)
		}
	}
	return shown, same
}

// table has a row of medians for each cell, and below it a row of bounds if runs were repeated.
func (d *CampaignDocument) table(shown []figure.Figure) (t layout.Table, data map[[2]int]layout.Datum) {
	t, data = layout.Table{Gap: 3}, map[[2]int]layout.Datum{}
	heads := make([][headLines]string, len(shown))
	for i, f := range shown {
		heads[i] = headOfColumn(f.Title)
	}
	for line := range headLines {
		row := []string{headOfColumn(analysis.CellsHead(d.study))[line],
			map[bool]string{true: "runs"}[line == headLines-1]}
		for _, head := range heads {
			row = append(row, head[line])
		}
		t.Add(row...)
	}
	for _, cell := range d.Cells {
		medians, bounds, bounded := []string{cell.Label, answers.CellRuns(&cell.Cell)}, []string{"", ""}, false
		for _, f := range shown {
			r := cell.Figures[f.Name]
			if r.Median != nil {
				data[[2]int{len(t.Rows), len(medians)}] = layout.Datum{Figure: f.Name, Stat: "median", Of: cell.Name,
					Value: *r.Median}
			}
			medians, bounds = append(medians, answers.CellMark(&cell.Cell, r, r.MedianText(f))), append(bounds,
				r.Interval(f))
			bounded = bounded || r.Interval(f) != ""
		}
		t.Add(medians...)
		if bounded {
			t.Add(bounds...)
		}
	}
	return t, data
}

func (d *CampaignDocument) legend(beside string) []string {
	most, least := 0, math.MaxInt
	reached, valid, marked := 1.0, false, false
	for _, cell := range d.Cells {
		valid = valid || cell.Valid > 0
		marked = marked || cell.Valid == 0 && len(cell.Figures) > 0
		for _, r := range cell.Figures {
			most, least = max(most, r.N), min(least, r.N)
			if r.N >= analysis.Fewest {
				reached = min(reached, r.Reached)
			}
		}
	}
	medians := "Medians of the valid runs"
	if marked {
		medians = answers.OfInvalid + " of runs none of which is valid: not to be relied on"
		if valid {
			medians = "Medians of the valid runs, or " + medians
		}
	}
	switch {
	case most == 0:
		return nil
	case most == 1 && marked:
		return []string{"One run of each: no figure here carries a claim, and those marked " + answers.OfInvalid +
			" are of a run that is invalid. Repeat them (repeat: 5)."}
	case most == 1:
		return []string{"One run of each: no figure here carries a claim. Repeat them (repeat: 5)."}
	case most < analysis.Fewest:
		return []string{fmt.Sprintf("%s; %s lowest..highest, which of fewer than %d runs is no interval of the median.", medians, beside, analysis.Fewest)}
	}
	text := fmt.Sprintf("%s; in brackets what bounds the median, with a confidence of %s or more", medians,
		unit.ShortPercent(math.Floor(reached*1000)/1000))
	if least < analysis.Fewest {
		text += fmt.Sprintf("; lowest..highest where runs are fewer than %d", analysis.Fewest)
	}
	return []string{text + "."}
}

func (d *CampaignDocument) caveats(p *layout.Page) {
	sentences, warnings := d.sentences()
	if len(sentences)+len(warnings) == 0 {
		return
	}
	p.Heading("What it shows", "")
	for _, s := range sentences {
		p.Item(layout.Plain, s)
	}
	for _, s := range warnings {
		p.Item(layout.Yellow, s)
	}
}

func (d *CampaignDocument) sentences() (found, warnings []string) {
	if all := d.study.Variants(); d.Search == nil && len(all) > 0 {
		if found = report.Findings(all); d.ofBackpressure() {
			_, found = report.Held(all)
		}
	}
	for i, planned := range d.study.Recorded.Campaign.Runs {
		if planned.Error != "" {
			warnings = append(warnings,
				fmt.Sprintf("Run %d, %s: %s", i+1, d.study.Said(d.Cells[planned.Cell].Label), planned.Error))
		}
	}
	if d.Search == nil {
		for _, cell := range d.Cells {
			for _, w := range cell.Doubts[d.study.By.Name] {
				if w.Bounds == 0 && w.Kind != stats.Few { // the text below the table mentions too few runs once
					warnings = append(warnings,
						fmt.Sprintf("%s, %s: %s.", d.study.Said(cell.Label), d.study.By.Title, doubtText(w)))
				}
			}
		}
	}
	if d.Search == nil {
		warnings = append(warnings, d.warned()...)
	}
	warnings = append(warnings, report.Footnotes(d.study.Recorded.Runs)...)
	return found, append(warnings, d.Notes...)
}

var digits = regexp.MustCompile(`[0-9][0-9.,]*`)

// warned returns the warnings of the runs that figures are taken from, each once, with their
// scenarios. Of warnings that differ only in numbers, it returns the worst.
func (d *CampaignDocument) warned() (warnings []string) {
	type warning struct {
		text   string
		of     []string
		differ bool // in their numbers
	}
	var all []*warning
	seen := map[string]*warning{}
	for _, v := range d.study.Variants() {
		for _, r := range v.Runs {
			for _, text := range r.Run.Verdict.Warnings {
				key := digits.ReplaceAllString(text, "0")
				w, known := seen[key]
				if !known {
					w = &warning{text: text}
					seen[key], all = w, append(all, w)
				}
				w.differ = w.differ || text != w.text
				if extent(text) > extent(w.text) {
					w.text = text
				}
				if !slices.Contains(w.of, v.Name) {
					w.of = append(w.of, v.Name)
				}
			}
		}
	}
	for _, w := range all {
		of := layout.EnumerateSome(w.of)
		if len(w.of) == len(d.Cells) && len(w.of) > 1 {
			of = "All"
		}
		if w.differ {
			of += ", at worst"
		}
		warnings = append(warnings, of+": "+w.text+".")
	}
	return warnings
}

// measuredNumber matches a number with a unit: the 3.1 of "partition 86 had no acknowledgement for
// 3.1 s", not the 86.
var measuredNumber = regexp.MustCompile(`([0-9][0-9.,]*)( ?%| ?(?:ns|µs|ms|s|m|h|B|kB|MB|GB)\b| records?\b)`)

// extent is the first measured number of a warning, 0 without one. Warnings that are compared have
// the same unit.
func extent(warning string) float64 {
	found := measuredNumber.FindStringSubmatch(warning)
	if found == nil {
		return 0
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(found[1], ",", ""), 64)
	if err != nil {
		return 0
	}
	return v
}

func printAnswerTable(p *layout.Page, d *CampaignDocument) {
	if d.Table != nil {
		p.Line()
		t := layout.Table{Gap: 2, Left: map[int]bool{}, Rows: d.answered.Rows}
		for i := range t.Rows[0] {
			t.Left[i] = true
		}
		p.Table(t, 1)
		p.Line()
		for _, line := range append(d.legend("in parentheses"), d.Table.Notes...) {
			p.Text(0, line)
		}
	}
	p.Line()
	d.Answer.print(p)
}

func (a *Answer) print(p *layout.Page) {
	if len(a.Points) == 0 {
		p.Styled(layout.Bold, "Answer", a.Sentence)
		return
	}
	p.Styled(layout.Bold, "Answer", a.Points[0])
	for _, point := range a.Points[1:] {
		p.Item(layout.Plain, point)
	}
}
