package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// limitRows are the beginnings of rows, in the first table of docs/PERFORMANCE.md, that say whether
// the tool itself limits what the suites measure.
var limitRows = []string{"producing ÷", "consuming ÷", "allocated for a record", "the highest rate of an open loop",
	"acknowledged records lost"}

// readLimits returns "" if dir, the folder of the results, has no ../docs/PERFORMANCE.md.
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
