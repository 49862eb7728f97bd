package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/result/outcome"
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
	Notes     []string          `json:"notes"`            // what was wrong with the files
	Settings  map[string]string `json:"settings"`
	// Figures are in the units of the document's head; null where one was not
	// measured, where the records are too few for the percentile, or where too few had
	// ended for more than a lower bound, which is in AtLeast.
	Figures map[string]*float64 `json:"figures"`
	AtLeast map[string]float64  `json:"at_least,omitempty"`
}

// Runs writes the report of runs in the format of o, each once: one alone as Text does,
// several as SideBySide does.
func Runs(w io.Writer, all []*result.Recorded, o Options) error {
	head := headOf(KindRuns, figure.All())
	runs := head.once(all)
	switch o.Format {
	case AsMarkdown:
		return head.forPeople(w, markdownRuns(w, runs))
	case AsCSV:
		if o.Table == "" {
			o.Table = "times"
		}
		return runSheets(runs).write(w, o.Table)
	case AsJSON:
		return writeJSON(w, documentOf(head, runs))
	}
	if len(runs) == 1 {
		return head.forPeople(w, Text(w, runs[0], o))
	}
	return head.forPeople(w, SideBySide(w, runs, o))
}

func documentOf(head Head, runs []*result.Recorded) RunsDocument {
	d := RunsDocument{Head: head, Runs: []RunDocument{}}
	for _, r := range runs {
		run := RunDocument{
			Dir: r.Dir, ID: r.Run.Run.ID, Name: r.Run.Run.Name, StartedAt: startedAt(&r.Run), Method: r.Run.Method(),
			Verdict: r.Run.Verdict, System: systemOf(&r.Run),
			Notes: append([]string{}, r.Notes...), Settings: figure.Settings(r.Run.Scenario), Figures: map[string]*float64{},
		}
		for _, f := range figure.All() {
			run.Figures[f.Name] = figureOf(f, &r.Run)
			if bound, known := f.AtLeast(&r.Run); known && run.Figures[f.Name] == nil {
				if run.AtLeast == nil {
					run.AtLeast = map[string]float64{}
				}
				run.AtLeast[f.Name] = bound
			}
		}
		d.Runs = append(d.Runs, run)
	}
	return d
}

// figureOf takes a figure from a run; nil where it has none.
func figureOf(f figure.Figure, r *result.Run) *float64 {
	if v, ok := f.Value(r); ok {
		return known(v)
	}
	return nil
}

// markdownRuns writes runs for a pull request: the verdict, the headline figures
// and what one should know with them.
func markdownRuns(w io.Writer, runs []*result.Recorded) error {
	m := &markdown{}
	if len(runs) == 1 {
		m.run(runs[0])
	} else {
		m.runs(runs)
	}
	_, err := io.WriteString(w, m.b.String())
	return err
}

func (m *markdown) run(r *result.Recorded) {
	m.line("### ", verdictMark(&r.Run), " ", prose(r.Run.Run.Name), " ", code(r.Run.Run.ID))
	m.paragraph(prose(offer(&r.Run)))
	m.paragraph(prose(madeWith(&r.Run)))
	m.caveats([]*result.Recorded{r})
	if !r.Run.Finished() {
		return
	}
	if s := systemOf(&r.Run); s != nil {
		m.paragraph("**system ", s.Status, "**: ", prose(outcome.Sentence(*s)))
	}
	m.headline([]*result.Recorded{r})
	m.queue(&r.Run)
	m.distributions(measured(&r.Run))
	if r.Run.Backpressure != nil {
		m.remarks("Backpressure in the measured window", underGate(&r.Run))
	}
	m.availability(&r.Run)
	if len(r.Run.Faults) > 0 {
		m.remarks("Faults, and what followed", followed(r))
	}
	m.bottleneck(&r.Run)
	m.brokerRequests(r.Run.Broker)
	m.paragraph(prose(sumUp(&r.Run, 1<<10)))
}

func (m *markdown) runs(runs []*result.Recorded) {
	valid, imported := 0, ""
	for _, r := range runs {
		if r.Run.Verdict.Status == result.Valid && r.Run.Run.Imported == nil {
			valid++
		}
	}
	if n := len(importedOf(runs)); n > 0 {
		imported = ", " + unit.Count(int64(n)) + " imported"
	}
	m.line("### ", unit.Count(int64(len(runs))), " runs, ", unit.Count(int64(valid)), " valid", imported)
	m.headline(runs)
	m.footnotes(runs)
	m.caveats(runs)
	m.paragraph("Runs beside each other carry no claim of a difference: `kafka-bench compare` tests one.")
}

// headline is a column of headline figures for each run.
func (m *markdown) headline(runs []*result.Recorded) {
	t := table{rows: [][]string{{""}, {"verdict"}, {"system"}}}
	for _, r := range runs {
		name := r.Run.Run.Name
		if len(runs) > 1 {
			name = shortName(r)
		}
		t.rows[0] = append(t.rows[0], prose(name))
		t.rows[1] = append(t.rows[1], verdictMark(&r.Run))
		t.rows[2] = append(t.rows[2], statusOf(&r.Run))
	}
	for _, f := range headlineOf(runs) {
		row, any := []string{f.Title}, false
		for _, r := range runs {
			text, known := f.Text(&r.Run)
			if !known {
				text = absent
			}
			row, any = append(row, text), any || known
		}
		if any {
			t.add(row...)
		}
	}
	m.table(t)
}

// distributions is a row for each time: Markdown scrolls where a terminal wraps.
func (m *markdown) distributions(all []distribution) {
	if len(all) == 0 {
		return
	}
	open := slices.ContainsFunc(all, func(d distribution) bool { return d.NotEnded > 0 })
	t := table{rows: [][]string{{"Time", "count"}}}
	if open {
		t.rows[0] = append(t.rows[0], "open")
	}
	for _, s := range statistics {
		t.rows[0] = append(t.rows[0], s.name)
	}
	for _, d := range all {
		row := []string{words(d.metric), unit.Count(d.Count)}
		if open {
			row = append(row, unit.Count(d.NotEnded))
		}
		for _, s := range statistics {
			row = append(row, s.text(d))
		}
		t.add(row...)
	}
	m.table(t)
	if thin(all) {
		m.paragraph(unsupported, ".")
	}
	if open {
		m.paragraph(prose(notEnded), ".")
	}
}

// caveats are the reasons and the warnings of runs.
func (m *markdown) caveats(runs []*result.Recorded) {
	var items []string
	for _, r := range runs {
		name := ""
		if len(runs) > 1 {
			name = shortName(r) + ": "
		}
		for _, reason := range r.Run.Verdict.Reasons {
			items = append(items, "❌ "+prose(name+reason))
		}
		warnings := append(append([]string{}, r.Run.Verdict.Warnings...), r.Notes...)
		if r.Run.Run.Interrupted {
			warnings = append(warnings, "the run was ended early; the figures speak of what there was")
		}
		for _, warning := range warnings {
			items = append(items, "⚠️ "+prose(name+warning))
		}
	}
	m.list(items)
}

func verdictMark(r *result.Run) string {
	switch {
	case r.Verdict.Status != result.Valid:
		return "❌ " + heading(r)
	case proven(r):
		return "✅ valid"
	}
	return "⚠️ " + heading(r)
}

// runSheets are the tables of runs.
func runSheets(runs []*result.Recorded) sheets {
	return sheets{
		"figures":   func() sheet { return figureSheet(runs) },
		"times":     func() sheet { return timeSheet(runs) },
		"books":     func() sheet { return bookSheet(runs) },
		"lag":       func() sheet { return lagSheet(runs) },
		"queue":     func() sheet { return queueSheet(runs) },
		"intervals": func() sheet { return intervalSheet(runs) },
	}
}

// Tables are the names of the tables that reports of runs and of campaigns have,
// for help texts.
func Tables() string { return "figures, times, books, lag, queue, intervals; campaign, probes" }

func isNil(r *result.Recorded) bool { return r == nil }

// highest is the highest percentile that so many independent values support: what lies
// beyond it is the luck of single records, and is left out.
func highest(count int64) string {
	name := ""
	for _, s := range statistics {
		if s.percentile > 0 && s.supported(count) {
			name = fmt.Sprint(s.percentile)
		}
	}
	return strings.TrimSpace(name)
}
