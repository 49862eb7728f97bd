// Package pages lays out reports as HTML: one file that holds its style, its scripts and its
// charts, and asks no server for anything. Its sentences come from report, compared and campaigns,
// and its charts from chart.
//
// Text in result files is untrusted: it reaches a page only through html/template, or through the
// escaping of draw. A policy in the page allows only the page's own scripts and style, by their
// hashes.
//
// A value in a page is an element <data> with the name of its figure, as in the JSON of the same
// report.
//
// Files to know: page.go (what a page is made of), write.go (HTML, and the policy), parts.go
// (sections of a report), charts.go, crosshair.go, run.go, several.go, study.go, compared.go,
// assets/ (template, style, scripts).
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
	Kind  string // the kind of report, in a word
	Title string
	// Lines are below the title.
	Lines    []string
	Badges   []Badge
	Remarks  []Text // caveats before the figures
	Cards    []Card
	Sections []Section
	// Main is the HTML of a template; it replaces the fields above.
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

// Card is a prominent figure.
type Card struct {
	Label string
	Cell  Cell
}

// Section is the content below one heading. Exactly one field of each part is set.
type Section struct {
	ID, Title string
	Note      string // continues the title
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

// Fact is a label with lines of text.
type Fact struct {
	Label string
	Lines []Text
}

// Fold is content that a reader can unfold.
type Fold struct {
	Summary string
	Parts   []Part
}

// Table is a table; its rows are as wide as its head.
type Table struct {
	Name string // for people who do not see its context
	Head []Cell
	Rows [][]Cell
	// Searched adds a field that finds rows.
	Searched bool
}

// Cell is a cell of a table. Value has all digits; it is set if a document has the number.
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

func (p *Page) section(title string, parts ...Part) {
	if len(parts) > 0 {
		p.Sections = append(p.Sections, Section{ID: p.id(title), Title: title, Parts: parts})
	}
}

// The identifier is unique in the page.
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

func filled(all ...string) []string {
	return slices.DeleteFunc(all, func(text string) bool { return text == "" })
}
