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

// cellReading records for each path which value of the cell set it, so that a mistake gets the
// place of that value. Its methods do nothing on nil.
type cellReading struct {
	axes        []axis
	values      []choice         // one for each axis
	axis        int              // of the current value; commandLine for an override
	set         map[string]cause // by path
	before      map[string]place // of the scenario's own values
	mistakes    Mistakes
	unexplained Mistakes
}

const commandLine = -1

// cause is an axis and the place of its value.
type cause struct {
	axis int
	at   place
}

func (d *decoder) cellOf(axes []axis, values []choice, doc *document) *decoder {
	c := &decoder{
		layers: slices.Clip(d.layers), env: d.env, drivers: d.drivers, diskFault: d.diskFault, files: d.files, nodes: d.nodes, places: maps.Clone(d.places),
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

func (c *cellReading) replaces(path string, at place) {
	if c == nil || c.axis == commandLine || c.axes[c.axis].path == VariantAxis || !isOverride(at.file) ||
		c.before[path] != at {
		return
	}
	varied := c.axes[c.axis].path
	c.mistakes = append(c.mistakes, Mistake{at.file, at.line, at.column, path, "the matrix sets it as well",
		fmt.Sprintf("write %smatrix.%s=[…] to choose among its values, or %[1]smatrix.%s=null to stop varying it",
			overridePrefix, varied)})
}

// explain gives f the place of the value that caused it, and reports false if no value did.
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

func (c cause) sameAxis(other cause) bool { return c.axis == other.axis }

// settersOf returns one cause for each axis that set path, a part of it or a parent.
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

func (c *cellReading) term(causes []cause) string {
	slices.SortFunc(causes, func(a, b cause) int { return cmp.Compare(a.axis, b.axis) })
	var terms []string
	for _, by := range causes {
		terms = append(terms, c.axes[by.axis].path+": "+c.values[by.axis].text)
	}
	return "{" + strings.Join(terms, ", ") + "}"
}

// names returns unique names, cut to maxNameLength, which become parts of folder and topic names.
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

// plain makes 10k-s of 10k/s.
func plain(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return !nameLetter(r) })
	if len(words) == 0 {
		return "other"
	}
	return strings.Join(words, "-")
}

func cut(name string, length int) string {
	return strings.TrimRight(name[:min(length, len(name))], "-._")
}
