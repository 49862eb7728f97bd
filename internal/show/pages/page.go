// Package pages lays out reports as HTML: one file that holds its style, its scripts and its
// charts, and asks no server for anything. It has no sentences of its own about runs: those
// are of report, compared and campaigns, and the charts of chart.
//
// Text in result files is untrusted. It reaches a page only through html/template, and
// through the escaping of draw. A policy in the page allows the scripts and the style that
// it holds, by their hashes, and nothing else.
//
// A value in a page is an element <data> with the name of its figure; it is the value that the
// JSON of the same report has.
//
// Files to know: page.go (what a page is made of), write.go (HTML, and the policy), parts.go
// (sections of a report), charts.go, crosshair.go, run.go, several.go, study.go,
// compared.go, assets/ (template, style, scripts).
package pages

import (
	"html/template"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"kafkabench.example/kafka-bench/internal/show/layout"
)

// Page is a page before it is written.
type Page struct {
	Kind  string // in a word: what the page is of
	Title string
	// Lines stand below the title.
	Lines    []string
	Badges   []Badge
	Remarks  []Text // what to know before any figure
	Cards    []Card
	Sections []Section
	// Main, of a template, stands in place of all of these.
	Main template.HTML

	ids   map[string]bool
	grids []grid
}

// Tone says how good something is; it is a class of the style.
type Tone string

// Tones.
const (
	Plain    Tone = "plain"
	Good     Tone = "good"
	Doubtful Tone = "doubtful"
	Bad      Tone = "bad"
	Strong   Tone = "strong"
)

// toneOf is the tone of a style of a terminal.
func toneOf(style string) Tone {
	switch style {
	case layout.Green:
		return Good
	case layout.Yellow:
		return Doubtful
	case layout.Red:
		return Bad
	case layout.Bold:
		return Strong
	}
	return Plain
}

// Badge is a verdict in a few words.
type Badge struct {
	Label, Text string
	Tone        Tone
}

// Text is a sentence.
type Text struct {
	Tone Tone
	Text string
}

// Card is a figure that stands out.
type Card struct {
	Label string
	Cell  Cell
}

// Section is what stands under one heading. Exactly one field of each part is set.
type Section struct {
	ID, Title string
	Note      string // goes on with the title
	Parts     []Part
}

// Part is a piece of a section.
type Part struct {
	Text  *Text
	List  []Text
	Facts []Fact
	Table *Table
	Chart *Chart
	Fold  *Fold
}

// Fact is a text with what it is about; of several lines, only the first has a label.
type Fact struct {
	Label string
	Lines []Text
}

// Fold is what a reader opens.
type Fold struct {
	Summary string
	Parts   []Part
}

// Table is a table; its rows are as wide as its head.
type Table struct {
	Name string // for those who do not see what is around it
	Head []Cell
	Rows [][]Cell
	// Searched adds a field that finds rows.
	Searched bool
}

// Cell is a cell of a table. Value is set if a document has it, and is then a number in full.
type Cell struct {
	Text      string
	Value     string
	Figure    string
	Stat, Of  string
	AtLeast   bool   // the value is a lower bound
	Run       string // the folder of the run that the text names
	Numeric   bool
	SmallNote string // below the text
}

// Chart is a drawing with its table, or a sentence that says why there is none.
type Chart struct {
	ID, Name, Title, Alt string
	Missing              string
	Wide, Narrow         template.HTML // the drawing; without Narrow, Wide is for all screens
	Notes                []string
	Table                *Table
	Crosshair            *crosshair
}

// section adds a section.
func (p *Page) section(title string, parts ...Part) {
	if len(parts) > 0 {
		p.Sections = append(p.Sections, Section{ID: p.id(title), Title: title, Parts: parts})
	}
}

// id is an identifier for a title that no other part of the page has.
func (p *Page) id(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool {
		return r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	base := strings.Join(words[:min(len(words), 6)], "-")
	if base == "" || base == "main" || base == "grids" {
		base = "part"
	}
	id := base
	for n := 2; p.ids[id]; n++ {
		id = base + "-" + strconv.Itoa(n)
	}
	if p.ids == nil {
		p.ids = map[string]bool{}
	}
	p.ids[id] = true
	return id
}

// texts are sentences of one tone.
func texts(tone Tone, all ...string) (list []Text) {
	for _, text := range all {
		if text != "" {
			list = append(list, Text{tone, text})
		}
	}
	return list
}

func paragraph(tone Tone, text string) Part { return Part{Text: &Text{tone, text}} }

func fold(summary string, parts ...Part) Part { return Part{Fold: &Fold{summary, parts}} }

// filled are the texts that say something.
func filled(all ...string) []string {
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}
