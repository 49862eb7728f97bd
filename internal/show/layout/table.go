package layout

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is text in columns: the first aligned to the left, the others to the right. As CSV it has
// raw values: column names end in their unit, and an unknown value is empty.
type Table struct {
	Rows [][]string
	// Gap is the number of spaces between columns.
	Gap int
	// Left are further columns, from 0, that are aligned to the left.
	Left map[int]bool
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Text formats the table in lines of any width. A row without cells is an empty
// line.
func (t *Table) Text() []string {
	widths := t.widths()
	lines := make([]string, 0, len(t.Rows))
	for _, row := range t.Rows {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", t.Gap))
			}
			if i == 0 || t.Left[i] {
				b.WriteString(Pad(cell, widths[i]))
				continue
			}
			b.WriteString(PadLeft(cell, widths[i]))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// Columns that are narrower are not wrapped.
const narrowestCell = 30

// belowRow is the indent of cells that stand below their row.
const belowRow = "      "

// Fit formats the table for width columns. If it is too wide, the cells of the last column are
// wrapped. If too little room is left for that, the columns that do not fit stand below their rows.
func (t *Table) Fit(width int) []string {
	widths := t.widths()
	fitting, used := 0, -t.Gap
	for fitting < len(widths) && (fitting == 0 || used+t.Gap+widths[fitting] <= width) {
		used += t.Gap + widths[fitting]
		fitting++
	}
	last := len(widths) - 1
	if fitting == last && width-used-t.Gap >= narrowestCell {
		return t.wrapped(last, width-used-t.Gap).Text()
	}
	head := Table{Gap: t.Gap, Left: t.Left}
	for _, row := range t.Rows {
		head.Add(row[:min(fitting, len(row))]...)
	}
	var lines []string
	for i, line := range head.Text() {
		lines = append(lines, line)
		if rest := t.Rows[i][len(head.Rows[i]):]; len(rest) > 0 && strings.Join(rest, "") != "" {
			for _, part := range Wrap(strings.Join(rest, "  "), width-len(belowRow)) {
				lines = append(lines, belowRow+strings.TrimRight(part, " "))
			}
		}
	}
	return lines
}

// wrapped returns the table with the cells of a column on several rows.
func (t *Table) wrapped(column, width int) *Table {
	all := &Table{Gap: t.Gap, Left: t.Left}
	for _, row := range t.Rows {
		if len(row) <= column {
			all.Add(row...)
			continue
		}
		for i, part := range Wrap(row[column], width) {
			cells := make([]string, column)
			if i == 0 {
				copy(cells, row)
			}
			all.Add(append(cells, part)...)
		}
	}
	return all
}

// Print writes the table as Text formats it.
func (t *Table) Print(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(append(t.Text(), ""), "\n"))
	return err
}

// Markdown formats the table with padded cells. It skips rows without cells, which Markdown does
// not have.
func (t *Table) Markdown() string {
	var shown Table
	for _, row := range t.Rows {
		if len(row) > 0 {
			shown.Add(escaped(row)...)
		}
	}
	widths := shown.widths()
	var b strings.Builder
	for i, row := range shown.Rows {
		for c, width := range widths {
			cell := ""
			if c < len(row) {
				cell = row[c]
			}
			if c == 0 || t.Left[c] {
				b.WriteString("| " + Pad(cell, width) + " ")
			} else {
				b.WriteString("| " + PadLeft(cell, width) + " ")
			}
		}
		b.WriteString("|\n")
		if i > 0 {
			continue
		}
		for c, width := range widths {
			end := ":"
			if c == 0 || t.Left[c] {
				end = "-"
			}
			b.WriteString("|" + strings.Repeat("-", width+1) + end)
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// CSV writes the table as in RFC 4180, but with only a newline at the line ends. A text that a spreadsheet would
// take for a formula gets a quotation mark in front.
func (t *Table) CSV(w io.Writer) error {
	rows := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = make([]string, len(row))
		for c, cell := range row {
			rows[i][c] = noFormula(cell)
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}

func noFormula(cell string) string {
	if cell == "" || !strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
		return cell
	}
	if _, err := strconv.ParseFloat(cell, 64); err == nil {
		return cell
	}
	return "'" + cell
}

// Raw formats a number for a CSV with all digits, without exponent or separators.
// NaN and infinity are empty.
func Raw(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Optional formats *p for a CSV; empty if p is nil.
func Optional[T int64 | float64](p *T) string {
	if p == nil {
		return ""
	}
	return Raw(float64(*p))
}

func (t *Table) widths() []int {
	var widths []int
	for _, row := range t.Rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], Columns(cell))
		}
	}
	return widths
}

// Within splits a table that is wider than width into several with the same first
// column. A single column may still be too wide.
func (t *Table) Within(width int) []Table {
	widths := t.widths()
	if len(widths) == 0 {
		return nil
	}
	var split []Table
	for from := 1; ; {
		to, used := from, widths[0]
		for to < len(widths) && (to == from || used+t.Gap+widths[to] <= width) {
			used += t.Gap + widths[to]
			to++
		}
		split = append(split, t.columns(from, to))
		if from = to; from >= len(widths) {
			return split
		}
	}
}

// Squeeze narrows a table to width: it reduces the gaps, and then removes the last column.
func (t *Table) Squeeze(width int) {
	wide := func() bool {
		total := -t.Gap
		for _, w := range t.widths() {
			total += w + t.Gap
		}
		return total > width
	}
	if wide() && t.Gap > 1 {
		t.Gap = 1
	}
	if wide() {
		for i, row := range t.Rows {
			t.Rows[i] = row[:max(len(row)-1, 0)]
		}
	}
}

// Without returns the table without one of its columns.
func (t *Table) Without(column int) Table {
	rest := Table{Gap: t.Gap, Left: map[int]bool{}}
	for i, left := range t.Left {
		if i > column {
			i--
		}
		rest.Left[i] = left
	}
	for _, row := range t.Rows {
		rest.Add(slices.Delete(slices.Clone(row), column, column+1)...)
	}
	return rest
}

func (t *Table) columns(from, to int) Table {
	part := Table{Gap: t.Gap, Left: map[int]bool{}}
	for i, left := range t.Left {
		part.Left[i-from+1] = left && i >= from && i < to
	}
	for _, row := range t.Rows {
		if len(row) == 0 {
			part.Add()
			continue
		}
		cells := []string{row[0]}
		if from < len(row) {
			cells = append(cells, row[from:min(to, len(row))]...)
		}
		part.Add(cells...)
	}
	return part
}
