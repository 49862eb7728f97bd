package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// limitRows are the rows of the first table of docs/PERFORMANCE.md that say whether the
// tool itself is the limit of what the suites measure, by their beginnings.
var limitRows = []string{"producing ÷", "consuming ÷", "allocated for a record", "the highest rate of an open loop",
	"acknowledged records lost"}

// readLimits takes those rows from the page beside the results in dir; there are none
// where there is no page.
func readLimits(dir string) (string, error) {
	page, err := os.ReadFile(filepath.Join(dir, "..", "docs", "PERFORMANCE.md"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return limitsOf(string(page)), nil
}

// limitsOf is the table of the rows of a page that are limitRows.
func limitsOf(page string) string {
	rows := []string{"| | goal | seen |", "|---|---|---|"}
	for line := range strings.Lines(page) {
		for _, beginning := range limitRows {
			if strings.HasPrefix(line, "| "+beginning) {
				rows = append(rows, strings.TrimSpace(line))
			}
		}
	}
	return strings.Join(rows, "\n")
}
