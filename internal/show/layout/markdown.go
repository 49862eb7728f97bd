package layout

import (
	"io"
	"strings"
)

// Markdown is a page in the making, as GitHub and GitLab render it.
type Markdown struct{ b strings.Builder }

func (m *Markdown) String() string { return m.b.String() }

// Print writes the page.
func (m *Markdown) Print(w io.Writer) error {
	_, err := io.WriteString(w, m.b.String())
	return err
}

// Line writes its parts and a newline.
func (m *Markdown) Line(parts ...string) {
	m.b.WriteString(strings.Join(parts, ""))
	m.b.WriteByte('\n')
}

// Paragraph is text with an empty line before it.
func (m *Markdown) Paragraph(parts ...string) {
	if m.b.Len() > 0 {
		m.Line()
	}
	m.Line(parts...)
}

// List writes items of a list, with an empty line before the first.
func (m *Markdown) List(items []string) {
	for i, item := range items {
		if i == 0 {
			m.Line()
		}
		m.Line("- ", item)
	}
}

// Table writes a table with an empty line before it; nothing of one without rows.
func (m *Markdown) Table(t Table) {
	if text := t.Markdown(); text != "" {
		m.b.WriteString("\n" + text)
	}
}

// markup is what text may hold that Markdown would read as its own.
var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "\n", " ")

// Prose is text with nothing in it that Markdown would take for markup.
func Prose(text string) string { return markup.Replace(text) }

// Code is text in the type of code. What it holds stays as it is, but for the
// mark that would end it.
func Code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

func escaped(row []string) []string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
	}
	return cells
}
