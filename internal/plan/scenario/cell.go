package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A cellReading remembers, while a cell is read, what its values set, so that a
// mistake can be shown at the value that caused it. Outside of a cell it is nil,
// and its methods do nothing.
type cellReading struct {
	axes     []axis
	values   []choice         // one for each axis
	axis     int              // whose value is being read; commandLine for an override
	set      map[string]cause // path → what set it
	before   map[string]place // where the scenario's own values are
	mistakes Mistakes         // about how the values meet others
	// unexplained are what no value set, and yet is a mistake in this cell.
	unexplained Mistakes
}

// commandLine stands for the axis while an override is laid over a variant.
const commandLine = -1

// A cause is the value of an axis that set something, and where it says so: at the
// value itself, and of a variant, which sets many things, at the one in question.
type cause struct {
	axis int
	at   place
}

// cellOf returns the reading of a cell: over what d has read lie the values.
func (d *decoder) cellOf(axes []axis, values []choice, doc *document) *decoder {
	c := &decoder{
		layers: slices.Clip(d.layers), env: d.env, drivers: d.drivers, diskFault: d.diskFault, nodes: d.nodes, places: maps.Clone(d.places),
		overrides: d.overrides,
		failed:    maps.Clone(d.failed), incomplete: maps.Clone(d.incomplete),
		cell: &cellReading{axes: axes, values: values, set: make(map[string]cause), before: d.places},
	}
	c.layVariant(doc)
	for i, value := range values {
		if axes[i].path == VariantAxis {
			continue
		}
		c.cell.axis, c.layer = i, value.at.file
		c.value(nest(keysAt(axes[i].path, axes[i].at), value.node), reflect.ValueOf(doc).Elem(), "")
	}
	c.mistakes = append(c.mistakes, c.cell.mistakes...)
	return c
}

// sets is told that the value being read set path, at a place.
func (c *cellReading) sets(path string, at place) {
	if c == nil {
		return
	}
	if c.axis == commandLine {
		maps.DeleteFunc(c.set, func(set string, _ cause) bool { return within(path, set) })
		return
	}
	if other, twice := c.set[path]; twice && other.axis != c.axis {
		at := c.values[c.axis].at
		c.mistakes = append(c.mistakes, Mistake{at.file, at.line, at.column, path,
			fmt.Sprintf("the matrix sets it by %s and by %s", c.axes[other.axis].path,
				c.axes[c.axis].path), "let one axis set it"})
	}
	if c.axes[c.axis].path != VariantAxis {
		at = c.values[c.axis].at
	}
	c.set[path] = cause{c.axis, at}
}

// replaces is told that the value being read replaces one that was written at a
// place. Who set it on the command line expects it to hold.
func (c *cellReading) replaces(path string, at place) {
	if c == nil || c.axis == commandLine || c.axes[c.axis].path == VariantAxis || !isOverride(at.file) ||
		c.before[path] != at {
		return
	}
	varied := c.axes[c.axis].path
	c.mistakes = append(c.mistakes, Mistake{at.file, at.line, at.column, path, "the matrix sets it as well",
		fmt.Sprintf("write %smatrix.%s=[…] to choose among its values, or %[1]smatrix.%s=null to vary it no more",
			overridePrefix, varied)})
}

// explain gives f the place of the value that caused it. It reports false where
// no value did.
func (c *cellReading) explain(f *finding) bool {
	if c == nil {
		return true
	}
	var causes []cause
	for _, path := range append([]string{f.Path}, f.from...) {
		for _, by := range c.settersOf(path) {
			if !slices.ContainsFunc(causes, by.sameAxis) {
				causes = append(causes, by)
			}
		}
	}
	if len(causes) == 0 {
		c.unexplained = append(c.unexplained, f.Mistake)
		return false
	}
	at := causes[0].at
	f.File, f.Line, f.Column = at.file, at.line, at.column
	if len(causes) > 1 {
		f.Remedy = strings.TrimPrefix(f.Remedy+"; or exclude "+c.term(causes), "; ")
	}
	return true
}

// sameAxis tells whether both are values of one axis.
func (c cause) sameAxis(other cause) bool { return c.axis == other.axis }

// settersOf are what set path, a part of it, or what it is a part of: of each axis
// what it says first.
func (c *cellReading) settersOf(path string) (causes []cause) {
	for set, by := range c.set {
		if within(path, set) || within(set, path) {
			causes = append(causes, by)
		}
	}
	slices.SortFunc(causes, func(a, b cause) int {
		return cmp.Or(cmp.Compare(a.axis, b.axis), cmp.Compare(a.at.line, b.at.line),
			cmp.Compare(a.at.column, b.at.column))
	})
	return slices.CompactFunc(causes, cause.sameAxis)
}

// term is what excludes the values of these axes together.
func (c *cellReading) term(causes []cause) string {
	slices.SortFunc(causes, func(a, b cause) int { return cmp.Compare(a.axis, b.axis) })
	var terms []string
	for _, by := range causes {
		terms = append(terms, c.axes[by.axis].path+": "+c.values[by.axis].text)
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
