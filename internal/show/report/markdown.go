package report

import "strings"

// markdown is a report in the making, as GitHub and GitLab render it.
type markdown struct{ b strings.Builder }

// line writes its parts and a newline.
func (m *markdown) line(parts ...string) {
	m.b.WriteString(strings.Join(parts, ""))
	m.b.WriteByte('\n')
}

// paragraph is text with an empty line before it.
func (m *markdown) paragraph(parts ...string) {
	if m.b.Len() > 0 {
		m.line()
	}
	m.line(parts...)
}

// list writes items of a list, with an empty line before the first.
func (m *markdown) list(items []string) {
	for i, item := range items {
		if i == 0 {
			m.line()
		}
		m.line("- ", item)
	}
}

// remarks is a section of them.
func (m *markdown) remarks(title string, all []remark) {
	m.paragraph("**", title, "**")
	var items []string
	for _, r := range all {
		text := prose(r.text)
		if r.label != "" {
			text = prose(r.label) + ": " + text
		}
		if r.style == yellow {
			text = "⚠️ " + text
		}
		items = append(items, text)
	}
	m.list(items)
}

// table writes a table with its first column to the left and the others to the
// right, but for those that t has to the left. The cells are padded, so that it
// can be read where nothing renders it. Rows without cells are passed over:
// Markdown has no empty row.
func (m *markdown) table(t table) {
	var rows [][]string
	for _, row := range t.rows {
		if len(row) > 0 {
			rows = append(rows, escaped(row))
		}
	}
	if len(rows) == 0 {
		return
	}
	t.rows = rows
	widths := t.widths()
	m.line()
	for i, row := range rows {
		m.row(t, row, widths)
		if i == 0 {
			m.rule(t, widths)
		}
	}
}

func (m *markdown) row(t table, row []string, widths []int) {
	for i, width := range widths {
		cell := ""
		if i < len(row) {
			cell = row[i]
		}
		if i == 0 || t.left[i] {
			m.b.WriteString("| " + pad(cell, width) + " ")
			continue
		}
		m.b.WriteString("| " + padLeft(cell, width) + " ")
	}
	m.line("|")
}

func (m *markdown) rule(t table, widths []int) {
	for i, width := range widths {
		if i == 0 || t.left[i] {
			m.b.WriteString("|" + strings.Repeat("-", width+2))
			continue
		}
		m.b.WriteString("|" + strings.Repeat("-", width+1) + ":")
	}
	m.line("|")
}

// markup is what text may hold that Markdown would read as its own.
var markup = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "<", `\<`, "[", `\[`, "\n", " ")

// prose is text with nothing in it that Markdown would take for markup.
func prose(text string) string { return markup.Replace(text) }

// code is text in the type of code. What it holds stays as it is, but for the
// mark that would end it.
func code(text string) string { return "`" + strings.ReplaceAll(text, "`", "'") + "`" }

func escaped(row []string) []string {
	cells := make([]string, len(row))
	for i, cell := range row {
		cells[i] = strings.NewReplacer("|", `\|`, "\n", " ").Replace(cell)
	}
	return cells
}
