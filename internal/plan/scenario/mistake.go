package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxFaults bounds what one error reports: nobody reads on, and a broken file
// of a megabyte has a hundred thousand.
const maxFaults = 100

// Fault is one thing that is wrong in a scenario: where, what, and what would
// be right.
type Fault struct {
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
// the fault does not have. An override is short enough to be found in without a
// place.
func (f Fault) Error() string {
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

// Faults are all that is wrong in a scenario, in the order of the files, then of
// the overrides. An error that Read, ReadSuite, Parse or Validate returns for a
// scenario's content is one.
type Faults []Fault

// Error is one line for each fault.
func (fs Faults) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

// sorted puts the faults of the layers into the order in which a person meets
// them, and says each of them once.
func (fs Faults) sorted(layers []string) Faults {
	slices.SortStableFunc(fs, func(a, b Fault) int {
		return cmp.Or(
			cmp.Compare(slices.Index(layers, a.File), slices.Index(layers, b.File)),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column))
	})
	said := make(map[Fault]bool)
	return slices.DeleteFunc(fs, func(f Fault) bool {
		again := said[f]
		said[f] = true
		return again
	})
}

// bounded cuts the faults at maxFaults and says so.
func (fs Faults) bounded() Faults {
	if len(fs) <= maxFaults {
		return fs
	}
	more := len(fs) - maxFaults
	next := fs[maxFaults]
	return append(fs[:maxFaults:maxFaults], Fault{
		File: next.File, Line: next.Line, Column: next.Column,
		Problem: fmt.Sprintf("%d more faults follow", more),
		Remedy:  "mend these first",
	})
}

// asError avoids the error that is not nil and holds no faults.
func (fs Faults) asError() error {
	if len(fs) == 0 {
		return nil
	}
	return fs
}
