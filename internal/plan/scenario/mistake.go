package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A broken file of 1 MiB could have a hundred thousand mistakes.
const maxMistakes = 100

// Mistake is one mistake in a scenario: its place, the problem and the remedy.
type Mistake struct {
	// File is the file's path, "preset NAME", or the override as given ("--set load.rate=20k"); ""
	// for a scenario that was not loaded.
	File string
	// Line and Column count from 1. In an override they count from the start of its path. Both are
	// 0 without a file.
	Line, Column int
	// Path is the value's path in the scenario, such as load.arrival.steps[1].rate.
	Path    string
	Problem string
	Remedy  string // may be empty
}

// Error returns "file:line:column: path: problem; remedy" without empty parts.
func (f Mistake) Error() string {
	var b strings.Builder
	if f.File != "" {
		b.WriteString(f.File)
		if f.Line > 0 && !isOverride(f.File) {
			fmt.Fprintf(&b, ":%d:%d", f.Line, f.Column)
		}
		b.WriteString(": ")
	}
	if f.Path != "" && !strings.HasPrefix(f.File, overridePrefix+f.Path+"=") {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// Mistakes are all mistakes of a scenario, in the order of the files, then of the overrides. Read,
// ReadSuite, Parse and Validate return them as the error for a scenario's content.
type Mistakes []Mistake

// Error returns one line for each mistake.
func (fs Mistakes) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted sorts the mistakes by layer and place, and removes duplicates.
func (fs Mistakes) sorted(layers []string) Mistakes {
	slices.SortStableFunc(fs, func(a, b Mistake) int {
		return cmp.Or(
			cmp.Compare(slices.Index(layers, a.File), slices.Index(layers, b.File)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column))
	})
	said := make(map[Mistake]bool)
	return slices.DeleteFunc(fs, func(f Mistake) bool {
		again := said[f]
		said[f] = true
		return again
	})
}

func (fs Mistakes) bounded() Mistakes {
	if len(fs) <= maxMistakes {
		return fs
	}
	more := len(fs) - maxMistakes
	next := fs[maxMistakes]
	return append(fs[:maxMistakes:maxMistakes], Mistake{
		File: next.File, Line: next.Line, Column: next.Column,
		Problem: fmt.Sprintf("%d more mistakes follow", more),
		Remedy:  "correct these first",
	})
}

func (fs Mistakes) asError() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}
