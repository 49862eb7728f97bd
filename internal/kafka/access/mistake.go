package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one thing that is wrong in a properties file. It never holds a value
// of the file.
type Mistake struct {
	File    string
	Line    int    // from 1
	Key     string // the setting; empty where the line has none
	Problem string
	Remedy  string // may be empty where the problem says it all
}

// Error is "file:line: key: problem; remedy", without the parts that the mistake
// does not have.
func (f Mistake) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d: ", f.File, f.Line)
	if f.Key != "" {
		b.WriteString(f.Key + ": ")
	}
	b.WriteString(f.Problem)
	if f.Remedy != "" {
		b.WriteString("; " + f.Remedy)
	}
	return b.String()
}

// Mistakes are all that is wrong in a properties file, in the order of its lines.
type Mistakes []Mistake

// Error is one line for each mistake.
func (fs Mistakes) Error() string {
	lines := make([]string, len(fs))
	for i, f := range fs {
		lines[i] = f.Error()
	}
	return strings.Join(lines, "\n")
}

func (fs Mistakes) sorted() Mistakes {
	slices.SortStableFunc(fs, func(a, b Mistake) int { return cmp.Compare(a.Line, b.Line) })
	return fs
}
