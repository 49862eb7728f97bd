package report

import "strings"

// table is text in columns: the first to the left, the others to the right.
type table struct {
	rows [][]string
	// gap is the number of spaces between columns.
	gap int
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines lays the table out. A row without cells is an empty line.
func (t *table) lines() []string {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(cell))
		}
	}
	lines := make([]string, 0, len(t.rows))
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			if i == 0 {
				b.WriteString(pad(cell, widths[i]))
				continue
			}
			b.WriteString(strings.Repeat(" ", t.gap))
			b.WriteString(padLeft(cell, widths[i]))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}
