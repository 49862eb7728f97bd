package scenario

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Options say what is laid over the scenarios that ReadSuite reads, and where
// the variables of the environment come from.
type Options struct {
	// Merge are presets and files that are laid over the scenario, in order:
	// the later one wins, mappings are merged key by key, everything else is
	// replaced, and null leaves a value open again.
	Merge []string
	// Set are the overrides of the command line ("load.rate=20k/s"), over
	// everything that was merged.
	Set []string
	// Quick reads the scenario's quick form, which has to be there.
	Quick bool
	// Driver is the client under test whatever the scenario says; of a matrix over
	// drivers it is the one that is kept. "" leaves that to the scenario.
	Driver string
	// Drivers are the names that a driver may have; nil is any.
	Drivers []string
	// Stdin is what the name - stands for, at most once; nil is nothing.
	Stdin io.Reader
	// DiskFault says what is wrong with a folder of cluster.disks on this machine, and what
	// to do about it; nil is not to look.
	DiskFault func(dir string) (problem, remedy string)
	// Env looks up ${NAME}; nil is os.LookupEnv.
	Env func(name string) (value string, ok bool)
}

// The orders in which a suite's runs are made. Interleaved is a round of all
// cells, then the next: what drifts in the machine or the cluster while the
// suite lasts meets all cells alike. Blocked makes all runs of a cell before the
// next one's.
const (
	Interleaved = "interleaved"
	Blocked     = "blocked"
)

// Suite is what a scenario file asks for: one scenario, or the cells of its
// matrix and variants, each to be run Repeat times.
type Suite struct {
	Name        string
	Description string
	Question    string // that the runs are to answer; may be empty
	Answer      string // by which it is answered; see Answers; may be empty
	By          string // the figure that the cells are ranked by, or whose times are told; may be empty
	HasQuick    bool   // whether Options.Quick could have been, or was, asked for
	Axes        []Axis // none without a matrix or variants
	Cells       []Cell // at least one
	Repeat      int    // runs of each cell, 1 to 1,000
	Order       string // interleaved, blocked
	Seed        uint64 // of the order within a round; 0 is as written
}

// Axis is one setting that a matrix varies, or the variants.
type Axis struct {
	Path   string   // as in load.compression; VariantAxis for the variants
	Values []string // as they were written; the variants' names
}

// Cell is one configuration of a suite.
type Cell struct {
	// Name is the suite's and the values, made plain: sweep-compression-zstd. It is also
	// the Scenario's, and so part of the run folder's name; no two cells of a suite share one.
	Name   string
	Values []string // one for each axis
	// Against is the variant whose cell with the same other values this cell is held against;
	// "" is none.
	Against  string
	Scenario Scenario // resolved and valid
}

// ReadSuite reads the scenario that arg names, as Read does, with its matrix and its
// variants. A scenario without either is a suite of one cell. An error is Mistakes
// where it is about the content: all that is wrong in all files, overrides and
// cells, and what is wrong with a cell where the value stands that caused it.
func ReadSuite(arg string, o Options) (Suite, error) {
	var layers []layer
	var unread []error
	for _, name := range append([]string{arg}, o.Merge...) {
		l, err := o.readLayer(name)
		layers, unread = append(layers, l), append(unread, err)
	}
	if err := errors.Join(unread...); err != nil {
		return Suite{}, err
	}
	return parseSuite(layers, o)
}

// parseSuite is ReadSuite for what was read from the files.
func parseSuite(layers []layer, o Options) (Suite, error) {
	d, doc, readable := read(layers, o)
	suite := d.suite(doc, readable)
	if err := d.conclusion(); err != nil {
		return Suite{}, err
	}
	return suite, nil
}

// Marshal prints the scenarios of all cells, each of which Parse reads back as
// the same: one YAML document after the other.
func (s Suite) Marshal() ([]byte, error) {
	var all bytes.Buffer
	for i, cell := range s.Cells {
		text, err := cell.Scenario.Marshal()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			all.WriteString("---\n")
		}
		all.Write(text)
	}
	return all.Bytes(), nil
}

// suite makes the suite of what was read, and judges it.
func (d *decoder) suite(doc document, readable bool) Suite {
	var c checker
	c.choice("order", doc.Order, []string{Interleaved, Blocked})
	if doc.Answer != "" {
		c.choice("answer", doc.Answer, answers)
	}
	d.validation(c.findings)
	s := Suite{
		Name: doc.Name, Description: doc.Description, Question: doc.Question, Answer: doc.Answer, By: doc.By,
		HasQuick: doc.Quick.given(),
		Repeat:   doc.Repeat, Order: doc.Order, Seed: doc.Seed,
	}
	all := doc.axes()
	for _, a := range all {
		s.Axes = append(s.Axes, Axis{Path: a.path, Values: texts(a.values)})
	}
	d.oneByOne(doc, all)
	values, ok := d.cells(matrix{axes: all, exclude: doc.Matrix.exclude})
	if !ok { // then nobody knows what the cells would set
		for _, a := range all {
			d.failed[a.sets()] = true
		}
		d.resolved(doc.Scenario, readable)
		return s
	}
	if len(all) == 0 {
		s.Cells = []Cell{{Name: doc.Name, Scenario: d.resolved(doc.Scenario, readable)}}
		return s
	}
	s.Cells = d.readCells(doc, all, values, readable)
	return s
}

// axes are those of the matrix, and the variants behind them: a cell's name ends in
// its variant's.
func (doc document) axes() []axis {
	all := slices.Clone(doc.Matrix.axes)
	if doc.Variants.given() {
		all = append(all, doc.Variants.axis())
	}
	return all
}

// oneByOne reads each value of each axis alone, over doc: what is wrong with one is
// found whatever is wrong with the others, and so are two values that mean the same.
func (d *decoder) oneByOne(doc document, all []axis) {
	for _, a := range all {
		values := a.values
		if len(values) == 0 { // none could be read; the path is judged all the same
			null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: a.at.line,
				Column: a.at.column}
			values = []choice{{text: "null", node: null, at: a.at}}
		}
		means := make(map[string]string) // what is run → the first value for it
		for _, value := range values[:min(len(values), maxCells)] {
			in := doc
			c := d.cellOf([]axis{a}, []choice{value}, &in)
			d.mistakes = append(d.mistakes, c.mistakes...)
			in.Description = "" // says nothing of what is run
			text, err := in.Scenario.MarshalJSON()
			if err != nil || len(c.mistakes) > 0 {
				continue
			}
			if first, twice := means[string(text)]; twice {
				d.mistakeAt(value.at, a.where(), value.text+" is the same as "+first,
					"keep one of them; repeat says how often a cell is run")
				continue
			}
			means[string(text)] = value.text
		}
	}
}

// readCells reads and judges the cells of doc.
func (d *decoder) readCells(doc document, all []axis, values [][]choice, readable bool) []Cell {
	cells := make([]Cell, len(values))
	unexplained := make(map[Mistake][]int) // in which cells
	var order []Mistake
	for i, name := range names(doc.Name, values) {
		in := doc
		c := d.cellOf(all, values[i], &in)
		s := c.resolved(in.Scenario, readable)
		s.Name = name // after it was judged: what is wrong with it is wrong with doc's
		cells[i] = Cell{Name: name, Values: texts(values[i]), Against: doc.Variants.base(values[i]), Scenario: s}
		d.mistakes = append(d.mistakes, c.mistakes...)
		for _, f := range c.cell.unexplained {
			if len(unexplained[f]) == 0 {
				order = append(order, f)
			}
			unexplained[f] = append(unexplained[f], i)
		}
	}
	for _, f := range order {
		d.mistakes = append(d.mistakes, blamed(f, unexplained[f], values)...)
	}
	return cells
}

// blamed gives a mistake that is in some of the cells, and is about nothing that
// the matrix sets, the places of the values that it comes with: those of the
// first axis of which a value always brings it. What is in all cells is the
// scenario's own, and what is on the command line is told there.
func blamed(f Mistake, in []int, cells [][]choice) (mistakes Mistakes) {
	if len(in) == len(cells) || isOverride(f.File) {
		return Mistakes{f}
	}
	for _, i := range in {
		axis := slices.IndexFunc(cells[i], func(c choice) bool {
			for k, cell := range cells {
				if slices.ContainsFunc(cell, func(other choice) bool { return other.at == c.at }) &&
					!slices.Contains(in, k) {
					return false
				}
			}
			return true
		})
		at := cells[i][max(axis, 0)].at
		f.File, f.Line, f.Column = at.file, at.line, at.column
		mistakes = append(mistakes, f)
	}
	return mistakes
}

// texts are the values as they were written.
func texts(values []choice) []string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = value.text
	}
	return list
}

// alone refuses what makes several scenarios of one.
func (d *decoder) alone(doc document) {
	for _, key := range []struct {
		name  string
		there bool
	}{{"matrix", len(doc.Matrix.axes) > 0}, {variantsKey, doc.Variants.given()}} {
		if key.there {
			d.mistakeAt(d.nearestPlace(key.name), key.name,
				"it makes a suite of this scenario, and one scenario is wanted here",
				"give it to the run command, or leave it out (--set "+key.name+"=null)")
		}
	}
}
