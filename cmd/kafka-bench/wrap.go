package main

import (
	"fmt"
	"io"
	"math"
	"strings"

	"kafkabench.example/kafka-bench/internal/show/layout"
)

// widthOf returns the columns for lines that a command prints. If they are unknown, a program may read the lines, and
// they are not wrapped.
func widthOf(w io.Writer) int {
	if columns := columnsOf(w); columns > 0 {
		return max(columns, narrowest)
	}
	return math.MaxInt
}

// narrowest is the least width that lines are wrapped to.
const narrowest = 40

func printTable(w io.Writer, t *layout.Table) error {
	_, err := fmt.Fprintln(w, strings.Join(t.Fit(widthOf(w)), "\n"))
	return err
}

// printWrapped prints a line of words, on several lines if it is too wide.
func printWrapped(w io.Writer, format string, args ...any) {
	fmt.Fprintln(w, strings.Join(layout.WrapWords(fmt.Sprintf(format, args...), widthOf(w)), "\n"))
}
