package main

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// table is text in columns, printed as Markdown: the first column to the left,
// the others to the right, all as wide as they need to be to be read as they are.
type table struct {
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) print(w io.Writer) {
	widths := make([]int, len(t.head))
	for _, row := range append(t.rows, t.head) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell), 3)
		}
	}
	fmt.Fprintln(w, line(t.head, widths))
	for i, width := range widths {
		mark := "|:"
		if i > 0 {
			mark = "|-"
		}
		fmt.Fprint(w, mark, strings.Repeat("-", width))
		if i > 0 {
			fmt.Fprint(w, ":")
		} else {
			fmt.Fprint(w, "-")
		}
	}
	fmt.Fprintln(w, "|")
	for _, row := range t.rows {
		fmt.Fprintln(w, line(row, widths))
	}
}

func line(cells []string, widths []int) string {
	var b strings.Builder
	for i, cell := range cells {
		blanks := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i == 0 {
			b.WriteString("| " + cell + blanks + " ")
		} else {
			b.WriteString("| " + blanks + cell + " ")
		}
	}
	return b.String() + "|"
}
