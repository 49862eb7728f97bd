package analysis

import (
	"fmt"
	"slices"
	"strings"

	"kafkabench.example/kafka-bench/internal/result"
)

// settingNames returns the last part of each path, or the whole path if two axes have the same last
// part.
func settingNames(axes []result.Axis) []string {
	count := map[string]int{}
	last := func(path string) string { return path[strings.LastIndex(path, ".")+1:] }
	for _, axis := range axes {
		count[last(axis.Path)]++
	}
	names := make([]string, len(axes))
	for i, axis := range axes {
		names[i] = axis.Path
		if count[last(axis.Path)] == 1 {
			names[i] = last(axis.Path)
		}
	}
	return names
}

// variantAxis is an axis whose values are scenarios.
const variantAxis = "variant"

// driverAxis is an axis whose values are clients.
const driverAxis = "driver"

// inWords names a cell by its settings, such as "compression none, linger 0".
func inWords(axes []result.Axis, values []string) string {
	var parts []string
	for i, name := range settingNames(axes) {
		switch {
		case i >= len(values):
		case axes[i].Path == variantAxis || axes[i].Path == driverAxis:
			parts = append(parts, values[i])
		default:
			parts = append(parts, name+" "+values[i])
		}
	}
	return strings.Join(parts, ", ")
}

// Said returns the name of the labelled cell in sentences.
func (d *Study) Said(label string) string {
	for _, cell := range d.Cells {
		if cell.Label == label && label != cell.Name && len(cell.Values) == len(d.Axes) {
			return inWords(d.Axes, cell.Values)
		}
	}
	return label
}

// SaidAll returns Said of each label.
func SaidAll(d *Study, labels []string) []string {
	all := make([]string, len(labels))
	for i, label := range labels {
		all[i] = d.Said(label)
	}
	return all
}

// CellNamed finds a cell of a campaign by its name (mycodecs-none-0) or its values, as reports or
// shells write them: "none, 0", none/0, none,0, "compression none, linger 0",
// compression=none,linger=0. The error lists the names.
func CellNamed(c *result.Campaign, wanted string) (int, error) {
	var found []int
	for i, cell := range c.Cells {
		if cell.Name == wanted {
			return i, nil
		}
		if slices.ContainsFunc(spellings(c.Axes, cell.Values),
			func(s []string) bool { return slices.Equal(s, namedParts(wanted)) }) {
			found = append(found, i)
		}
	}
	names := CellNames(c)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return 0, fmt.Errorf("%q names %d cells; name one of %s", wanted, len(found), strings.Join(names, ", "))
	}
	return 0, fmt.Errorf("no scenario %q; they are %s", wanted, strings.Join(names, ", "))
}

// CellNames returns the names of a campaign's cells, with their values.
func CellNames(c *result.Campaign) []string {
	names := make([]string, len(c.Cells))
	for i, cell := range c.Cells {
		names[i] = cell.Name
		if len(cell.Values) > 0 {
			names[i] += " (" + strings.Join(cell.Values, "/") + ")"
		}
	}
	return names
}

func spellings(axes []result.Axis, values []string) (all [][]string) {
	if len(values) == 0 || len(values) != len(axes) {
		return nil
	}
	var plain, short, long []string
	for i, name := range settingNames(axes) {
		value := namedParts(values[i])
		plain = append(plain, value...)
		short = append(append(short, name), value...)
		long = append(append(long, axes[i].Path), value...)
	}
	return [][]string{plain, short, long}
}

func namedParts(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,/=", r) })
}
