package layout

import (
	"io"
	"strings"
)

// Width is the default width of a page, in columns; narrowest and widest are its
// bounds.
const (
	Width     = 100
	narrowest = 80
	widest    = 120
)

// Page builds a text for a terminal.
type Page struct {
	b        strings.Builder
	colour   bool
	Width    int // columns
	sections []Section
}

// Section is the content below one heading, before its layout in columns.
type Section struct {
	Title  string
	Note   string // continues the title
	Blocks []Block
}

// Block is a text or a table of a section.
type Block struct {
	Style string // of the text, as for Paint
	Label string // left of the text; "" after another label continues it
	Kind  BlockKind
	Text  string
	Table Table // of a BlockTable
	Heads int   // number of its first rows that are heads
	// Data are the values in cells of the table, by row and column.
	Data map[[2]int]Datum
}

// Datum is a value as a JSON document has it.
type Datum struct {
	Figure string
	Stat   string // its field, as in a.median; "" for a figure of one run
	Of     string // the run, the set or the cell
	Value  float64
}

// BlockKind says what a block is.
type BlockKind int8

// The kinds of blocks.
const (
	BlockText BlockKind = iota
	BlockItem
	BlockLabelled
	BlockTable
)

// NewPage returns an empty page. A width of 0 means Width; others are limited to 80 to 120.
func NewPage(width int, colour bool) *Page {
	if width == 0 {
		width = Width
	}
	return &Page{colour: colour, Width: min(max(width, narrowest), widest)}
}

func (p *Page) String() string { return p.b.String() }

// Print writes the page.
func (p *Page) Print(w io.Writer) error {
	_, err := io.WriteString(w, p.b.String())
	return err
}

// Sections returns the written sections, without what Line wrote.
func (p *Page) Sections() []Section { return p.sections }

// Record adds to Sections a block that the caller writes with Line.
func (p *Page) Record(b Block) {
	if len(p.sections) == 0 {
		p.sections = append(p.sections, Section{})
	}
	last := &p.sections[len(p.sections)-1]
	last.Blocks = append(last.Blocks, b)
}

// Section adds a section whose heading the caller writes with Line.
func (p *Page) Section(title string) { p.sections = append(p.sections, Section{Title: title}) }

// Line writes its parts and a newline, without trailing spaces.
func (p *Page) Line(parts ...string) {
	p.b.WriteString(strings.TrimRight(strings.Join(parts, ""), " "))
	p.b.WriteByte('\n')
}

// Heading begins a section.
func (p *Page) Heading(title, note string) {
	p.Line()
	p.Line(p.Paint(Bold, title), strings.TrimPrefix(Hang(title+note, 2, p.Width), title))
	p.Section(title)
	p.sections[len(p.sections)-1].Note = note
}

// Text writes text, wrapped and indented by the given columns.
func (p *Page) Text(indent int, text string) { p.Painted(Plain, indent, text) }

// Painted is Text in a style.
func (p *Page) Painted(style string, indent int, text string) {
	p.Record(Block{Style: style, Text: text})
	for _, line := range Wrap(text, p.Width-indent) {
		p.Line(strings.Repeat(" ", indent), p.Paint(style, line))
	}
}

// Item writes text as an item of a list, in a style.
func (p *Page) Item(style, text string) {
	p.Record(Block{Kind: BlockItem, Style: style, Text: text})
	for i, part := range Wrap(text, p.Width-4) {
		p.Line([]string{"  - ", "    "}[min(i, 1)], p.Paint(style, part))
	}
}

// Labelled writes wrapped text to the right of a label.
func (p *Page) Labelled(label, text string) { p.Styled(Plain, label, text) }

// Styled is Labelled with a style for the text.
func (p *Page) Styled(style, label, text string) {
	p.Record(Block{Kind: BlockLabelled, Style: style, Label: label, Text: text})
	const indent = 16
	for i, part := range Wrap(text, p.Width-indent) {
		if i > 0 {
			label = ""
		}
		p.Line(Pad("  "+label, indent), p.Paint(style, part))
	}
}

// Table prints t, split if it is too wide. Lines of the head are bold: their number is heads.
func (p *Page) Table(t Table, heads int) { p.TableOf(t, heads, nil) }

// TableOf is Table with the values of cells.
func (p *Page) TableOf(t Table, heads int, data map[[2]int]Datum) {
	p.Record(Block{Kind: BlockTable, Table: t, Heads: heads, Data: data})
	p.Columns(t, heads)
}

// Columns is Table without an entry in Sections: see Record.
func (p *Page) Columns(t Table, heads int) {
	for i, part := range t.Within(p.Width) {
		if i > 0 {
			p.Line()
		}
		for row, line := range part.Text() {
			switch {
			case row < heads && line == "":
				continue
			case row < heads:
				line = p.Paint(Bold, line)
			}
			p.Line(line)
		}
	}
}

// ANSI styles.
const (
	Plain  = ""
	Bold   = "1"
	Red    = "1;31"
	Green  = "1;32"
	Yellow = "33"
)

// Paint colours s if the page has colours, without changing its visible width.
func (p *Page) Paint(style, s string) string {
	if !p.colour || style == Plain || s == "" {
		return s
	}
	return "\x1b[" + style + "m" + s + "\x1b[0m"
}
