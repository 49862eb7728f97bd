package scenario

import (
	"encoding"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"kafkabench.example/kafka-bench/internal/plan/native"
	"kafkabench.example/kafka-bench/internal/plan/spelling"
	"kafkabench.example/kafka-bench/internal/plan/unit"
)

// maxNodes guards against alias bombs; a scenario has about two hundred values.
const maxNodes = 20_000

// decoder reads YAML trees into a document by its Go types, one layer over another. It collects all
// mistakes, and each value's place for the mistakes of Validate.
type decoder struct {
	layer  string
	layers []string
	env    environment
	// drivers are the known drivers; nil allows any.
	drivers []string
	// diskFault checks a folder of cluster.disks; nil skips the check.
	diskFault func(dir string) (problem, remedy string)
	// files are the files of records that were read; nil reads none.
	files    fileReader
	nodes    int
	mistakes Mistakes
	places   map[string]place
	// failed has the paths that could not be read; incomplete the mappings with an unknown key.
	failed     map[string]bool
	incomplete map[string]bool
	overrides  []override   // apply after all layers
	cell       *cellReading // nil outside of a suite's cell
	// alias is the outermost alias that is being read; mistakes have its place.
	alias *yaml.Node
}

type place struct {
	file         string
	line, column int
}

func newDecoder(o Options) *decoder {
	return &decoder{
		env: newEnvironment(o), drivers: o.Drivers, diskFault: o.DiskFault, places: map[string]place{},
		failed: map[string]bool{}, incomplete: map[string]bool{},
	}
}

func (d *decoder) begin(layer string) {
	d.layer = layer
	d.layers = append(d.layers, layer)
}

func (d *decoder) place(n *yaml.Node) place {
	if d.alias != nil {
		n = d.alias
	}
	return place{d.layer, n.Line, n.Column}
}

// use sets alias until end is called.
func (d *decoder) use(n *yaml.Node) (end func()) {
	if n.Kind != yaml.AliasNode || d.alias != nil {
		return func() {}
	}
	d.alias = n
	return func() { d.alias = nil }
}

func (d *decoder) mistake(n *yaml.Node, path, problem, remedy string) {
	d.mistakeAt(d.place(n), path, problem, remedy)
}

func (d *decoder) mistakeAt(at place, path, problem, remedy string) {
	d.failed[path] = true
	d.mistakes = append(d.mistakes, Mistake{at.file, at.line, at.column, path, problem, remedy})
}

// value merges a mapping into v key by key, and replaces other values.
func (d *decoder) value(n *yaml.Node, v reflect.Value, path string) {
	defer d.use(n)()
	n, ok := d.open(n, path)
	if !ok {
		return
	}
	if reopens(n) {
		d.reopen(n, v, path)
		return
	}
	d.found(n, path)
	if d.special(n, v.Addr().Interface(), path) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		d.mapping(n, v, path)
		d.timed(n, v, path)
	case reflect.Map:
		d.config(n, v, path)
	case reflect.Slice:
		d.list(n, v, path)
	default:
		d.scalar(n, v, path)
	}
}

func (d *decoder) special(n *yaml.Node, pointer any, path string) bool {
	switch of := pointer.(type) {
	case *matrix:
		d.matrix(n, of, path)
		return true
	case *variants:
		d.variants(n, of, path)
		return true
	case *quick:
		d.quick(n, of, path)
		return true
	}
	if short, ok := pointer.(shortForm); ok && n.Kind == yaml.ScalarNode {
		d.understand(n, path, func(text string) error { return short.setShort(canonicalWord(path, text)) })
		return true
	}
	switch of := pointer.(type) {
	case *Size:
		d.size(n, of, path)
		return true
	case encoding.TextUnmarshaler:
		d.text(n, of, path)
		return true
	}
	return false
}

func (d *decoder) open(n *yaml.Node, path string) (*yaml.Node, bool) {
	if !d.count(n, path) {
		return n, false
	}
	defer d.use(n)()
	n = target(n)
	if written, ok := d.env.written[n]; ok {
		d.env.from[d.place(n)] = replacement{written, n.Value}
	}
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		d.mistake(n, path, fmt.Sprintf("the tag %s has no meaning here", n.Tag), "leave the tag out")
	case d.env.unset[n]: // already a mistake
	case n.Kind == yaml.ScalarNode && n.Tag == "!!null" && !reopens(n):
		d.mistake(n, path, "it has no value", "give it one, or leave the key out")
	default:
		return n, true
	}
	return n, false
}

func (d *decoder) count(n *yaml.Node, path string) bool {
	if d.nodes++; d.nodes == maxNodes {
		d.mistake(n, path, fmt.Sprintf("the document holds more than %d values", maxNodes),
			"a scenario is small; see whether an alias repeats a large list")
	}
	return d.nodes < maxNodes
}

func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// A mapping keeps the place of its key.
func (d *decoder) found(n *yaml.Node, path string) {
	if _, known := d.places[path]; known && n.Kind == yaml.MappingNode {
		return
	}
	d.forgetAll(path)
	d.remember(n, path)
}

func (d *decoder) remember(n *yaml.Node, path string) {
	d.places[path] = d.place(n)
	if n.Kind != yaml.MappingNode {
		d.cell.sets(path, d.places[path])
	}
}

func (d *decoder) forget(path string) {
	if at, known := d.places[path]; known {
		d.cell.replaces(path, at)
		delete(d.places, path)
	}
}

// forgetAll forgets path and its parts.
func (d *decoder) forgetAll(path string) {
	if _, known := d.places[path]; !known {
		return
	}
	for inner := range d.places {
		if within(path, inner) {
			d.forget(inner)
		}
	}
}

// null resets a value to its default.
func reopens(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value != ""
}

func (d *decoder) reopen(n *yaml.Node, v reflect.Value, path string) {
	if strings.HasSuffix(path, "]") {
		d.mistake(n, path, "null is nothing that a list can hold", "leave it out")
		return
	}
	d.forgetAll(path)
	d.cell.sets(path, d.place(n))
	v.Set(untold(v.Type(), path))
}

func untold(t reflect.Type, path string) reflect.Value {
	at := reflect.ValueOf(document{Scenario: blank(), Order: Interleaved})
	for key := range strings.SplitSeq(path, ".") {
		i := slices.IndexFunc(fieldsOf(at.Type()), func(f field) bool { return f.key == key })
		if i < 0 {
			return reflect.Zero(t)
		}
		at = at.FieldByIndex(fieldsOf(at.Type())[i].index)
	}
	return at
}

func (d *decoder) mapping(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		remedy := mappingRemedy(v)
		if ours := synonym(path); ours != "" {
			remedy = "here that is " + ours + "; " + remedy
		}
		d.mistake(n, path, "it is "+kind(n)+", not a mapping", remedy)
		return
	}
	fields := make(map[string]field)
	for _, f := range fieldsOf(v.Type()) {
		fields[f.key] = f
	}
	d.eachKey(n, path, func(key, value *yaml.Node) {
		f, ok := fields[key.Value]
		if !ok {
			d.unknownKey(key, v.Type(), path)
			return
		}
		at := join(path, f.key)
		if _, known := d.places[at]; !known && target(value).Kind == yaml.MappingNode {
			d.places[at] = d.place(key)
		}
		d.value(value, v.FieldByIndex(f.index), at)
	})
}

// A fault must name its time: a missing one would mean zero, which is valid.
func (d *decoder) timed(n *yaml.Node, v reflect.Value, path string) {
	if v.Type() != reflect.TypeFor[ScheduledFault]() || n.Kind != yaml.MappingNode {
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		if target(n.Content[i]).Value == "at" {
			return
		}
	}
	d.mistake(n, join(path, "at"), "the fault has no time",
		"give a time after the start of the measured window, as in {at: 10s, kill: consumer 0}")
}

func (d *decoder) eachKey(n *yaml.Node, path string, read func(key, value *yaml.Node)) {
	first := make(map[string]int)
	for i := 0; i+1 < len(n.Content) && d.count(n, path); i += 2 {
		key, value := target(n.Content[i]), n.Content[i+1]
		at := join(path, key.Value)
		switch earlier, twice := first[key.Value]; {
		case key.Kind != yaml.ScalarNode:
			d.mistake(key, path, "a key is "+kind(key)+", not a word", "write key: value")
			continue
		case key.Tag == "!!merge":
			d.mistake(key, at, "merge keys are not supported",
				"write the values out, or use an alias for one whole value")
			continue
		case twice:
			d.mistake(key, at, "it is given twice"+d.atLine(earlier), "keep one of them")
			continue
		}
		first[key.Value] = key.Line
		read(key, value)
	}
}

// An override has no lines.
func (d *decoder) atLine(first int) string {
	if isOverride(d.layer) {
		return ""
	}
	return fmt.Sprintf(", first at line %d", first)
}

func (d *decoder) unknownKey(key *yaml.Node, t reflect.Type, path string) {
	d.incomplete[path] = true
	if len(d.mistakes) > maxMistakes {
		d.mistake(key, join(path, key.Value), "unknown key", "") // beyond what is shown
		return
	}
	keys := keysOf(t)
	where := "a scenario"
	if path != "" {
		where = path
	}
	remedy := strings.TrimRight(meantBy(key.Value, keys), "; ")
	if remedy == "" {
		remedy = fmt.Sprintf("the keys of %s are %s", where, strings.Join(keys, ", "))
	}
	d.mistake(key, join(path, key.Value), "unknown key", remedy)
}

// meantBy guesses the key that was meant; "" without a guess.
func meantBy(key string, keys []string) string {
	if same := slices.IndexFunc(keys, func(k string) bool { return spelling.Same(key, k) }); same >= 0 {
		return fmt.Sprintf("did you mean %s? ", keys[same])
	}
	if ours := synonym(key); ours != "" {
		return fmt.Sprintf("here that is %s; ", strings.ReplaceAll(ours, firstItem, ""))
	}
	if paths := elsewhere(key); len(paths) > 0 {
		return fmt.Sprintf("it belongs at %s; ", strings.Join(paths, " or "))
	}
	if near := spelling.Nearest(key, keys); near != "" {
		return fmt.Sprintf("did you mean %s? ", near)
	}
	return ""
}

func (d *decoder) config(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.MappingNode {
		d.mistake(n, path, "it is "+kind(n)+", not a mapping",
			"write it as {name: value}, with Kafka's names for its settings")
		return
	}
	settings := make(map[string]string)
	if before, ok := v.Interface().(map[string]string); ok {
		maps.Copy(settings, before)
	}
	d.eachKey(n, path, func(key, value *yaml.Node) {
		defer d.use(value)()
		at := join(path, key.Value)
		value, ok := d.open(value, at)
		if !ok {
			return
		}
		switch {
		case value.Kind != yaml.ScalarNode:
			d.mistake(value, at, "it is "+kind(value)+", not a single value", "write it as Kafka's own files do")
		case reopens(value):
			d.forget(at)
			delete(settings, key.Value)
		case !native.NumberOrTruth(value.Value) && d.keepsOut(value, at):
		default: // does not call found, because a.b is not a part of the setting a
			d.forget(at)
			d.remember(value, at)
			settings[key.Value] = value.Value
		}
	})
	if len(settings) == 0 {
		settings = nil
	}
	v.Set(reflect.ValueOf(settings))
}

func (d *decoder) list(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.SequenceNode {
		d.mistake(n, path, "it is "+kind(n)+", not a list", "write it as [first, second]")
		return
	}
	list := reflect.MakeSlice(v.Type(), 0, min(len(n.Content), maxNodes))
	for i, child := range n.Content {
		element := reflect.New(v.Type().Elem()).Elem()
		d.value(child, element, fmt.Sprintf("%s[%d]", path, i))
		list = reflect.Append(list, element)
		if d.nodes >= maxNodes {
			return
		}
	}
	if list.Len() == 0 {
		list = reflect.Zero(v.Type())
	}
	v.Set(list)
}

func (d *decoder) size(n *yaml.Node, size *Size, path string) {
	remedy := "write one size, or exactly one of uniform, normal and list, as in: size: {uniform: [64B, 1KiB]}"
	if n.Kind != yaml.MappingNode {
		d.mistake(n, path, "it is "+kind(n)+", not a size", remedy)
		return
	}
	if len(n.Content) != 2 {
		d.mistake(n, path, fmt.Sprintf("it has %d keys", len(n.Content)/2), remedy)
		return
	}
	var long sizeMapping
	d.mapping(n, reflect.ValueOf(&long).Elem(), path)
	*size = long.size(target(n.Content[0]).Value)
}

func (d *decoder) text(n *yaml.Node, to encoding.TextUnmarshaler, path string) {
	if n.Kind != yaml.ScalarNode {
		d.mistake(n, path, "it is "+kind(n)+", not a single value", d.vary(n, path))
		return
	}
	d.understand(n, path, func(text string) error { return to.UnmarshalText([]byte(text)) })
}

// understand reports what parse does not understand. The message for a variable's value is about the text with its name,
// because the value may be a secret.
func (d *decoder) understand(n *yaml.Node, path string, parse func(text string) error) bool {
	err := parse(n.Value)
	if err == nil {
		return true
	}
	if asWritten := parse(d.env.asWritten(n)); asWritten != nil {
		err = asWritten
	}
	d.textMistake(n, path, err)
	return false
}

// err has the form "problem; remedy", like the errors of package unit.
func (d *decoder) textMistake(n *yaml.Node, path string, err error) {
	problem, remedy, _ := strings.Cut(err.Error(), "; ")
	d.mistake(n, path, problem, remedy)
}

// A text may be an unquoted number (acks: 1), and a number may have quotes.
func (d *decoder) scalar(n *yaml.Node, v reflect.Value, path string) {
	if n.Kind != yaml.ScalarNode {
		d.mistake(n, path, "it is "+kind(n)+", not a single value", d.vary(n, path))
		return
	}
	problem, remedy := "", ""
	switch v.Kind() {
	case reflect.String:
		if freeText(path) && d.keepsOut(n, path) {
			return
		}
		v.SetString(canonicalWord(path, n.Value))
	case reflect.Bool:
		truth, known := truths[strings.ToLower(n.Value)]
		if !known {
			problem, remedy = "a truth value", "write true or false"
		}
		v.SetBool(truth)
	case reflect.Int, reflect.Int64:
		var whole int64
		if !d.understand(n, path, func(text string) (err error) {
			whole, err = unit.ParseCount(text)
			return err
		}) {
			return
		}
		if v.OverflowInt(whole) {
			problem, remedy = "a whole number of this size", "write a smaller one"
		}
		v.SetInt(whole)
	case reflect.Uint64:
		whole, err := strconv.ParseUint(n.Value, 10, 64)
		if err != nil {
			problem, remedy = "a whole number", "write a whole number from 0 to 18446744073709551615"
		}
		v.SetUint(whole)
	case reflect.Float64:
		number, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || math.IsNaN(number) || math.IsInf(number, 0) {
			problem, remedy = "a number", "write a number, as in 1.1"
		}
		v.SetFloat(number)
	}
	if problem != "" {
		d.mistake(n, path, fmt.Sprintf("%q is not %s", d.env.asWritten(n), problem), remedy)
	}
}

// truths are those of YAML 1.1 too.
var truths = map[string]bool{"true": true, "yes": true, "on": true, "false": false, "no": false, "off": false}

func (d *decoder) vary(n *yaml.Node, path string) string {
	switch {
	case n.Kind != yaml.SequenceNode || strings.Contains(path, "["):
		return ""
	case isOverride(d.layer):
		return "to run with each of them write " + overridePrefix + "matrix." + path + "=" + d.listForMatrix(n)
	default:
		return "to run with each of them write matrix: {" + path + ": " + d.listForMatrix(n) + "}"
	}
}

// listForMatrix shows no variable's value.
func (d *decoder) listForMatrix(n *yaml.Node) string {
	if len(d.env.written) > 0 {
		return "[first, second]"
	}
	return flowText(n)
}

func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	if native.Access(n.Value) { // may be a password
		return "a single value"
	}
	return fmt.Sprintf("the single value %q", n.Value)
}

func mappingRemedy(v reflect.Value) string {
	keys := "write its keys: " + strings.Join(keysOf(v.Type()), ", ")
	if short, ok := v.Addr().Interface().(shortForm); ok {
		return keys + "; or " + short.short()
	}
	return keys
}
