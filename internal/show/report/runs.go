package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/outcome"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/layout"
)

// RunsDocument is the JSON document of runs.
type RunsDocument struct {
	Head
	Runs []RunDocument `json:"runs"`
}

// RunDocument is one run with every figure by its name (see package figure).
type RunDocument struct {
	Dir       string            `json:"dir"`
	ID        string            `json:"id"`
	Name      string            `json:"name"`
	StartedAt time.Time         `json:"started_at,omitzero"`
	Method    int               `json:"method_version,omitempty"` // none of an imported run
	Verdict   result.Verdict    `json:"verdict"`
	System    *result.System    `json:"system,omitempty"` // none of a run that did not finish
	Expected  []figure.Checked  `json:"expected,omitempty"`
	Labels    map[string]string `json:"labels,omitempty"`
	RetryOf   []string          `json:"retry_of,omitempty"` // folders of invalid runs before it
	Notes     []string          `json:"notes"`              // what was wrong with the files
	Settings  map[string]string `json:"settings"`
	// Figures are in the units of the document's head. A figure is null if it was
	// not measured or the records are too few for the percentile. It is also null
	// if too few records had ended; AtLeast then has its lower bound.
	Figures map[string]*float64 `json:"figures"`
	AtLeast map[string]float64  `json:"at_least,omitempty"`
	// ClockErrors are the errors of figures, up or down, because the clocks of two machines differ.
	// A figure that is not above its error cannot be distinguished from 0.
	ClockErrors map[string]float64 `json:"clock_errors,omitempty"`
	// Series is the content of the run's files, if it was asked for.
	Series *Series `json:"series,omitempty"`
}

// Series is the content of a run's files, except the histograms of each interval.
type Series struct {
	Run       *result.Run            `json:"run"`              // run.json
	Intervals []result.Interval      `json:"intervals"`        // intervals.ndjson
	Events    []result.Event         `json:"events"`           // events.ndjson
	Curves    *result.Curves         `json:"curves"`           // curves.json; null if the run has none
	Agents    []result.AgentInterval `json:"agents,omitempty"` // agents.ndjson
}

// Runs writes each run once, in the format of o: a single run as Text does, several as SideBySide
// does.
func Runs(w io.Writer, all []*result.Recorded, o Options) error {
	head := NewHead(KindRuns, figure.All())
	runs := head.once(all)
	forms := Forms{Head: head, Sheets: RunSheets(runs), Sheet: "times", Document: documentOf(head, runs, o.Series)}
	forms.Markdown = func(w io.Writer) error { return markdownRuns(w, runs) }
	forms.Text = func(w io.Writer, o Options) error {
		if len(runs) == 1 {
			return Text(w, runs[0], o)
		}
		return SideBySide(w, runs, o)
	}
	return forms.Write(w, o)
}

func documentOf(head Head, runs []*result.Recorded, series bool) RunsDocument {
	d := RunsDocument{Head: head, Runs: []RunDocument{}}
	for _, r := range runs {
		run := RunDocument{
			Dir: r.Dir, ID: r.Run.Run.ID, Name: r.Run.Run.Name, StartedAt: analysis.StartedAt(&r.Run),
			Method:  r.Run.Method(),
			Verdict: r.Run.Verdict, System: systemOf(&r.Run), Expected: figure.CheckAll(r),
			Labels: r.Run.Run.Labels, RetryOf: r.Run.Run.RetryOf,
			Notes: append([]string{}, r.Notes...), Settings: figure.Settings(r.Run.Scenario),
			Figures: map[string]*float64{},
		}
		for _, f := range figure.All() {
			run.Figures[f.Name] = analysis.FigureOf(f, &r.Run)
			if bound, known := f.AtLeast(&r.Run); known && run.Figures[f.Name] == nil {
				if run.AtLeast == nil {
					run.AtLeast = map[string]float64{}
				}
				run.AtLeast[f.Name] = bound
			}
			if off := f.ClockError(&r.Run); off > 0 && f.Missing(&r.Run) == "" {
				if run.ClockErrors == nil {
					run.ClockErrors = map[string]float64{}
				}
				run.ClockErrors[f.Name] = off
			}
		}
		if series {
			run.Series = &Series{Run: &r.Run, Intervals: append([]result.Interval{}, r.Intervals...),
				Events: append([]result.Event{}, r.Events...), Curves: r.Curves, Agents: r.Agents}
		}
		d.Runs = append(d.Runs, run)
	}
	return d
}

func markdownRuns(w io.Writer, runs []*result.Recorded) error {
	m := &layout.Markdown{}
	if len(runs) == 1 {
		markdownRun(m, runs[0])
	} else {
		markdownSeveral(m, runs)
	}
	return m.Print(w)
}

func markdownRun(m *layout.Markdown, r *result.Recorded) {
	j := Judge([]*result.Recorded{r})
	m.Line("### ", cmp.Or(j.Mark(), verdictMark(&r.Run)+" "), layout.Prose(r.Run.Run.Name), " ", layout.Code(r.Run.Run.ID))
	if r.Run.Verdict.Usable() {
		MarkdownExpected(m, j)
		markdownSubject(m, r)
	} else { // why comes first
		markdownSubject(m, r)
		MarkdownExpected(m, j)
	}
	if !r.Run.Finished() {
		if command := collecting(&r.Run); command != "" {
			m.Paragraph(layout.Prose(collectable), " ", layout.Code(command))
		}
		return
	}
	if s := systemOf(&r.Run); s != nil {
		m.Paragraph("**system ", s.Status, "**: ", layout.Prose(outcome.Sentence(*s)))
	}
	markdownHeadline(m, []*result.Recorded{r})
	markdownAgents(m, &r.Run)
	markdownQueue(m, &r.Run)
	markdownDistributions(m, measured(&r.Run))
	if r.Run.Backpressure != nil {
		markdownRemarks(m, "Backpressure in the measured window", underGate(&r.Run))
	}
	markdownAvailability(m, &r.Run)
	if len(r.Run.Faults) > 0 {
		markdownRemarks(m, "Faults, and what followed", followed(r))
	}
	markdownBottleneck(m, &r.Run)
	markdownBrokerRequests(m, r.Run.Broker)
	if warm := warmedUp(&r.Run); warm != "" {
		m.Paragraph("Warm-up: ", layout.Prose(warm), ".")
	}
	m.Paragraph(layout.Prose(sumUp(&r.Run, 1<<10)))
	markdownClients(m, r)
}

func markdownSubject(m *layout.Markdown, r *result.Recorded) {
	m.Paragraph(layout.Prose(offer(&r.Run)))
	m.Paragraph(layout.Prose(madeWith(&r.Run)))
	markdownCaveats(m, []*result.Recorded{r})
}

func markdownSeveral(m *layout.Markdown, runs []*result.Recorded) {
	valid, imported := 0, ""
	for _, r := range runs {
		if r.Run.Verdict.Status == result.Valid {
			valid++
		}
	}
	if n := len(importedOf(runs)); n > 0 {
		imported = ", " + unit.Count(int64(n)) + " imported"
	}
	j := Judge(runs)
	m.Line("### ", j.Mark(), unit.Count(int64(len(runs))), " runs, ", unit.Count(int64(valid)), " valid", imported)
	MarkdownExpected(m, j)
	markdownHeadline(m, runs)
	markdownFootnotes(m, runs)
	markdownCaveats(m, runs)
	m.Paragraph("This table makes no claim of a difference: `kafka-bench compare` tests one.")
}

func markdownHeadline(m *layout.Markdown, runs []*result.Recorded) {
	t := layout.Table{Rows: [][]string{{""}, {"verdict"}, {"system"}}}
	for _, r := range runs {
		name := r.Run.Run.Name
		if len(runs) > 1 {
			name = analysis.ShortName(r)
		}
		t.Rows[0] = append(t.Rows[0], layout.Prose(name))
		t.Rows[1] = append(t.Rows[1], verdictMark(&r.Run))
		t.Rows[2] = append(t.Rows[2], statusOf(&r.Run))
	}
	for _, f := range analysis.HeadlineOf(runs) {
		row, any := []string{f.Title}, false
		for _, r := range runs {
			text, known := f.Text(&r.Run)
			if !known {
				text = unit.Absent
			}
			row, any = append(row, text), any || known
		}
		if any {
			t.Add(row...)
		}
	}
	m.Table(t)
}

func markdownDistributions(m *layout.Markdown, all []distribution) {
	if len(all) == 0 {
		return
	}
	open := slices.ContainsFunc(all, func(d distribution) bool { return d.NotEnded > 0 })
	t := layout.Table{Rows: [][]string{{"Time", "count"}}}
	if open {
		t.Rows[0] = append(t.Rows[0], "open")
	}
	for _, s := range statistics {
		t.Rows[0] = append(t.Rows[0], s.name)
	}
	for _, d := range all {
		row := []string{layout.Words(d.metric), unit.Count(d.Count)}
		if open {
			row = append(row, unit.Count(d.NotEnded))
		}
		for _, s := range statistics {
			row = append(row, s.text(d))
		}
		t.Add(row...)
	}
	m.Table(t)
	if thin(all) {
		m.Paragraph(unsupported, ".")
	}
	if open {
		m.Paragraph(layout.Prose(notEnded), ".")
	}
	if clocked(all) {
		m.Paragraph(layout.Prose(shifted), ".")
	}
}

func markdownCaveats(m *layout.Markdown, runs []*result.Recorded) {
	var items []string
	for _, r := range runs {
		name := ""
		if len(runs) > 1 {
			name = analysis.ShortName(r) + ": "
		}
		for _, reason := range r.Run.Verdict.Reasons {
			items = append(items, "❌ "+layout.Prose(name+reason))
		}
		warnings := append(append([]string{}, r.Run.Verdict.Warnings...), r.Notes...)
		if r.Run.Run.Interrupted {
			warnings = append(warnings, endedEarly)
		}
		if again := retried(&r.Run); again != "" {
			warnings = append(warnings, again)
		}
		for _, warning := range warnings {
			items = append(items, "⚠️ "+layout.Prose(name+warning))
		}
	}
	m.List(items)
}

func verdictMark(r *result.Run) string {
	switch {
	case !r.Verdict.Usable():
		return "❌ " + heading(r)
	case proven(r):
		return "✅ valid"
	}
	return "⚠️ " + heading(r)
}

// RunSheets returns the tables of runs.
func RunSheets(runs []*result.Recorded) Sheets {
	return Sheets{
		"figures":   func() layout.Table { return figureSheet(runs) },
		"times":     func() layout.Table { return timeSheet(runs) },
		"books":     func() layout.Table { return bookSheet(runs) },
		"lag":       func() layout.Table { return lagSheet(runs) },
		"queue":     func() layout.Table { return queueSheet(runs) },
		"intervals": func() layout.Table { return intervalSheet(runs) },
		"agents":    func() layout.Table { return agentSheet(runs) },

		"clients":    func() layout.Table { return clientSheet(runs) },
		"members":    func() layout.Table { return memberSheet(runs) },
		"partitions": func() layout.Table { return partitionSheet(runs) },
	}
}

// Tables names the tables of reports of runs and campaigns, for help texts.
func Tables() string {
	return "figures, times, books, lag, queue, intervals, agents, clients, members, partitions; campaign, probes"
}

func highest(count int64) string {
	name := ""
	for _, s := range statistics {
		if s.Percentile > 0 && s.supported(count) {
			name = fmt.Sprint(s.Percentile)
		}
	}
	return strings.TrimSpace(name)
}
