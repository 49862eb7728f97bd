package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Table is the chart as text: a head, then at most so many rows, and a last one that counts
// those that were left out. The first and the last are kept, the others are evenly chosen.
// All rows have the same length.
func (s Spec) Table(rows int) [][]string {
	s = s.clean()
	t := table{cells: make(map[float64][]string)}
	// If all panels have the same rows, so has the table; else it has those of the x axis.
	byRow := len(s.Panels) > 0 && !slices.ContainsFunc(s.Panels, func(p Panel) bool {
		return len(p.Y.Categories) == 0 || !slices.Equal(p.Y.Categories, s.Panels[0].Y.Categories)
	})
	key := s.X
	if byRow {
		key = s.Panels[0].Y
	}
	t.head = []string{key.Label}
	for _, p := range s.Panels {
		for _, one := range p.Series {
			t.head = append(t.head, heading(p, one, len(s.Panels) > 1))
		}
	}
	column := 0
	for _, p := range s.Panels {
		for _, one := range p.Series {
			column++
			for i := range one.X0 {
				at, cell := s.cell(p, one, i, byRow)
				t.add(at, column, cell)
			}
		}
	}
	return t.write(key, rows)
}

// heading of a series' column.
func heading(p Panel, s Series, several bool) string {
	switch {
	case s.Name == "":
		return p.Y.Label
	case several && p.Y.Label != "":
		return p.Y.Label + ": " + s.Name
	}
	return s.Name
}

// cell is what a series says in the row of a value.
func (s Spec) cell(p Panel, one Series, i int, byRow bool) (key float64, words string) {
	rows := len(p.Y.Categories) > 0
	value, axis := at(one.Y, i), p.Y
	key = one.X0[i]
	switch {
	case byRow:
		key, value, axis = value, key, s.X
	case rows && one.Kind == Bars:
		if !known(at(one.X1, i)) {
			return key, ""
		}
		return key, p.Y.write(value) + " to " + s.X.write(at(one.X1, i))
	}
	switch one.Kind {
	case Bars:
		return key, span(axis, one.X0[i], at(one.X1, i))
	case Band:
		return key, span(p.Y, at(one.Low, i), at(one.High, i))
	case Whiskers:
		if rows {
			axis, value = s.X, one.X0[i]
		}
		words = axis.write(value)
		if ends := span(axis, at(one.Low, i), at(one.High, i)); words != "" && ends != "" {
			words += " (" + ends + ")"
		}
		return key, words
	}
	return key, axis.write(value)
}

func span(a Axis, low, high float64) string {
	if !known(low) || !known(high) {
		return ""
	}
	return a.write(low) + " to " + a.write(high)
}

// write is a value in words; "" if it is not known.
func (a Axis) write(v float64) string {
	switch {
	case !known(v):
		return ""
	case v == math.Trunc(v) && v >= 0 && v < float64(len(a.Categories)):
		return a.Categories[int(v)]
	case a.Format != nil:
		return clean(a.Format(v))
	}
	return exact(v)
}

// table gathers cells by the value of their row.
type table struct {
	head  []string
	cells map[float64][]string
}

// add puts words into a cell, after what is in it.
func (t *table) add(key float64, column int, words string) {
	if !known(key) || words == "" {
		return
	}
	row := t.cells[key]
	if row == nil {
		row = make([]string, len(t.head))
		t.cells[key] = row
	}
	if row[column] != "" {
		words = row[column] + ", " + words
	}
	row[column] = words
}

func (t *table) write(key Axis, rows int) [][]string {
	keys := make([]float64, 0, len(t.cells))
	for k := range t.cells {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	all := [][]string{t.head}
	rows = max(rows, 0)
	chosen := min(rows, len(keys))
	for i := range chosen {
		k := keys[0]
		if chosen > 1 {
			k = keys[i*(len(keys)-1)/(chosen-1)]
		}
		row := t.cells[k]
		row[0] = key.write(k)
		all = append(all, row)
	}
	if left := len(keys) - chosen; left > 0 {
		row := make([]string, len(t.head))
		row[0] = fmt.Sprintf("%s of %s not shown", strconv.Itoa(left), counted(len(keys), "row", "rows"))
		all = append(all, row)
	}
	return all
}
