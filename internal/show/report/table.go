package report

import (
	"slices"
	"strings"
)

// table is text in columns: the first to the left, the others to the right.
type table struct {
	rows [][]string
	// gap is the number of spaces between columns.
	gap int
	// left names further columns, from 0, that are text and go to the left.
	left map[int]bool
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// lines lays the table out. A row without cells is an empty line.
func (t *table) lines() []string {
	widths := t.widths()
	lines := make([]string, 0, len(t.rows))
	for _, row := range t.rows {
		var b strings.Builder
		for i, cell := range row {
			if i > 0 {
				b.WriteString(strings.Repeat(" ", t.gap))
			}
			if i == 0 || t.left[i] {
				b.WriteString(pad(cell, widths[i]))
				continue
			}
			b.WriteString(padLeft(cell, widths[i]))
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// widths are those of the columns.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], columns(cell))
		}
	}
	return widths
}

// within splits a table that is wider than width into several that have the
// first column in common. A single column may still be too wide.
func (t *table) within(width int) []table {
	widths := t.widths()
	if len(widths) == 0 {
		return nil
	}
	var split []table
	for from := 1; ; {
		to, used := from, widths[0]
		for to < len(widths) && (to == from || used+t.gap+widths[to] <= width) {
			used += t.gap + widths[to]
			to++
		}
		split = append(split, t.columns(from, to))
		if from = to; from >= len(widths) {
			return split
		}
	}
}

// squeeze makes a table that is wider than width narrower: less between columns,
// and where that is not enough, without the last of them.
func (t *table) squeeze(width int) {
	wide := func() bool {
		total := -t.gap
		for _, w := range t.widths() {
			total += w + t.gap
		}
		return total > width
	}
	if wide() && t.gap > 1 {
		t.gap = 1
	}
	if wide() {
		for i, row := range t.rows {
			t.rows[i] = row[:max(len(row)-1, 0)]
		}
	}
}

// without is the table without one of its columns.
func (t *table) without(column int) table {
	rest := table{gap: t.gap, left: map[int]bool{}}
	for i := range t.left {
		if i > column {
			i--
		}
		rest.left[i] = true
	}
	for _, row := range t.rows {
		rest.add(slices.Delete(slices.Clone(row), column, column+1)...)
	}
	return rest
}

// columns is the table of the first column and those from one to another.
func (t *table) columns(from, to int) table {
	part := table{gap: t.gap, left: map[int]bool{}}
	for i := range t.left {
		part.left[i-from+1] = i >= from && i < to
	}
	for _, row := range t.rows {
		if len(row) == 0 {
			part.add()
			continue
		}
		cells := []string{row[0]}
		if from < len(row) {
			cells = append(cells, row[from:min(to, len(row))]...)
		}
		part.add(cells...)
	}
	return part
}

// table prints t, split where it is too wide; the first heads lines are bold.
func (p *page) table(t table, heads int) {
	for i, part := range t.within(p.width) {
		if i > 0 {
			p.line()
		}
		for row, line := range part.lines() {
			switch {
			case row < heads && line == "": // of a head that needs fewer lines here
				continue
			case row < heads:
				line = p.paint(bold, line)
			}
			p.line(line)
		}
	}
}
