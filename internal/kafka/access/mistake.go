package access

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Mistake is one mistake in a properties file. It never holds a value of the file.
type Mistake struct {
	File    string
	Line    int    // from 1
	Key     string // the setting; may be empty
	Problem string
	Remedy  string // may be empty
}

// Error returns "file:line: key: problem; remedy", without the parts that are empty.
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

// Mistakes are the mistakes in a properties file, in the order of its lines.
type Mistakes []Mistake

// Error returns one line for each mistake.
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
