package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/plan/spelling"
)

const maxFileBytes = 1 << 20

// Read reads the preset or file arg, applies the overrides ("load.rate=20k/s") in their order,
// resolves the scenario and validates it. A preset has precedence over a file of the same name;
// ./name is the file. Values may name environment variables, as in ${RATE} or ${RATE:-10k/s}. A
// matrix is a mistake; ReadSuite accepts it. Errors about the content are Mistakes; others say why
// arg cannot be read.
func Read(arg string, overrides ...string) (Scenario, error) {
	l, err := Options{}.readLayer(arg)
	if err != nil {
		return Scenario{}, err
	}
	return parse(l, Options{Set: overrides})
}

// Parse reads the text of a scenario that was stored, as Marshal writes it: a variable in it is a mistake. The
// file's name is the default of the scenario's name.
func Parse(file string, text []byte, overrides ...string) (Scenario, error) {
	return parse(layer{file, text}, Options{Set: overrides, stored: true})
}

func parse(l layer, o Options) (Scenario, error) {
	d, doc, readable := read([]layer{l}, o)
	d.alone(doc)
	s := d.resolved(doc.Scenario, readable)
	if err := d.conclusion(); err != nil {
		return Scenario{}, err
	}
	return s, nil
}

type document struct {
	Scenario `yaml:",inline"`
	Question string `yaml:"question,omitempty"`
	Answer   string `yaml:"answer,omitempty"` // one of Answers
	By       string `yaml:"by,omitempty"`     // the figure that the answer uses, such as acked_per_s
	Agents   int    `yaml:"agents,omitempty"` // how many agents make a run at least; 0 is none
	// --quick applies Quick; --set overrides it.
	Quick quick `yaml:"quick,omitempty"`
	// Each variant runs with every combination of the matrix.
	Variants variants `yaml:"variants,omitempty"`
	Matrix   matrix   `yaml:"matrix,omitempty"`
	Order    string   `yaml:"order"` // of the runs: interleaved, blocked
	Seed     uint64   `yaml:"seed"`  // of the order within a round; 0 keeps the written order
}

type layer struct {
	name string
	text []byte
}

const (
	stdinName    = "stdin"
	presetPrefix = "preset "
)

func (o Options) readLayer(arg string) (layer, error) {
	if arg == "-" && o.Stdin != nil {
		text, err := readText("from standard input", o.Stdin)
		return layer{stdinName, text}, err
	}
	if slices.Contains(Names(), arg) {
		text, err := PresetText(arg)
		return layer{presetPrefix + arg, text}, err
	}
	text, err := readFile(arg)
	return layer{arg, text}, err
}

// readable reports whether the result can be validated.
func read(layers []layer, o Options) (d *decoder, doc document, readable bool) {
	d = newDecoder(o)
	doc, readable = document{Scenario: blank(), Order: Interleaved}, true
	for _, l := range layers {
		d.begin(l.name)
		readable = d.document(l.text, &doc) && readable
	}
	if readable {
		d.layQuick(&doc, o.Quick)
	}
	for _, text := range o.Set {
		d.override(override{overridePrefix + shown(text), text}, &doc)
	}
	if o.Driver != "" {
		d.override(override{driverPrefix + o.Driver, doc.chosen(o.Driver)}, &doc)
	}
	if _, written := d.places["name"]; !written {
		doc.Name = nameOf(layers[0].name)
	}
	if o.Quick && doc.Quick.given() {
		doc.Name = quickName(doc.Name)
	}
	return d, doc, readable
}

func (d *decoder) resolved(s Scenario, readable bool) Scenario {
	d.writtenZeros(&s)
	s = s.Resolve()
	var c checker
	d.readPayload(&s, &c)
	d.liftWindow(&s)
	if readable {
		if d.drivers != nil && s.Driver != "" {
			c.choice(driverKey, s.Driver, d.drivers)
		}
		for i, dir := range s.Cluster.Disks {
			if d.diskFault == nil || dir == "" {
				continue
			}
			if problem, remedy := d.diskFault(dir); problem != "" {
				c.mistake(fmt.Sprintf("cluster.disks[%d]", i), problem, remedy)
			}
		}
		d.validation(append(s.findings(), c.findings...))
	}
	return s
}

const driverKey = "driver"

func (doc document) chosen(driver string) string {
	if slices.ContainsFunc(doc.Matrix.axes, func(a axis) bool { return a.path == driverKey }) {
		return "matrix." + driverKey + "=[" + driver + "]"
	}
	return driverKey + "=" + driver
}

func (d *decoder) conclusion() error {
	return d.env.attribute(d.mistakes.sorted(d.layers)).bounded().asError()
}

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(path)
	}
	if err != nil {
		return nil, fmt.Errorf("scenario %s cannot be read: %w", path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("scenario %s is a folder; name a file in it", path)
	}
	return readText(path, f)
}

func readText(name string, from io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(from, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("scenario %s cannot be read: %w", name, err)
	}
	if len(text) > maxFileBytes {
		return nil, fmt.Errorf("scenario %s is larger than 1 MiB; is it a scenario?", name)
	}
	return text, nil
}

func notFound(arg string) error {
	if arg == "" {
		return errors.New("no scenario is named; give a file or a preset (kafka-bench list)")
	}
	remedy := "kafka-bench list prints the presets"
	if near := spelling.Nearest(arg, Names()); near != "" {
		remedy = fmt.Sprintf("did you mean %s?", near)
	}
	return fmt.Errorf("scenario %s: %w, and no preset has this name; %s", arg, fs.ErrNotExist, remedy)
}

func nameOf(file string) string {
	base := filepath.Base(strings.TrimPrefix(file, presetPrefix))
	base = strings.TrimSuffix(base, filepath.Ext(base))
	name := strings.Map(func(r rune) rune {
		if nameLetter(r) {
			return r
		}
		return '-'
	}, base)
	if name = strings.TrimLeft(name, "-._"); name == "" {
		return Defaults().Name
	}
	return name[:min(len(name), maxNameLength)]
}

// document reports whether the result can be validated.
func (d *decoder) document(text []byte, doc *document) bool {
	if line, column, what := unreadable(text); what != "" {
		d.mistakes = append(d.mistakes, Mistake{File: d.layer, Line: line, Column: column, Problem: what,
			Remedy: "save the file as UTF-8 text"})
		return false
	}
	root, err := d.parse(text)
	if err != nil {
		at, problem, remedy := syntax(err, string(text))
		d.mistakes = append(d.mistakes, Mistake{File: d.layer, Line: at.line, Column: at.column,
			Problem: "it is not YAML: " + problem, Remedy: remedy})
		return false
	}
	if root == nil {
		return false
	}
	d.expand(root, "")
	d.value(root, reflect.ValueOf(doc).Elem(), "")
	return !d.failed[""]
}

// parse returns nil after a mistake.
func (d *decoder) parse(text []byte) (*yaml.Node, error) {
	roots, err := parseYAML(text)
	switch {
	case err != nil:
		return nil, err
	case len(roots) == 0 || len(roots) == 1 && roots[0].Tag == "!!null":
		d.mistakes = append(d.mistakes, Mistake{File: d.layer, Line: 1, Column: 1, Problem: "it is empty",
			Remedy: "a scenario has at least one key, as in load: {rate: 10k/s}; show quick prints a whole one"})
		return nil, nil
	case len(roots) > 1:
		d.mistake(roots[1], "", "a second document begins here", "a file holds one scenario")
		return nil, nil
	}
	return roots[0], nil
}

func parseYAML(text []byte) (roots []*yaml.Node, err error) {
	loader, err := yaml.NewLoader(bytes.NewReader(text))
	for err == nil && len(roots) < 2 {
		var document yaml.Node
		if err = loader.Load(&document); err == nil && len(document.Content) > 0 {
			roots = append(roots, document.Content[0])
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return roots, err
}

// syntaxRemedies are by the YAML library's message.
var syntaxRemedies = []struct{ problem, remedy string }{
	{"mapping values are not allowed", `check the indentation, and put a text with ": " in it into quotes`},
	{"cannot start any token", "indent with spaces, not tabs, and put a text that begins with @, % or a backtick into quotes"},
	{"unknown anchor", "an anchor (&name) stands before the alias (*name) that uses it"},
}

func syntax(err error, text string) (at place, problem, remedy string) {
	var load *yaml.LoadError
	if !errors.As(err, &load) {
		return place{line: 1, column: 1}, err.Error(), ""
	}
	problem = load.Message
	if load.ContextMsg != "" {
		problem = load.ContextMsg + ": " + problem
	}
	for _, r := range syntaxRemedies {
		if strings.Contains(problem, r.problem) {
			remedy = r.remedy
		}
	}
	at = place{line: load.Mark.Line, column: load.Mark.Column}
	if strings.HasSuffix(before(text, at), "$") {
		remedy = `within { } and [ ] a variable stands in quotes: "${NAME}"`
	}
	return at, problem, remedy
}

func before(text string, at place) string {
	for range at.line - 1 {
		_, text, _ = strings.Cut(text, "\n")
	}
	line, _, _ := strings.Cut(text, "\n")
	letters := []rune(line)
	return string(letters[:min(max(at.column-1, 0), len(letters))])
}

// The YAML library reports no place for a forbidden character.
func unreadable(text []byte) (line, column int, what string) {
	line, column = 1, 1
	for i := 0; i < len(text); {
		r, width := utf8.DecodeRune(text[i:])
		switch {
		case r == utf8.RuneError && width == 1:
			return line, column, fmt.Sprintf("the byte 0x%02x is not UTF-8", text[i])
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r >= 0x7f && r < 0xa0 && r != 0x85:
			return line, column, fmt.Sprintf("the control character %U is not text", r)
		}
		if i, column = i+width, column+1; r == '\n' {
			line, column = line+1, 1
		}
	}
	return 0, 0, ""
}

// writtenZeros reports derived values that are set to 0, which Resolve takes for open.
func (d *decoder) writtenZeros(s *Scenario) {
	for _, v := range derived {
		if at, written := d.places[v.path]; written && !d.failed[v.path] && v.open(s) {
			d.failed[v.path] = true
			d.mistakes = append(d.mistakes, Mistake{at.file, at.line, at.column, v.path, "it must be above 0",
				"leave it out for its default: " + v.follow})
		}
	}
}

func (d *decoder) validation(findings []finding) {
	for _, f := range findings {
		if d.follows(f) {
			continue
		}
		at := d.nearestPlace(f.Path)
		f.File, f.Line, f.Column = at.file, at.line, at.column
		if d.cell.explain(&f) {
			d.mistakes = append(d.mistakes, f.Mistake)
		}
	}
}

// follows reports whether f may be a consequence of an unreadable value or an unknown key.
func (d *decoder) follows(f finding) bool {
	for _, path := range append(f.from, f.Path) {
		for failed := range d.failed {
			if within(failed, path) || within(path, failed) {
				return true
			}
		}
		if _, written := d.places[path]; !written && d.incomplete[parent(path)] {
			return true
		}
	}
	return false
}

func (d *decoder) nearestPlace(path string) place {
	for path != "" {
		if at, ok := d.places[path]; ok {
			return at
		}
		path = parent(path)
	}
	return place{d.layers[0], 1, 1} // such as a name derived from the file's
}
