package layout

import (
	"encoding/csv"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Table is text in columns: the first to the left, the others to the right. As CSV it
// holds raw values: the names of its columns end in their unit, and a value that is not
// known is empty.
type Table struct {
	Rows [][]string
	// Gap is the number of spaces between columns.
	Gap int
	// Left names further columns, from 0, that are text and go to the left.
	Left map[int]bool
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// Text lays the table out in lines, whatever their width. A row without cells is an empty line.
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

// Print writes the table as Text lays it out.
func (t *Table) Print(w io.Writer) error {
	_, err := io.WriteString(w, strings.Join(append(t.Text(), ""), "\n"))
	return err
}

// Markdown lays the table out with padded cells, so that it can be read where nothing
// renders it. Rows without cells are passed over: Markdown has no empty row.
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

// CSV writes the table as RFC 4180 has it, but for the line ends: only a newline,
// which every reader takes and every diff shows well.
func (t *Table) CSV(w io.Writer) error { return csv.NewWriter(w).WriteAll(t.Rows) }

// Raw is a number in a cell of a CSV: to the last digit, without an exponent and without
// separators. NaN and infinity are empty.
func Raw(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', -1, 64)
}

// Optional is what a pointer points to, in a cell of a CSV; empty if it is nil.
func Optional[T int64 | float64](p *T) string {
	if p == nil {
		return ""
	}
	return Raw(float64(*p))
}

// widths are those of the columns.
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

// Within splits a table that is wider than width into several that have the
// first column in common. A single column may still be too wide.
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

// Squeeze makes a table that is wider than width narrower: less between columns,
// and where that is not enough, without the last of them.
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

// Without is the table without one of its columns.
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

// columns is the table of the first column and those from one to another.
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
