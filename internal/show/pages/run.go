package pages

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"kafkabench.example/kafka-bench/internal/plan/unit"
	"kafkabench.example/kafka-bench/internal/result"
	"kafkabench.example/kafka-bench/internal/result/figure"
	"kafkabench.example/kafka-bench/internal/show/analysis"
	"kafkabench.example/kafka-bench/internal/show/chart"
	"kafkabench.example/kafka-bench/internal/show/layout"
	"kafkabench.example/kafka-bench/internal/show/report"
)

// If a needed chart cannot be drawn, the page says why.
type shownChart struct {
	name   string
	needed bool
}

var runCharts = []shownChart{
	{"books", true}, {"timeline", true}, {"lag", true}, {"age", true}, {"outage", false}, {"gate", false},
	{"partitions", true}, {"resources", true}, {"process", false}, {"percentiles", true},
}

var runCards = []string{
	"offered_per_s", "acked_per_s", "delivered_per_s", "queue_acked_per_s", "shed", "e2e_response_time_p50",
	"e2e_response_time_p99", "e2e_response_time_p99_9", "lag_peak",
}

const mostEvents = 2000

// Run returns the page of one run, which may be unfinished or imported.
func Run(r *result.Recorded) *Page {
	a := report.AccountOf(r)
	info := r.Run.Run
	p := &Page{Kind: "Run", Title: cmp.Or(info.Name, info.ID, "A run without a name")}
	p.Badges = []Badge{{"measurement", a.Standing, toneOf(a.Style)}}
	if a.System != nil {
		p.Badges = append(p.Badges, Badge{"system", a.System.Status, toneOf(a.SystemStyle)})
	}
	for _, e := range a.Expected {
		p.Remarks = append(p.Remarks, Text{toneOf(e.Style), e.Text})
	}
	p.Remarks = slices.Concat(p.Remarks, texts(Bad, a.Reasons...), texts(Doubtful, a.Warnings...))
	when := layout.Moment(analysis.StartedAt(&r.Run), "2006-01-02 15:04:05 UTC")
	p.Lines = filled(layout.List(info.ID, when), a.Made, a.Offer, a.Client)
	p.Cards = cardsOf(&r.Run)
	if a.System != nil {
		p.section("What it shows", append([]Part{{Text: &Text{Strong, sentence(a.Fared)}}},
			Part{List: texts(Plain, a.Found...)})...)
	}
	p.charts("Charts", runCharts, chart.Input{Runs: []*result.Recorded{r}})
	p.sections(a.Sections, "Run")
	if r.Run.Finished() {
		t := figuresOf(&r.Run)
		p.section("All figures", fold(unit.Count(int64(len(t.Rows)))+" figures by name", Part{Table: t}))
	}
	if settings := settingsOf(r); settings != nil {
		p.section("Settings", fold("What the scenario asked for", Part{Table: settings}))
	}
	p.section("Events", eventsOf(r.Events)...)
	return p
}

func sentence(text string) string {
	if text == "" {
		return ""
	}
	return text + "."
}

func (p *Page) charts(title string, all []shownChart, in chart.Input) {
	var parts []Part
	for _, c := range all {
		parts = append(parts, p.drawn(c.name, in, c.needed)...)
	}
	p.section(title, parts...)
}

func cardsOf(r *result.Run) (cards []Card) {
	for _, name := range runCards {
		f, err := figure.Named(name)
		if err != nil {
			continue
		}
		if cell := cellOf(f, r); cell.Value != "" {
			cards = append(cards, Card{titled(f), cell})
		}
	}
	return cards
}

func cellOf(f figure.Figure, r *result.Run) Cell {
	text, known := f.Text(r)
	c := Cell{Text: orAbsent(text, known), Numeric: true}
	v, exact := f.Value(r)
	if !exact {
		v, c.AtLeast = f.AtLeast(r)
	}
	if exact || c.AtLeast {
		c.Value, c.Figure = layout.Raw(v), f.Name
	}
	return c
}

func figuresOf(r *result.Run) *Table {
	t := &Table{Name: "All figures", Searched: true,
		Head: []Cell{{Text: "Figure"}, {Text: "Value", Numeric: true}, {Text: "Name"}}}
	for _, f := range figure.All() {
		cell := cellOf(f, r)
		if cell.Value == "" {
			cell.SmallNote = f.Missing(r)
		}
		t.Rows = append(t.Rows, []Cell{{Text: f.Title}, cell, {Text: f.Name}})
	}
	return t
}

func settingsOf(r *result.Recorded) *Table {
	settings := figure.Settings(r.Run.Scenario)
	rows := [][]string{{"Setting", "Value"}}
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		rows = append(rows, []string{name, settings[name]})
	}
	t := tableOf("Settings", layout.Block{Heads: 1, Table: layout.Table{Rows: rows, Left: map[int]bool{1: true}}})
	t.Searched = true
	if len(t.Rows) == 0 {
		return nil
	}
	return t
}

func eventsOf(events []result.Event) (parts []Part) {
	left := max(len(events)-mostEvents, 0)
	byKind := map[string][]result.Event{}
	for _, e := range events[:len(events)-left] {
		byKind[e.Kind] = append(byKind[e.Kind], e)
	}
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		rows := [][]string{{"Time", "What", "Reason"}}
		for _, e := range byKind[kind] {
			rows = append(rows, []string{layout.At(e.AtNs), e.What, e.Reason})
		}
		left := map[int]bool{1: true, 2: true}
		t := tableOf("Events: "+kind, layout.Block{Heads: 1, Table: layout.Table{Rows: rows, Left: left}})
		t.Searched = len(t.Rows) > 20
		parts = append(parts, fold(fmt.Sprintf("%s (%s)", kind, unit.Count(int64(len(t.Rows)))), Part{Table: t}))
	}
	if left > 0 {
		text := fmt.Sprintf("%s more are in %s.", unit.Things(int64(left), "event"), result.EventsFile)
		parts = append(parts, paragraph(Doubtful, text))
	}
	return parts
}
