package layout

import (
	"io"
	"strings"
)

// Markdown builds a page for GitHub and GitLab.
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

// Paragraph writes text after an empty line.
func (m *Markdown) Paragraph(parts ...string) {
	if m.b.Len() > 0 {
		m.Line()
	}
	m.Line(parts...)
}

// List writes the items of a list after an empty line.
func (m *Markdown) List(items []string) {
	for i, item := range items {
		if i == 0 {
			m.Line()
		}
		m.Line("- ", item)
	}
}

// Table writes a table after an empty line; nothing if it has no rows.
func (m *Markdown) Table(t Table) {
	if text := t.Markdown(); text != "" {
		m.b.WriteString("\n" + text)
	}
}

var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "\n", " ")

// Prose escapes the Markdown markup in text.
func Prose(text string) string { return markup.Replace(text) }

// Code formats text as code, without backquotes, which would end it.
func Code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

func escaped(row []string) []string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
	}
	return cells
}
