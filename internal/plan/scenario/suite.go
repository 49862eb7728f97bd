package scenario

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"go.yaml.in/yaml/v4"
)

// Options are applied over the scenarios that ReadSuite reads.
type Options struct {
	// Merge are presets and files to apply over the scenario, in order. Mappings are merged key by
	// key, null resets a value, and all else is replaced.
	Merge []string
	// Set are the overrides of the command line ("load.rate=20k/s"), applied after Merge.
	Set []string
	// Quick reads the scenario's quick form, or the scenario as it is if it has none.
	Quick bool
	// Driver replaces the client under test, or all clients that a matrix lists; "" keeps those of
	// the scenario.
	Driver string
	// Drivers are the valid driver names; nil allows any.
	Drivers []string
	// Stdin is read for the name "-", at most once; nil makes "-" a file name.
	Stdin io.Reader
	// DiskFault returns a problem and a remedy if this machine cannot use a folder of
	// cluster.disks; nil skips the check.
	DiskFault func(dir string) (problem, remedy string)
	// Env looks up ${NAME}; nil is os.LookupEnv.
	Env func(name string) (value string, ok bool)
	// EnvTexts are the variables that texts may take.
	EnvTexts []string

	stored bool // no value takes a variable
}

// Orders of a suite's runs. Interleaved runs each cell once per round, so that drift affects all
// cells alike. Blocked makes all runs of a cell before the next cell.
const (
	Interleaved = "interleaved"
	Blocked     = "blocked"
)

// Suite is the content of a scenario file: one scenario, or the cells of its matrix and variants.
type Suite struct {
	Name        string
	Description string
	Question    string
	Answer      string // one of Answers; may be empty
	By          string // the figure that ranks the cells or whose times are shown; may be empty
	Agents      int    // how many agents make each run at least; 0 is none
	HasQuick    bool
	Axes        []Axis // none without a matrix or variants
	Cells       []Cell
	Repeat      int    // runs of each cell, 1 to 1,000
	Order       string // interleaved, blocked
	Seed        uint64 // of the order within a round; 0 keeps the written order
}

// Axis is one setting that a matrix varies, or the variants.
type Axis struct {
	Path   string   // VariantAxis for the variants
	Values []string // in canonical form; the variants' names
}

// Cell is one configuration of a suite.
type Cell struct {
	// Name is the suite's name and the values: sweep-compression-zstd. It is unique in the suite
	// and also the Scenario's name.
	Name   string
	Values []string // one for each axis
	// Against is the variant to compare this cell with, at the same other values; "" is none.
	Against  string
	Scenario Scenario // resolved and valid
}

// ReadSuite is Read for a scenario with a matrix or variants; without them the suite has one cell.
// A mistake of a cell has the place of the value that caused it.
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

func parseSuite(layers []layer, o Options) (Suite, error) {
	d, doc, readable := read(layers, o)
	d.files = fileReader{}
	suite := d.suite(doc, readable)
	if err := d.conclusion(); err != nil {
		return Suite{}, err
	}
	return suite, nil
}

// Marshal returns one YAML document per cell; Parse reads each back as the same scenario.
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

const maxAgents = 1000

func (d *decoder) suite(doc document, readable bool) Suite {
	var c checker
	c.choice("order", doc.Order, []string{Interleaved, Blocked})
	if doc.Answer != "" {
		c.choice("answer", doc.Answer, answers)
	}
	c.between("agents", int64(doc.Agents), 0, maxAgents)
	d.validation(c.findings)
	s := Suite{
		Name: doc.Name, Description: doc.Description, Question: doc.Question, Answer: doc.Answer, By: doc.By,
		Agents:   doc.Agents,
		HasQuick: doc.Quick.given(),
		Repeat:   doc.Repeat, Order: doc.Order, Seed: doc.Seed,
	}
	all := doc.axes()
	for _, a := range all {
		s.Axes = append(s.Axes, Axis{Path: a.path, Values: texts(a.values)})
	}
	d.oneByOne(doc, all)
	values, ok := d.cells(matrix{axes: all, exclude: doc.Matrix.exclude})
	if !ok {
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

// A cell's name ends with the name of its variant.
func (doc document) axes() []axis {
	all := slices.Clone(doc.Matrix.axes)
	if doc.Variants.given() {
		all = append(all, doc.Variants.axis())
	}
	return all
}

// oneByOne reads each value separately over doc, to find mistakes that are independent of other
// axes, and values that mean the same.
func (d *decoder) oneByOne(doc document, all []axis) {
	for _, a := range all {
		values := a.values
		if len(values) == 0 { // check the path nevertheless
			null := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null", Line: a.at.line,
				Column: a.at.column}
			values = []choice{{text: "null", node: null, at: a.at}}
		}
		means := make(map[string]string) // resolved text → first value
		for _, value := range values[:min(len(values), maxCells)] {
			in := doc
			c := d.cellOf([]axis{a}, []choice{value}, &in)
			d.mistakes = append(d.mistakes, c.mistakes...)
			in.Description = "" // does not affect the run
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

func (d *decoder) readCells(doc document, all []axis, values [][]choice, readable bool) []Cell {
	cells := make([]Cell, len(values))
	unexplained := make(map[Mistake][]int) // → indices of its cells
	var order []Mistake
	for i, name := range names(doc.Name, values) {
		in := doc
		c := d.cellOf(all, values[i], &in)
		s := c.resolved(in.Scenario, readable)
		s.Name = name // only now, because mistakes in the name are doc's
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

// blamed places a mistake at the values of the first axis whose value occurs only in the affected
// cells. A mistake of all cells, or of an override, keeps its place.
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

func texts(values []choice) []string {
	list := make([]string, len(values))
	for i, value := range values {
		list[i] = value.text
	}
	return list
}

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
