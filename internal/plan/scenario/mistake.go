package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxMistakes bounds what one error reports: nobody reads on, and a broken file
// of a megabyte has a hundred thousand.
const maxMistakes = 100

// Mistake is one thing that is wrong in a scenario: where, what, and what would
// be right.
type Mistake struct {
	// File is the file's path, "preset NAME", or the override as it was given
	// ("--set load.rate=20k"); "" for a scenario that was not loaded.
	File string
	// Line and Column count from 1, in an override from the beginning of its
	// path; 0 for a scenario that was not loaded.
	Line, Column int
	// Path is the value's place in the scenario: load.arrival.steps[1].rate.
	Path    string
	Problem string
	Remedy  string // may be empty where the problem says it all
}

// Error is "file:line:column: path: problem; remedy", without the parts that
// the mistake does not have. An override is short enough to be found in without a
// place.
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

// Mistakes are all that is wrong in a scenario, in the order of the files, then of
// the overrides. An error that Read, ReadSuite, Parse or Validate returns for a
// scenario's content is one.
type Mistakes []Mistake

// Error is one line for each mistake.
func (fs Mistakes) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted puts the mistakes of the layers into the order in which a person meets
// them, and says each of them once.
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

// bounded cuts the mistakes at maxMistakes and says so.
func (fs Mistakes) bounded() Mistakes {
	if len(fs) <= maxMistakes {
		return fs
	}
	more := len(fs) - maxMistakes
	next := fs[maxMistakes]
	return append(fs[:maxMistakes:maxMistakes], Mistake{
		File: next.File, Line: next.Line, Column: next.Column,
		Problem: fmt.Sprintf("%d more faults follow", more),
		Remedy:  "mend these first",
	})
}

// asError avoids the error that is not nil and holds no mistakes.
func (fs Mistakes) asError() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}
