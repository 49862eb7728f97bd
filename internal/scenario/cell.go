package scenario

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A cellReading remembers, while a cell is read, what its values set, so that a
// fault can be shown at the value that caused it. Outside of a cell it is nil,
// and its methods do nothing.
type cellReading struct {
	axes   []axis
	values []choice         // one for each axis
	axis   int              // whose value is being read
	set    map[string]int   // path → the axis that set it
	before map[string]place // where the scenario's own values are
	faults Faults           // about how the values meet others
	// unexplained are what no value set, and yet is a fault in this cell.
	unexplained Faults
}

// cellOf returns the reading of a cell: over what d has read lie the values.
func (d *decoder) cellOf(axes []axis, values []choice, doc *document) *decoder {
	c := &decoder{
		layers: d.layers, env: d.env, nodes: d.nodes, places: maps.Clone(d.places),
		failed: maps.Clone(d.failed), incomplete: maps.Clone(d.incomplete),
		cell: &cellReading{axes: axes, values: values, set: make(map[string]int), before: d.places},
	}
	for i, value := range values {
		c.cell.axis, c.layer = i, value.at.file
		c.value(nest(keysAt(axes[i].path, axes[i].at), value.node), reflect.ValueOf(doc).Elem(), "")
	}
	c.faults = append(c.faults, c.cell.faults...)
	return c
}

// sets is told that the value being read set path.
func (c *cellReading) sets(path string) {
	if c == nil {
		return
	}
	if other, twice := c.set[path]; twice && other != c.axis {
		at := c.values[c.axis].at
		c.faults = append(c.faults, Fault{at.file, at.line, at.column, path,
			fmt.Sprintf("the matrix sets it by %s and by %s", c.axes[other].path, c.axes[c.axis].path), "let one axis set it"})
	}
	c.set[path] = c.axis
}

// replaces is told that the value being read replaces one that was written at a
// place. Who set it on the command line expects it to hold.
func (c *cellReading) replaces(path string, at place) {
	if c == nil || !isOverride(at.file) || c.before[path] != at {
		return
	}
	varied := c.axes[c.axis].path
	c.faults = append(c.faults, Fault{at.file, at.line, at.column, path, "the matrix sets it as well",
		fmt.Sprintf("write %smatrix.%s=[…] to choose among its values, or %[1]smatrix.%s=null to vary it no more", overridePrefix, varied)})
}

// explain gives f the place of the value that caused it. It reports false where
// no value did.
func (c *cellReading) explain(f *finding) bool {
	if c == nil {
		return true
	}
	var causes []int
	for _, path := range append([]string{f.Path}, f.from...) {
		for _, axis := range c.settersOf(path) {
			if !slices.Contains(causes, axis) {
				causes = append(causes, axis)
			}
		}
	}
	if len(causes) == 0 {
		c.unexplained = append(c.unexplained, f.Fault)
		return false
	}
	at := c.values[causes[0]].at
	f.File, f.Line, f.Column = at.file, at.line, at.column
	if len(causes) > 1 {
		f.Remedy = strings.TrimPrefix(f.Remedy+"; or exclude "+c.term(causes), "; ")
	}
	return true
}

// settersOf are the axes that set path, a part of it, or what it is a part of.
func (c *cellReading) settersOf(path string) (axes []int) {
	for set, axis := range c.set {
		if (within(path, set) || within(set, path)) && !slices.Contains(axes, axis) {
			axes = append(axes, axis)
		}
	}
	slices.Sort(axes)
	return axes
}

// term is what excludes the values of these axes together.
func (c *cellReading) term(axes []int) string {
	slices.Sort(axes)
	var terms []string
	for _, i := range axes {
		terms = append(terms, c.axes[i].path+": "+c.values[i].text)
	}
	return "{" + strings.Join(terms, ", ") + "}"
}

// names makes the names of a suite's cells, which are parts of folders' and
// topics' names: the suite's and the values, made plain, cut where they become
// too long, and numbered where two would be the same.
func names(suite string, cells [][]choice) []string {
	taken := make(map[string]bool)
	list := make([]string, len(cells))
	for i, cell := range cells {
		parts := []string{suite}
		for _, value := range cell {
			parts = append(parts, plain(value.text))
		}
		whole := cut(strings.Join(parts, "-"), maxNameLength)
		name := whole
		for n := 2; taken[name]; n++ {
			number := "-" + strconv.Itoa(n)
			name = cut(whole, maxNameLength-len(number)) + number
		}
		taken[name] = true
		list[i] = name
	}
	return list
}

// plain makes a part of a name of any text: 10k/s is 10k-s.
func plain(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !nameLetter(r) })
	if len(words) == 0 {
		return "other"
	}
	return strings.Join(words, "-")
}

// cut cuts a plain name.
func cut(name string, length int) string {
	return strings.TrimRight(name[:min(length, len(name))], "-._")
}
