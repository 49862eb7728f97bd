package compared

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// History is the runs of one configuration over time. It is their JSON document.
type History struct {
	report.Head
	analysis.History
}

// HistoryOf returns the document of a history.
func HistoryOf(h *analysis.History) *History {
	d := &History{Head: report.NewHead(report.KindHistory, h.Figures), History: *h}
	d.Head.NamedTwice = h.NamedTwice
	return d
}

// Write writes the history in the format of o.
func (h *History) Write(w io.Writer, o report.Options) error {
	return report.Forms{Head: h.Head, Text: h.text, Markdown: h.markdown,
		Sheets: report.Sheets{"history": h.table, "changes": h.changeSheet}, Sheet: "history", Document: h}.Write(w, o)
}

// fewestForChange is the number of runs below which stats.ChangePoints finds no change.
const fewestForChange = 10

// seriesSummary says that changes of less than least × the level before were not looked for.
func seriesSummary(s *analysis.Series, least float64) string {
	of := ""
	if least > 0 {
		of = " of " + unit.ShortPercent(least) + " or more"
	}
	if len(s.Values) == 0 {
		return s.Of.Title + ": no run has it."
	}
	if n := len(s.Values); n < fewestForChange {
		return fmt.Sprintf("%s: %d runs are needed to show a change at all; there %s %d.", s.Of.Title,
			fewestForChange, map[bool]string{true: "is", false: "are"}[n == 1], n)
	}
	if len(s.Changes) == 0 {
		return fmt.Sprintf("%s: no change%s is shown over %s.", s.Of.Title, of,
			unit.Things(int64(len(s.Values)), "run"))
	}
	last := s.Changes[len(s.Changes)-1]
	return fmt.Sprintf("%s: %s%s in %s; the last made it %s, from %s to %s (%s).", s.Of.Title,
		unit.Things(int64(len(s.Changes)), "change"), of, unit.Things(int64(len(s.Values)), "run"), last.Word,
		s.Of.Format(last.Change.Before), s.Of.Format(last.Change.After), levelChange(&last))
}

func levelChange(c *analysis.LevelChange) string {
	if c.Difference == nil {
		return "from 0"
	}
	return Difference(*c.Difference)
}

func (h *History) text(w io.Writer, o report.Options) error {
	p := layout.NewPage(o.Width, o.Colour)
	h.print(p)
	return p.Print(w)
}

// Sections returns the sections of the text.
func (h *History) Sections() []layout.Section {
	p := layout.NewPage(0, false)
	h.print(p)
	return p.Sections()
}

func (h *History) print(p *layout.Page) {
	for i := range h.Series {
		p.Painted(layout.Bold, 0, seriesSummary(&h.Series[i], h.MinChange))
	}
	first, last := h.Runs[0], h.Runs[len(h.Runs)-1]
	p.Line()
	p.Text(0, layout.List(last.Name, unit.Things(int64(len(h.Runs)), "run"),
		between(first.StartedAt, last.StartedAt, time.DateOnly), "times in UTC", "configuration "+h.Configuration))
	for i := range h.Series {
		printSeries(p, h, &h.Series[i])
	}
	for _, note := range h.notes() {
		p.Item(layout.Yellow, note)
	}
	if rest := h.notShown(); len(rest) > 0 {
		p.Heading("Not shown", "")
		for _, text := range rest {
			p.Item(layout.Plain, text)
		}
	}
}

func (h *History) notes() []string {
	notes := append(report.Footnotes(h.Recorded), h.onlyBounds()...)
	if h.LatestLeftOut {
		notes = append(notes, h.LeftOut[len(h.LeftOut)-1]+", the latest run, is invalid or did not finish: it is not in this history.")
	}
	if h.NoDefault != "" {
		notes = append(notes, fmt.Sprintf("%s is not shown: %s; --figure follows another figure.", analysis.PrimaryName, h.NoDefault))
	}
	if note := h.undated(); note != "" {
		notes = append(notes, note)
	}
	return notes
}

func (h *History) notShown() (rest []string) {
	if n := len(h.LeftOut); n > 0 {
		rest = append(rest, unit.Things(int64(n), "run")+", invalid or not finished")
	}
	for _, other := range h.Others {
		var parts []string
		for _, d := range other.Differences {
			parts = append(parts, d.Name+" "+settingChange(d))
		}
		rest = append(rest, fmt.Sprintf("%s of configuration %s, the last on %s: %s",
			unit.Things(int64(other.Runs), "run"), other.Configuration, layout.Moment(other.LastAt,
				"2006-01-02"), strings.Join(parts, "; ")))
	}
	return rest
}

// Runs with only a lower bound cannot be used for a level.
func (h *History) onlyBounds() (notes []string) {
	for i := range h.Series {
		f, n := h.Series[i].Of, 0
		for _, r := range h.Recorded {
			if v, known := f.Ranked(&r.Run); known && math.IsInf(v, 1) {
				n++
			}
		}
		if n > 0 {
			notes = append(notes, fmt.Sprintf("%s: of %s only a lower bound is known, and no level takes it in.",
				f.Title, unit.Things(int64(n), "run")))
		}
	}
	return notes
}

func (h *History) undated() string {
	n := 0
	for _, run := range h.Runs {
		if run.StartedAt.IsZero() {
			n++
		}
	}
	if n == 0 {
		return ""
	}
	return unit.Things(int64(n), "run") +
		" cannot say when they were made: they come last, by name, and a change among them is none over time."
}

func printSeries(p *layout.Page, h *History, s *analysis.Series) {
	p.Heading(s.Of.Title, "")
	p.Line("  ", heights(s))
	p.Line()
	t := layout.Table{Gap: 2, Left: map[int]bool{1: true}}
	recorded := layout.Block{Kind: layout.BlockTable, Heads: 1, Data: map[[2]int]layout.Datum{}}
	recorded.Table = layout.Table{Left: map[int]bool{1: true}, Rows: [][]string{{"started (UTC)", "run", s.Of.Title}}}
	if h.labelled() {
		recorded.Table.Rows[0] = append(recorded.Table.Rows[0], "labels")
	}
	for k, v := range s.Values {
		run := h.Runs[s.At[k]]
		recorded.Data[[2]int{k + 1, 2}] = layout.Datum{Figure: s.Figure, Of: run.ID, Value: v}
		text := s.Of.FormatClocked(v, v, s.Of.ClockError(&h.Recorded[s.At[k]].Run))
		recorded.Table.Add(layout.Moment(run.StartedAt, "2006-01-02 15:04"), run.ID, text)
		t.Add("  "+layout.Moment(run.StartedAt, "2006-01-02 15:04"), run.ID, text)
		if h.labelled() {
			recorded.Table.Rows[k+1] = append(recorded.Table.Rows[k+1], result.LabelText(run.Labels))
		}
	}
	p.Record(recorded)
	lines := t.Text()
	length, beside := h.room(p.Width - layout.Columns(lines[0]))
	top := slices.Max(s.Values)
	for k, line := range lines {
		for i := range s.Changes {
			if s.Changes[i].At == s.At[k] {
				printChange(p, h, s, &s.Changes[i])
			}
		}
		labels := result.ShortLabelText(h.Runs[s.At[k]].Labels)
		line += "  " + layout.Pad(bar(s.Values[k], top, length), length)
		if length == 0 {
			line = lines[k]
		}
		if beside {
			line += "  " + labels
		}
		p.Line(layout.Cut(strings.TrimRight(line, " "), p.Width))
		if !beside && labels != "" {
			for _, part := range layout.WrapWords(labels, p.Width-len(belowRun)) {
				p.Line(belowRun, part)
			}
		}
	}
}

// room returns the length of the longest bar, and whether the labels fit beside a run, with so many columns left.
func (h *History) room(columns int) (length int, beside bool) {
	if !h.labelled() {
		return barLength, true
	}
	for _, run := range h.Runs {
		length = max(length, layout.Columns(result.ShortLabelText(run.Labels)))
	}
	if columns -= 2 + length; columns < 0 {
		return shortBar, false
	}
	return max(0, min(shortBar, columns-2)), true
}

func (h *History) labelled() bool {
	return slices.ContainsFunc(h.Runs, func(r analysis.HistoryRun) bool { return len(r.Labels) > 0 })
}

func heights(s *analysis.Series) string {
	low, top := slices.Min(s.Values), slices.Max(s.Values)
	return s.Of.Format(low) + " " + layout.Sparkline(s.Values, low, top) + " " + s.Of.Format(top) + ", lowest to highest"
}

func printChange(p *layout.Page, h *History, s *analysis.Series, c *analysis.LevelChange) {
	style := map[string]string{analysis.WordWorse: layout.Red, analysis.WordBetter: layout.Green}[c.Word]
	text := fmt.Sprintf("── %s: %s → %s (%s), p %s; first in %s", c.Word, s.Of.Format(c.Change.Before),
		s.Of.Format(c.Change.After), levelChange(c), pText(&c.P),
		layout.List(h.Runs[c.At].Dir, result.LabelText(h.Runs[c.At].Labels)))
	p.Painted(style, 2, text)
	for _, d := range c.Changed {
		p.Text(5, d.Name+" "+settingChange(d))
	}
	if len(c.Changed) == 0 {
		p.Text(5, "nothing else that is recorded changed there")
	}
}

// The lengths of the longest bar, in columns. It is short beside labels.
const (
	barLength = 40
	shortBar  = 12
)

const belowRun = "      " // indents labels that do not fit beside their run

// bar begins at zero, so that lengths show ratios.
func bar(v, top float64, length int) string {
	if top <= 0 || v <= 0 {
		return ""
	}
	return strings.Repeat("▪", max(1, int(math.Round(v/top*float64(length)))))
}

func (h *History) markdown(w io.Writer) error {
	m := &layout.Markdown{}
	for i := range h.Series {
		s := &h.Series[i]
		m.Line("### ", layout.Prose(seriesSummary(s, h.MinChange)))
		m.Paragraph(layout.Code(heights(s)), ", ", unit.Things(int64(len(s.Values)), "run"), ", configuration ",
			layout.Code(h.Configuration))
		markdownChanges(m, h, s)
		m.Line()
	}
	notes := h.notes()
	for i := range notes {
		notes[i] = "⚠️ " + layout.Prose(notes[i])
	}
	m.List(notes)
	m.Table(h.markdownRuns())
	for _, text := range h.notShown() {
		m.Paragraph("Not shown: ", layout.Prose(text))
	}
	_, err := io.WriteString(w, strings.TrimRight(m.String(), "\n")+"\n")
	return err
}

// mostRows bounds the table of the runs in Markdown.
const mostRows = 50

func (h *History) markdownRuns() layout.Table {
	t := layout.Table{Left: map[int]bool{1: true}, Rows: [][]string{{"Started (UTC)", "Run"}}}
	for i := range h.Series {
		t.Rows[0] = append(t.Rows[0], layout.Prose(h.Series[i].Of.Title))
	}
	if h.labelled() {
		t.Left[len(t.Rows[0])] = true
		t.Rows[0] = append(t.Rows[0], "Labels")
	}
	from := max(0, len(h.Runs)-mostRows)
	for i, run := range h.Runs[from:] {
		row := []string{layout.Moment(run.StartedAt, "2006-01-02 15:04"), layout.Code(run.ID)}
		for k, v := range run.Values {
			text := unit.Absent
			if v != nil {
				text = h.Series[k].Of.FormatClocked(*v, *v, h.Series[k].Of.ClockError(&h.Recorded[from+i].Run))
			}
			row = append(row, text)
		}
		if h.labelled() {
			row = append(row, layout.Prose(result.ShortLabelText(run.Labels)))
		}
		t.Add(row...)
	}
	if from > 0 {
		t.Add(unit.Count(int64(from))+" before", unit.Absent)
	}
	return t
}

func markdownChanges(m *layout.Markdown, h *History, s *analysis.Series) {
	t := layout.Table{Left: map[int]bool{1: true, 6: true},
		Rows: [][]string{{"First run", "What is shown", "Before", "After", "Difference", "p", "Changed there"}}}
	for i := range s.Changes {
		c := &s.Changes[i]
		var changed []string
		for _, d := range c.Changed {
			changed = append(changed, layout.Prose(d.Name+" "+settingChange(d)))
		}
		first := layout.List(layout.Code(h.Runs[c.At].Dir), layout.Prose(result.LabelText(h.Runs[c.At].Labels)))
		t.Add(first, "**"+c.Word+"**", s.Of.Format(c.Change.Before),
			s.Of.Format(c.Change.After), levelChange(c), pText(&c.P), strings.Join(changed, "; "))
	}
	if len(t.Rows) > 1 {
		m.Table(t)
	}
}

func (h *History) table() layout.Table {
	s := layout.Table{Rows: [][]string{{"started_at", "run", "name", "dir", "configuration"}}}
	for i := range h.Series {
		f := h.Series[i].Of
		s.Rows[0] = append(s.Rows[0], columnName(f.Name, f.Kind.Unit()))
	}
	errors := slices.ContainsFunc(h.Runs, func(r analysis.HistoryRun) bool { return r.ClockErrors != nil })
	for i := range h.Series {
		if f := h.Series[i].Of; errors {
			s.Rows[0] = append(s.Rows[0], columnName(f.Name+"_clock_error", f.Kind.Unit()))
		}
	}
	numbers := len(s.Rows[0])
	if h.labelled() {
		s.Rows[0] = append(s.Rows[0], "labels")
	}
	for _, run := range h.Runs {
		row := []string{date(run.StartedAt), run.ID, run.Name, run.Dir, h.Configuration}
		for _, v := range run.Values {
			row = append(row, layout.Optional(v))
		}
		for _, v := range run.ClockErrors {
			row = append(row, layout.Raw(v))
		}
		for len(row) < numbers {
			row = append(row, "0")
		}
		if h.labelled() {
			row = append(row, result.LabelText(run.Labels))
		}
		s.Add(row...)
	}
	return s
}

func columnName(name, unit string) string {
	suffix := "_" + strings.ReplaceAll(unit, "/", "_per_")
	if unit == "1" || strings.HasSuffix(name, suffix) || strings.HasSuffix(name, "_per_s") ||
		strings.HasSuffix(name, "_ratio") {
		return name
	}
	return name + suffix
}

func (h *History) changeSheet() layout.Table {
	s := layout.Table{Rows: [][]string{{"figure", "unit", "first_run", "before", "after", "difference_ratio", "p",
		"word", "changed"}}}
	for i := range h.Series {
		for _, c := range h.Series[i].Changes {
			var changed []string
			for _, d := range c.Changed {
				changed = append(changed, d.Name+" "+settingChange(d))
			}
			s.Add(h.Series[i].Figure, h.Series[i].Of.Kind.Unit(), c.FirstRun,
				layout.Optional(c.Before), layout.Optional(c.After), layout.Optional(c.Difference), layout.Raw(c.P), c.Word, strings.Join(changed, "; "))
		}
	}
	return s
}
